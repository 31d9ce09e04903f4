#include "config.h"

#include "core/device/table_check.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"

/* An entry that must be there ('!'), or whose group must be there as a whole
 * or not at all (a letter). Entries that may be missing are not listed. */
typedef struct entry_rule {
  const char *name;
  size_t offset;
  char need;
} entry_rule;

#define RULE(table, entry, need) \
  { #table "." #entry, offsetof(tn_backend_##table##_table, entry), need }

static const entry_rule device_rules[] = {
  RULE(device, count, '!'), RULE(device, info, '!'),
  RULE(device, open, '!'), RULE(device, close, '!'),
};
static const entry_rule alloc_rules[] = {
  RULE(alloc, alloc, '!'),           RULE(alloc, free, '!'),
  RULE(alloc, host_register, 'r'),   RULE(alloc, host_unregister, 'r'),
  RULE(alloc, granularity, 'g'),     RULE(alloc, reserve, 'g'),
  RULE(alloc, release, 'g'),         RULE(alloc, map, 'g'),
  RULE(alloc, unmap, 'g'),           RULE(alloc, set_access, 'g'),
};
static const entry_rule copy_rules[] = {
  RULE(copy, copy, '!'),
  RULE(copy, peer_enable, 'p'),
  RULE(copy, peer_disable, 'p'),
};
static const entry_rule launch_rules[] = {
  RULE(launch, module_load, '!'), RULE(launch, module_unload, '!'),
  RULE(launch, kernel_get, '!'),  RULE(launch, kernel_info, '!'),
  RULE(launch, launch, '!'),
};
static const entry_rule stream_rules[] = {
  RULE(stream, create, '!'),    RULE(stream, destroy, '!'),
  RULE(stream, record, '!'),    RULE(stream, wait, '!'),
  RULE(stream, query, '!'),     RULE(stream, host_wait, '!'),
  RULE(stream, take_error, '!'), RULE(stream, point_release, '!'),
};
static const entry_rule graph_rules[] = {
  RULE(graph, capture_begin, '!'), RULE(graph, capture_node, '!'),
  RULE(graph, capture_end, '!'),   RULE(graph, launch, '!'),
  RULE(graph, destroy, '!'),
};
static const entry_rule math_rules[] = { RULE(math, routine, '!') };

/* A table: where the api points to it, where the core copies it to. */
typedef struct table_rule {
  const char *name;
  const entry_rule *entries;
  size_t entry_count;
  size_t in_api, in_backend, size;
  bool is_mandatory;
} table_rule;

#define TABLE(table, must) \
  { #table, table##_rules, sizeof table##_rules / sizeof table##_rules[0], \
    offsetof(tn_backend_api, table), offsetof(tn_backend, table), \
    sizeof(tn_backend_##table##_table), must }

static const table_rule tables[] = {
  TABLE(device, true),  TABLE(alloc, true),   TABLE(copy, true),
  TABLE(launch, false), TABLE(stream, false), TABLE(graph, false),
  TABLE(math, false),
};

enum {
  TABLE_COUNT = sizeof tables / sizeof tables[0],
  TABLE_SIZE_MAX = 64 << 10 /* no table comes near: a larger size is junk */
};

typedef struct name_list {
  char text[TN_BACKEND_TEXT_SIZE];
  size_t length;
} name_list;

static void list_add(name_list *list, const char *name, const char *suffix)
{
  int size = snprintf(list->text + list->length,
                      sizeof list->text - list->length, "%s%s%s",
                      list->length ? ", " : "", name, suffix);
  if (size > 0) list->length += (size_t)size;
  if (list->length >= sizeof list->text)
    list->length = sizeof list->text - 1;
}

/* The table as the plugin has it, NULL if it has none. */
static const void *table_of(const tn_backend_api *api, const table_rule *rule)
{
  const void *table;
  if (api->struct_size < rule->in_api + sizeof table) return NULL;
  memcpy(&table, (const char *)api + rule->in_api, sizeof table);
  return table;
}

static size_t size_of(const void *table)
{
  size_t size;
  memcpy(&size, table, sizeof size);
  return size;
}

static bool has_entry(const void *table, size_t offset)
{
  void (*entry)(void);
  if (size_of(table) < offset + sizeof entry) return false;
  memcpy(&entry, (const char *)table + offset, sizeof entry);
  return entry != NULL;
}

static bool has_some(const void *table, const table_rule *rule, char group)
{
  for (size_t i = 0; i < rule->entry_count; i++)
    if (rule->entries[i].need == group &&
        has_entry(table, rule->entries[i].offset))
      return true;
  return false;
}

static void check_entries(const void *table, const table_rule *rule,
                          name_list *missing)
{
  for (size_t i = 0; i < rule->entry_count; i++) {
    const entry_rule *entry = &rule->entries[i];
    if (has_entry(table, entry->offset)) continue;
    if (entry->need == '!' || has_some(table, rule, entry->need))
      list_add(missing, entry->name, "");
  }
}

static bool is_size_sane(size_t size)
{
  return size >= sizeof(size_t) && size <= TABLE_SIZE_MAX &&
         size % sizeof(void *) == 0;
}

static tn_status check_table(const tn_backend_api *api,
                             const table_rule *rule, name_list *missing)
{
  const void *table = table_of(api, rule);
  if (!table) {
    if (rule->is_mandatory) list_add(missing, rule->name, " (all of it)");
    return TN_OK;
  }
  if ((uintptr_t)table % sizeof(void *) != 0)
    return tn_error(TN_BAD_PLUGIN, "its %s table is not aligned", rule->name);
  if (!is_size_sane(size_of(table)))
    return tn_error(TN_BAD_PLUGIN, "its %s table has the impossible "
                    "struct_size %zu (this library's own is %zu)",
                    rule->name, size_of(table), rule->size);
  check_entries(table, rule, missing);
  return TN_OK;
}

static void take_table(const tn_backend_api *api, const table_rule *rule,
                       tn_backend *backend)
{
  char *to = (char *)backend + rule->in_backend;
  memset(to, 0, rule->size);
  const void *table = table_of(api, rule);
  if (table) {
    size_t size = size_of(table);
    memcpy(to, table, size < rule->size ? size : rule->size);
  }
  memcpy(to, &rule->size, sizeof rule->size);
}

tn_status tn_tables_take(const tn_backend_api *api, tn_backend *backend)
{
  name_list missing = { "", 0 };
  for (int i = 0; i < TABLE_COUNT; i++) {
    tn_status status = check_table(api, &tables[i], &missing);
    if (status != TN_OK) return status;
  }
  if (missing.length)
    return tn_error(TN_BAD_PLUGIN, "mandatory entries are missing: %s",
                    missing.text);
  for (int i = 0; i < TABLE_COUNT; i++)
    take_table(api, &tables[i], backend);
  backend->has_launch = backend->launch.launch != NULL;
  backend->has_stream = backend->stream.create != NULL;
  backend->has_graph = backend->graph.launch != NULL;
  return TN_OK;
}
