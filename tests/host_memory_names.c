#define _GNU_SOURCE
#include "config.h"

#include "tests/host_memory_scenarios.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/failing_malloc.h"

/* ---- books and options ---- */

void use_books(void)
{
  char *text = NULL;
  size_t size;
  did(tn_memory_record_history_with(
      here, 100, (tn_memory_history_options){ .skip = "snapshot" }));
  did(tn_memory_set_metadata("host_memory"));
  void *memory = NULL;
  tn_with_memory_tag("books") memory = memory_of(here, 5000);
  FILE *file = open_memstream(&text, &size);
  did(tn_memory_snapshot(here, file));
  did(tn_memory_snapshot_pickle(here, file));
  did(tn_memory_summary(here, file));
  fclose(file);
  __real_free(text);
  give_back(memory);
  calm_down();
  tn_memory_set_metadata(NULL);
  tn_memory_record_history(here, 0);
}

void use_options(void)
{
  void *memory;
  did(tn_set_alloc_conf("roundup_power2_divisions:[64:8,256:4,>:1],"
                        "max_split_size_mb:40,"
                        "garbage_collection_threshold:0.8"));
  memory = memory_of(here, 70 << 20);
  give_back(memory);
  if (tn_set_alloc_conf("no_such_key:1") == TN_OK) wrong("a key is made up");
  note(tn_last_status() == TN_INVALID_ARGUMENT);
  calm_down();
  tn_set_alloc_conf("");
}

/* ---- names ---- */

static void see(const tn_backend_candidate *candidate, void *count)
{
  (void)candidate;
  add_one(count);
}

static void see_layer(const tn_layer_info *layer, void *count)
{
  (void)layer;
  add_one(count);
}

void use_names(void)
{
  int count = 0;
  const char *names[16];
  char path[500];
  tn_device_info info;
  tn_device best = tn_device_of("auto"), parsed;
  note(best.backend > 0);
  did(tn_device_parse("cpu:1", &parsed));
  if (tn_device_parse("nosuch:1", &parsed) == TN_OK) wrong("a name is made up");
  note(tn_last_status() != TN_OK);
  note(tn_backend_list(names, 16) > 0);
  note(tn_device_count("cpu") == 2);
  did(tn_device_get_info(here, &info));
  did(tn_backend_visit(see, &count));
  did(tn_layer_visit(see_layer, &count));
  did(tn_kernel_cache_folder(path, sizeof path));
  if (did(tn_set_default_device(there))) did(tn_set_default_device(here));
}


/* ---- devices ---- */

void use_devices(void)
{
  char name[TN_DEVICE_TEXT_SIZE], *end;
  void *native;
  tn_device_format(here, name, sizeof name);
  if ((end = strchr(name, ':'))) *end = 0;
  tn_is_available(name); /* sets no error */
  tn_with_device(there)
    note(tn_device_equal(tn_current_device(name), there));
  if (did(tn_set_device(there))) did(tn_set_device(here));
  note(tn_default_device().backend > 0);
  may(tn_device_native(here, &native));
  may(tn_device_native_context(here, &native));
  if (tn_peer_access_enabled(here, there)) wrong("peers are not asked first");
  if (tn_device_reset(here) == TN_OK) wrong("a device was lost");
  note(tn_last_status() == TN_INVALID_ARGUMENT ||
       tn_last_status() == TN_UNSUPPORTED);
  if (tn_backend_probe("/no/such/tenon-plugin.so") == TN_OK)
    wrong("a plugin is made up");
  note(tn_last_status() != TN_OK);
  bool is_reproducible = tn_is_reproducible();
  tn_set_reproducible(!is_reproducible);
  tn_set_reproducible(is_reproducible);
}
