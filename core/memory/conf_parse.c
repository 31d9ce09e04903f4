/* Reading "key:value,key:[size:value,>:value]". */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/memory/allocator.h"
#include "core/memory/conf.h"

#define MIB ((uint64_t)1 << 20)
#define LARGEST_MIB (TN_LARGEST_REQUEST / MIB)
enum { REGISTER_THREADS_MAX = 128 };

/* One key with its value, copied out of the text. */
typedef struct option {
  const char *source;
  char key[48], value[128];
} option;

typedef tn_status (*reader)(const option *one, tn_conf *conf);

static tn_status refuse(const option *one, const char *wanted)
{
  return tn_error(TN_INVALID_ARGUMENT, "%s: %s: \"%s\": must be %s",
                  one->source, one->key, one->value, wanted);
}

static tn_status not_yet(const option *one)
{
  return tn_error(TN_UNSUPPORTED, "%s: %s: \"%s\" is not there yet",
                  one->source, one->key, one->value);
}

static bool read_number(const char *text, uint64_t *out)
{
  char *end;
  errno = 0;
  *out = strtoull(text, &end, 10);
  return text[0] >= '0' && text[0] <= '9' && !*end && errno == 0;
}

static bool read_fraction(const char *text, double *out)
{
  char *end;
  bool begins = (*text >= '0' && *text <= '9') || *text == '.' ||
                *text == '-';
  *out = begins ? strtod(text, &end) : 0;
  return begins && end != text && !*end;
}

static tn_status read_bool(const option *one, bool *out)
{
  *out = strcmp(one->value, "True") == 0;
  if (*out || strcmp(one->value, "False") == 0) return TN_OK;
  return refuse(one, "True or False");
}

static tn_status read_mib(const option *one, uint64_t above, uint64_t *out)
{
  uint64_t number;
  if (!read_number(one->value, &number) || number > LARGEST_MIB ||
      (above && number <= above))
    return refuse(one, above ? "a whole number more than 20"
                             : "a whole number of MiB");
  *out = number * MIB;
  return TN_OK;
}

static tn_status read_max_split(const option *one, tn_conf *conf)
{
  return read_mib(one, TN_LARGE_SEGMENT / MIB, &conf->max_split_size);
}

static tn_status read_rounding(const option *one, tn_conf *conf)
{
  return read_mib(one, TN_LARGE_SEGMENT / MIB, &conf->max_non_split_rounding);
}

static tn_status read_threshold(const option *one, tn_conf *conf)
{
  double value;
  if (!read_fraction(one->value, &value) || !(value > 0 && value < 1))
    return refuse(one, "a number above 0 and below 1");
  conf->garbage_collection_threshold = value;
  return TN_OK;
}

static tn_status read_memory_fraction(const option *one, tn_conf *conf)
{
  double value;
  if (!read_fraction(one->value, &value) || !(value >= 0 && value <= 1))
    return refuse(one, "a number from 0 to 1");
  conf->memory_fraction = value;
  conf->has_memory_fraction = true;
  return TN_OK;
}

static bool is_power(uint64_t number)
{
  return number != 0 && (number & (number - 1)) == 0;
}

static tn_status read_division(const option *one, const char *text,
                               uint32_t *out)
{
  uint64_t number;
  if (!read_number(text, &number) || !is_power(number) || number > UINT32_MAX)
    return refuse(one, "powers of two, as 4 or [256:1,512:2,>:4]");
  *out = (uint32_t)number;
  return TN_OK;
}

static void fill(tn_conf *conf, int from, int to, uint32_t value)
{
  for (int i = from; i < to; i++) conf->divisions[i] = value;
}

/* The place of a size in MiB; sizes beyond the last count as the last. */
static bool read_interval(const char *text, int *index)
{
  uint64_t number;
  if (!read_number(text, &number) || !is_power(number)) return false;
  *index = 63 - __builtin_clzll(number);
  if (*index >= TN_CONF_INTERVALS) *index = TN_CONF_INTERVALS - 1;
  return true;
}

