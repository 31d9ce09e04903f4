/* tenon conform: the conformance suite, on any device. */
#include "config.h"

#include "tools/conform.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/tenon.h>

#include "tools/command.h"

enum { PLUGIN, ALL, FILTER, SEED, TIME_LIMIT, KNOWN, JSON, TABLE, REPORT };

/* ---- what is chosen ---- */

/* Whether one of "S1,S5-life,M" is the test's rule, id or letter. */
static bool is_chosen(const conform_test *test, const char *filter)
{
  char id[64];
  conform_id(test, id, sizeof id);
  if (!filter) return true;
  for (const char *at = filter; *at; at += *at == ',') {
    size_t length = strcspn(at, ",");
    if ((strlen(id) == length && strncmp(at, id, length) == 0) ||
        (strlen(test->rule) == length &&
         strncmp(at, test->rule, length) == 0) ||
        (length == 1 && *at == *test->rule))
      return true;
    at += length;
  }
  return false;
}

static size_t count_chosen(const char *filter)
{
  const conform_test *test;
  size_t count = 0;
  for (size_t i = 0; (test = conform_test_at(i)); i++)
    count += is_chosen(test, filter);
  return count;
}

static bool choose(const tn_conform *run, tn_conform_device *device)
{
  const conform_test *test;
  device->results = calloc(count_chosen(run->filter),
                           sizeof *device->results);
  if (!device->results) return false;
  for (size_t i = 0; (test = conform_test_at(i)); i++) {
    if (!is_chosen(test, run->filter)) continue;
    tn_conform_result *r = &device->results[device->count++];
    r->test = test;
    conform_id(test, r->id, sizeof r->id);
  }
  return true;
}

/* ---- the plugin's file ---- */

/* "/x/tenon-NAME.so" goes before all other places, and NAME:0 is tested. */
static bool use_plugin(const char *path, char *device, size_t size)
{
  char whole[PATH_MAX];
  if (!realpath(path, whole)) {
    tn_complain("conform: %s: %s", path, strerror(errno));
    return false;
  }
  const char *name = strrchr(path, '/');
  name = name ? name + 1 : path;
  size_t length = strlen(name);
  if (strncmp(name, "tenon-", 6) != 0 || length < 10 ||
      strcmp(name + length - 3, ".so") != 0) {
    tn_complain("conform: \"%s\": a plugin is called tenon-NAME.so", path);
    return false;
  }
  snprintf(device, size, "%.*s:0", (int)(length - 9), name + 6);
  const char *rest = getenv("TENON_BACKEND_PATH");
  size_t room = strlen(whole) + (rest ? strlen(rest) : 0) + 2;
  char *list = malloc(room);
  if (!list) return false;
  snprintf(list, room, "%s%s%s", whole, rest ? ":" : "", rest ? rest : "");
  setenv("TENON_BACKEND_PATH", list, 1);
  free(list);
  return true;
}

typedef struct search {
  const char *name; /* of a backend */
  char path[PATH_MAX];
} search;

static void look_at(const tn_backend_candidate *candidate, void *argument)
{
  search *s = argument;
  if (!s->path[0] && candidate->path && !candidate->reason[0] &&
      !candidate->is_shadowed && strcmp(candidate->name, s->name) == 0)
    snprintf(s->path, sizeof s->path, "%s", candidate->path);
}

/* The list that a plugin carries: tenon-NAME.known beside tenon-NAME.so. */
static bool read_known(const char *device, const char *file, tn_known **list)
{
  char name[40];
  search s = { .name = name };
  if (file) return tn_known_read(file, true, list);
  snprintf(name, sizeof name, "%s", device);
  name[strcspn(name, ":")] = 0;
  tn_backend_visit(look_at, &s);
  size_t length = strlen(s.path);
  if (length < 3 || length + 4 > sizeof s.path) return true;
  snprintf(s.path + length - 3, sizeof s.path - length + 3, ".known");
  return tn_known_read(s.path, false, list);
}

/* ---- running ---- */