/* The first item's value is that of all smaller sizes; ">" is for all sizes
 * after the last one. */
static tn_status read_item(const option *one, char *item, int *last,
                           tn_conf *conf)
{
  char *colon = strchr(item, ':');
  if (!colon) return refuse(one, "a list as [256:1,512:2,>:4]");
  *colon = 0;
  uint32_t value;
  tn_status status = read_division(one, colon + 1, &value);
  if (status != TN_OK) return status;
  int index;
  if (strcmp(item, ">") == 0) {
    fill(conf, *last + 1, TN_CONF_INTERVALS, value);
    return TN_OK;
  }
  if (!read_interval(item, &index))
    return refuse(one, "sizes in MiB that are powers of two, or >");
  if (*last < 0) fill(conf, 0, index, value);
  conf->divisions[index] = value;
  *last = index;
  return TN_OK;
}

static tn_status read_list(const option *one, tn_conf *conf)
{
  char list[sizeof one->value];
  size_t length = strlen(one->value);
  memcpy(list, one->value + 1, length);
  if (length < 2 || list[length - 2] != ']')
    return refuse(one, "a list that ends with ]");
  list[length - 2] = 0;
  int last = -1;
  char *rest = NULL;
  tn_status status = TN_OK;
  for (char *item = strtok_r(list, ",", &rest); item && status == TN_OK;
       item = strtok_r(NULL, ",", &rest))
    status = read_item(one, item, &last, conf);
  return status;
}

static tn_status read_divisions(const option *one, tn_conf *conf)
{
  uint32_t value = 0;
  fill(conf, 0, TN_CONF_INTERVALS, 0);
  tn_status status = one->value[0] == '['
      ? read_list(one, conf) : read_division(one, one->value, &value);
  if (value) fill(conf, 0, TN_CONF_INTERVALS, value);
  conf->is_rounding = false;
  for (int i = 0; i < TN_CONF_INTERVALS; i++)
    conf->is_rounding |= conf->divisions[i] > 1;
  return status;
}

static tn_status read_register(const option *one, tn_conf *conf)
{
  return read_bool(one, &conf->pinned_is_registered);
}

static tn_status read_threads(const option *one, tn_conf *conf)
{
  uint64_t number;
  if (!read_number(one->value, &number) || !is_power(number) ||
      number > REGISTER_THREADS_MAX)
    return refuse(one, "a power of two, at most 128");
  conf->pinned_register_threads = (uint32_t)number;
  return TN_OK;
}

static tn_status read_max_round(const option *one, tn_conf *conf)
{
  return read_mib(one, 0, &conf->pinned_max_round);
}

static tn_status read_max_cached(const option *one, tn_conf *conf)
{
  return read_mib(one, 0, &conf->pinned_max_cached);
}

static tn_status read_reserve(const option *one, tn_conf *conf)
{
  uint64_t bytes = 0;
  (void)conf;
  tn_status status = read_mib(one, 0, &bytes);
  return status == TN_OK && bytes ? not_yet(one) : status;
}

/* Known, and off until they are built. */
static tn_status read_later(const option *one, tn_conf *conf)
{
  bool is_on = false;
  (void)conf;
  tn_status status = read_bool(one, &is_on);
  return status == TN_OK && is_on ? not_yet(one) : status;
}

/* What it asks for is always so: no lock is held over the plugin's calls. */
static tn_status read_release_lock(const option *one, tn_conf *conf)
{
  bool is_on = false;
  (void)conf;
  return read_bool(one, &is_on);
}

static tn_status read_backend(const option *one, tn_conf *conf)
{
  (void)conf;
  if (strcmp(one->value, "native") == 0) return TN_OK;
  if (strcmp(one->value, "cudaMallocAsync") == 0) return not_yet(one);
  return refuse(one, "native or cudaMallocAsync");
}

static const struct {
  const char *key;
  reader read;
} known[] = {
  { "max_split_size_mb", read_max_split },
  { "max_non_split_rounding_mb", read_rounding },
  { "garbage_collection_threshold", read_threshold },
  { "roundup_power2_divisions", read_divisions },
  { "per_process_memory_fraction", read_memory_fraction },
  { "pinned_max_round_threshold_mb", read_max_round },
  { "pinned_max_cached_size_mb", read_max_cached },
  { "pinned_use_cuda_host_register", read_register },
  { "pinned_use_hip_host_register", read_register },
  { "pinned_num_register_threads", read_threads },
  { "pinned_reserve_segment_size_mb", read_reserve },
  { "pinned_use_background_threads", read_later },
  { "expandable_segments", read_later },
  { "graph_capture_record_stream_reuse", read_later },
  { "throw_on_cudamalloc_oom", read_later },
  { "release_lock_on_cudamalloc", read_release_lock },
  { "release_lock_on_hipmalloc", read_release_lock },
  { "backend", read_backend },
};

enum { KNOWN = sizeof known / sizeof known[0] };

static tn_status refuse_key(const option *one)
{
  char names[600];
  size_t used = 0;
  for (int i = 0; i < KNOWN && used < sizeof names; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                             i ? ", " : "", known[i].key);
  return tn_error(TN_INVALID_ARGUMENT, "%s: unknown key \"%s\" (value "
                  "\"%s\"): keys are %s", one->source, one->key, one->value,
                  names);
}

static tn_status apply(const option *one, tn_conf *conf)
{
  for (int i = 0; i < KNOWN; i++)
    if (strcmp(known[i].key, one->key) == 0) return known[i].read(one, conf);
  return refuse_key(one);
}

/* The end of an option: a comma outside brackets, or the end. */
static const char *end_of(const char *text)
{
  int depth = 0;
  for (; *text && (depth > 0 || *text != ','); text++)
    depth += (*text == '[') - (*text == ']');
  return text;
}

static void copy_part(char *to, size_t size, const char *from,
                      const char *end)
{
  size_t used = 0;
  for (; from < end && used + 1 < size; from++)
    if (*from != ' ' && *from != '\t') to[used++] = *from;
  to[used] = 0;
}

static tn_status read_option(const char *source, const char *text,
                             const char *end, tn_conf *conf)
{
  option one = { .source = source };
  const char *colon = memchr(text, ':', (size_t)(end - text));
  copy_part(one.key, sizeof one.key, text, colon ? colon : end);
  if (colon) copy_part(one.value, sizeof one.value, colon + 1, end);
  if (!colon || !one.value[0])
    return tn_error(TN_INVALID_ARGUMENT, "%s: key \"%s\" has no value: "
                    "written key:value,key:value", source, one.key);
  return apply(&one, conf);
}

static const tn_conf defaults = {
  .max_split_size = UINT64_MAX,
  .max_non_split_rounding = TN_LARGE_SEGMENT,
  .memory_fraction = 1,
  .pinned_max_round = MIB,
  .pinned_max_cached = UINT64_MAX,
  .pinned_register_threads = 1,
};

static bool is_blank(const char *text)
{
  return text[strspn(text, " \t")] == 0;
}

tn_status tn_conf_parse(const char *source, const char *text, tn_conf *out)
{
  tn_conf conf = defaults;
  size_t length = strlen(text);
  if (length >= sizeof conf.text)
    return tn_error(TN_INVALID_ARGUMENT, "%s: %zu characters: at most %zu",
                    source, length, sizeof conf.text - 1);
  memcpy(conf.text, text, length + 1);
  tn_status status = TN_OK;
  while (!is_blank(text) && status == TN_OK) {
    const char *end = end_of(text);
    status = read_option(source, text, end, &conf);
    text = *end ? end + 1 : end;
  }
  if (status == TN_OK) *out = conf;
  return status;
}