static void show_progress(const tn_conform_device *device, size_t i)
{
  if (!isatty(STDERR_FILENO)) return;
  if (i < device->count)
    fprintf(stderr, "\r\033[K%s: %zu of %zu: %s", device->text, i + 1,
            device->count, device->results[i].id);
  else
    fputs("\r\033[K", stderr);
  fflush(stderr);
}

static void clear_progress(void)
{
  if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

static void apply_known(const tn_known *list, tn_conform_result *result)
{
  const tn_known *known = tn_known_find(list, result->id);
  if (!known || result->outcome == TN_OUTCOME_ABSENT) return;
  result->reason = known->reason;
  result->outcome = result->outcome == TN_OUTCOME_FAIL ? TN_OUTCOME_KNOWN
                                                       : TN_OUTCOME_STALE;
}

/* A known failure is one: the level is what the device keeps. What is absent
 * beyond the tables is optional, and told beside the level. */
static bool is_kept(const tn_conform_device *d, conform_level level)
{
  for (size_t i = 0; i < d->count; i++) {
    const tn_conform_result *r = &d->results[i];
    if (r->test->level == level && (r->outcome == TN_OUTCOME_FAIL ||
                                    r->outcome == TN_OUTCOME_KNOWN))
      return false;
  }
  return true;
}

static conform_level find_level(const tn_conform_device *d)
{
  const bool has[] = { true, true, d->has_launch, d->has_stream, true, true };
  conform_level level = CONFORM_NONE;
  while (level < CONFORM_FULL && has[level + 1] && is_kept(d, level + 1))
    level++;
  return level;
}

static void run_device(tn_conform *run, tn_conform_device *device,
                       const tn_known *known)
{
  for (size_t i = 0; i < device->count; i++) {
    show_progress(device, i);
    tn_conform_try(run, device->text, &device->results[i]);
    apply_known(known, &device->results[i]);
    clear_progress();
    tn_conform_print(run, device, &device->results[i]);
  }
  device->level = find_level(device);
}

/* Entries of the list that name no test. */
static size_t count_unknown(const tn_known *known)
{
  size_t count = 0;
  for (; known; known = known->next) count += !conform_find(known->id);
  return count;
}

static void run_all(tn_conform *run, const tn_known *known)
{
  size_t unknown = run->filter ? 0 : count_unknown(known);
  printf("TAP version 13\n1..%zu\n",
         run->device_count * run->devices[0].count + unknown);
  printf("# seed %lu\n", (unsigned long)run->seed);
  for (size_t i = 0; i < run->device_count; i++)
    run_device(run, &run->devices[i], known);
  for (const tn_known *k = known; k && unknown; k = k->next)
    if (!conform_find(k->id)) tn_conform_print_unknown(run, k);
}

/* The device asked for, and with --all its siblings. */
static bool find_devices(tn_conform *run, const char *text, bool all)
{
  char why[1024], backend[40];
  tn_conform_device first = { 0 };
  snprintf(first.text, sizeof first.text, "%s%s", text,
           strchr(text, ':') ? "" : ":0");
  if (!tn_conform_ask(run, &first, why, sizeof why)) {
    tn_complain("conform: %s: %s", first.text, why);
    return false;
  }
  run->device_count = all ? (size_t)first.device_count : 1;
  run->devices = calloc(run->device_count, sizeof *run->devices);
  if (!run->devices) return false;
  snprintf(backend, sizeof backend, "%s", text);
  backend[strcspn(backend, ":")] = 0;
  for (size_t i = 0; i < run->device_count; i++) {
    tn_conform_device *d = &run->devices[i];
    *d = first;
    if (all)
      snprintf(d->text, sizeof d->text, "%.30s:%d", backend, (int)(i % 512));
    if (!tn_conform_ask(run, d, why, sizeof why)) {
      tn_complain("conform: %s: %s", d->text, why);
      return false;
    }
    if (!choose(run, d)) return false;
  }
  return true;
}

/* Before the suite, which takes its time. NULL in *file: not wanted. */
static bool open_json(const char *path, FILE **file)
{
  *file = path ? fopen(path, "we") : NULL;
  if (!path || *file) return true;
  tn_complain("conform: --json \"%s\": %s", path, strerror(errno));
  return false;
}

static bool write_json(const tn_conform *run, const char *path, FILE *file)
{
  errno = 0;
  tn_conform_write_json(run, file);
  bool is_written = !ferror(file);
  if (fclose(file) == 0 && is_written) return true;
  tn_complain("conform: --json \"%s\": %s", path,
              errno ? strerror(errno) : "cannot be written");
  return false;
}

static bool read_number(const char *text, const char *name, uint32_t *out)
{
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  if (end != text && !*end && !errno && value <= UINT32_MAX &&
      text[0] != '-') {
    *out = (uint32_t)value;
    return true;
  }
  tn_complain("conform: %s \"%s\": not a number from 0 to 4294967295", name,
              text);
  return false;
}

/* False after a complaint. */
static bool read_settings(const char *const *values, tn_conform *run)
{
  *run = (tn_conform){ .filter = values[FILTER], .seed = 1, .seconds = 60 };
  if (values[SEED] && !read_number(values[SEED], "--seed", &run->seed))
    return false;
  if (values[TIME_LIMIT])
    run->seconds = tn_time_limit("conform: --time-limit", values[TIME_LIMIT]);
  if (run->seconds == 0) return false;
  if (count_chosen(run->filter) > 0 || values[REPORT]) return true;
  tn_complain("conform: --filter \"%s\": no test has such a rule, id or "
              "letter", run->filter);
  return false;
}

static tn_exit conform(const char *const *values, const char *device,
                       tn_conform *run)
{
  tn_known *known = NULL;
  FILE *json;
  if (!read_known(device, values[KNOWN], &known)) return TN_EXIT_USAGE;
  if (!find_devices(run, device, values[ALL] != NULL) ||
      !open_json(values[JSON], &json))
    return TN_EXIT_FOUND;
  run_all(run, known);
  bool is_written = !json || write_json(run, values[JSON], json);
  for (size_t i = 0; i < run->device_count && values[TABLE]; i++)
    tn_conform_print_table(&run->devices[i]);
  tn_conform_print_absent(run);
  tn_conform_print_level(run);
  return run->has_failed || !is_written ? TN_EXIT_FOUND : TN_EXIT_OK;
}

static tn_exit run(const char *const *values)
{
  static tn_conform all; /* kept to the end, with all it holds */
  char device[64];
  const char *operand = values[TN_OPTIONS_MAX];
  if (!values[PLUGIN] == !operand) {
    tn_complain("conform: needs a device, or --plugin FILE, and not both");
    return TN_EXIT_USAGE;
  }
  if (!read_settings(values, &all)) return TN_EXIT_USAGE;
  if (values[REPORT] && operand)
    return conform_run(operand, all.filter, all.seed, atoi(values[REPORT]));
  if (values[PLUGIN]) {
    if (!use_plugin(values[PLUGIN], device, sizeof device))
      return TN_EXIT_USAGE;
    operand = device;
  }
  return conform(values, operand, &all);
}

const tn_command tn_conform_command = {
  .name = "conform",
  .summary = "try a device, or a plugin, by the rules of all devices",
  .text = "Runs the conformance suite on a device, each test in a process of\n"
          "its own, and prints TAP. Tests are named by the rules of\n"
          "docs/semantics.md. The last line is the level reached: minimal,\n"
          "launch, streams, graphs or full.",
  .options = {
    { "--plugin", "FILE", "try this plugin's first device" },
    { "--all", NULL, "all devices of the backend" },
    { "--filter", "LIST", "only these rules, ids or letters: S1,M,P2-pending" },
    { "--seed", "N", "of sizes, orders and delays (1)" },
    { "--time-limit", "SECONDS", "for each test, from 0.1 to 3600 (60)" },
    { "--known", "FILE", "known failures: an id and a reason a line" },
    { "--json", "FILE", "write results there; see tenon-conform(1)" },
    { "--table", NULL, "print which rules were tried on what" },
    { "--report", "NUMBER", NULL },
  },
  .operand = "DEVICE",
  .is_operand_optional = true,
  .run = run,
};
