#include "config.h"

#include "tools/memory_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_all(const char *path, size_t *size)
{
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  size_t room = 1 << 16, used = 0, got;
  char *text = malloc(room);
  while (text && (got = fread(text + used, 1, room - used, file)) > 0) {
    used += got;
    if (used < room) continue;
    char *larger = realloc(text, room *= 2);
    if (!larger) free(text);
    text = larger;
  }
  if (text && ferror(file)) {
    free(text);
    text = NULL;
  }
  fclose(file);
  *size = used;
  return text;
}

/* "weights", or the code's place without a tag. */
static const char *name_of(const tn_value *thing)
{
  const tn_value *frames = tn_value_get(thing, "frames");
  if (!frames->count) return "unknown";
  const char *name = tn_value_text(&frames->items[0], "name");
  if (*name) return name;
  name = tn_value_text(&frames->items[0], "filename");
  return *name ? name : "unknown";
}

int tn_memory_file_holder(const tn_memory_file *file, const tn_value *block)
{
  const char *name = name_of(block);
  size_t i = 0;
  while (i < file->holder_count && strcmp(file->holders[i].name, name) != 0)
    i++;
  return (int)i;
}

/* The same, added if it is new. */
static int find_or_add(tn_memory_file *file, const tn_value *thing)
{
  int i = tn_memory_file_holder(file, thing);
  if ((size_t)i < file->holder_count) return i;
  file->holders[i] = (tn_memory_holder){ .name = name_of(thing) };
  file->holder_count++;
  return i;
}

/* Room for one of each block and event. */
static bool make_room(tn_memory_file *file)
{
  size_t blocks = 0;
  for (size_t i = 0; i < file->segments->count; i++)
    blocks += tn_value_get(&file->segments->items[i], "blocks")->count;
  size_t most = blocks + file->event_count + 1;
  file->spans = calloc(most, sizeof *file->spans);
  file->holders = calloc(most, sizeof *file->holders);
  file->bands = calloc(file->segments->count + file->event_count + 1,
                       sizeof *file->bands);
  file->points = calloc(file->event_count + 1, sizeof *file->points);
  file->place_count = 16;
  while (file->place_count < 2 * most) file->place_count *= 2;
  file->places = calloc(file->place_count, sizeof *file->places);
  return file->spans && file->holders && file->bands && file->points &&
         file->places;
}

static bool is_active(const tn_value *block)
{
  return strncmp(tn_value_text(block, "state"), "active", 6) == 0;
}

static bool is_live(const tn_value *block)
{
  return strcmp(tn_value_text(block, "state"), "active_allocated") == 0;
}

/* Of an address in the table. */
static size_t *place_of(const tn_memory_file *file, uint64_t address)
{
  size_t i = (size_t)(address * 0x9e3779b97f4a7c15u >> 20);
  for (;; i++) {
    size_t *place = &file->places[i & (file->place_count - 1)];
    if (!*place || file->spans[*place - 1].address == address) return place;
  }
}

static void add_span(tn_memory_file *file, tn_memory_span span)
{
  size_t *place = place_of(file, span.address);
  file->spans[file->span_count++] = span;
  *place = file->span_count;
}

static void add_block(tn_memory_file *file, const tn_value *block)
{
  size_t last = file->event_count;
  int holder = find_or_add(file, block);
  add_span(file, (tn_memory_span){
    .address = tn_value_number(block, "address"),
    .size = tn_value_number(block, "requested_size"),
    .asked = is_live(block) ? last : 0, .end = last, .holder = holder });
  if (!is_live(block)) return;
  file->holders[holder].bytes += tn_value_number(block, "size");
  file->holders[holder].blocks++;
}

/* What is there at the end. */
static void add_segments(tn_memory_file *file)
{
  for (size_t i = 0; i < file->segments->count; i++) {
    const tn_value *segment = &file->segments->items[i];
    const tn_value *blocks = tn_value_get(segment, "blocks");
    file->bands[file->band_count++] = (tn_memory_band){
      .address = tn_value_number(segment, "address"),
      .size = tn_value_number(segment, "total_size"),
      .stream = tn_value_number(segment, "stream"),
      .end = file->event_count, .is_live = true };
    file->reserved += tn_value_number(segment, "total_size");
    file->allocated += tn_value_number(segment, "allocated_size");
    file->active += tn_value_number(segment, "active_size");
    file->requested += tn_value_number(segment, "requested_size");
    for (size_t k = 0; k < blocks->count; k++)
      if (is_active(&blocks->items[k])) add_block(file, &blocks->items[k]);
  }
}

/* The span at an address that is open at its beginning; NULL if none is. */
static tn_memory_span *open_span(tn_memory_file *file, uint64_t address)
{
  size_t index = *place_of(file, address);
  tn_memory_span *span = index ? &file->spans[index - 1] : NULL;
  return span && span->begin == 0 ? span : NULL;
}

static tn_memory_band *open_band(tn_memory_file *file, uint64_t address)
{
  for (size_t i = file->band_count; i-- > 0; )
    if (file->bands[i].address == address && file->bands[i].begin == 0)
      return &file->bands[i];
  return NULL;
}

/* Backwards, an event's time i counts as i + 1, so that 0 is "before". */
static void undo_block(tn_memory_file *file, const tn_value *event, size_t i,
                       const char *action)
{
  uint64_t address = tn_value_number(event, "addr");
  tn_memory_span *span = open_span(file, address);
  if (strcmp(action, "alloc") == 0) {
    if (span) span->begin = i + 1;
  } else if (strcmp(action, "free_completed") == 0) {
    add_span(file, (tn_memory_span){
      .address = address, .size = tn_value_number(event, "size"),
      .end = i + 1, .asked = i + 1,
      .holder = find_or_add(file, event) });
  } else if (span) {
    span->asked = i + 1;
  }
}

static void undo_segment(tn_memory_file *file, const tn_value *event,
                         size_t i, bool is_alloc)
{
  uint64_t address = tn_value_number(event, "addr");
  tn_memory_band *band = open_band(file, address);
  if (!is_alloc)
    file->bands[file->band_count++] = (tn_memory_band){
      .address = address, .size = tn_value_number(event, "size"),
      .stream = tn_value_number(event, "stream"), .end = i + 1 };
  else if (band)
    band->begin = i + 1;
}

static uint64_t less(uint64_t from, uint64_t amount)
{
  return from > amount ? from - amount : 0;
}

/* From the end to the beginning. */
static void undo_events(tn_memory_file *file)
{
  tn_memory_point now = { file->reserved, file->requested };
  file->points[file->event_count] = now;
  for (size_t i = file->event_count; i-- > 0; ) {
    const tn_value *event = &file->events->items[i];
    const char *action = tn_value_text(event, "action");
    uint64_t size = tn_value_number(event, "size");
    bool is_alloc = strcmp(action, "segment_alloc") == 0;
    if (is_alloc || strcmp(action, "segment_free") == 0) {
      undo_segment(file, event, i, is_alloc);
      now.reserved = is_alloc ? less(now.reserved, size)
                              : now.reserved + size;
    } else if (strcmp(action, "alloc") == 0 ||
               strncmp(action, "free_", 5) == 0) {
      undo_block(file, event, i, action);
      if (action[0] == 'a') now.used = less(now.used, size);
      else if (strcmp(action, "free_completed") == 0) now.used += size;
    }
    file->points[i] = now;
  }
}

/* Each device has a list; a file of ours fills one. */
static const tn_value *find_events(const tn_value *root)
{
  const tn_value *traces = tn_value_get(root, "device_traces");
  const tn_value *longest = tn_value_get(root, "");
  for (size_t i = 0; i < traces->count; i++)
    if (traces->items[i].count > longest->count) longest = &traces->items[i];
  return longest;
}

static bool is_snapshot(const tn_value *root)
{
  return root->kind == TN_VALUE_MAP &&
         tn_value_get(root, "segments")->kind == TN_VALUE_LIST &&
         tn_value_get(root, "device_traces")->kind == TN_VALUE_LIST;
}

static bool parse(const char *text, size_t size, tn_memory_file *out,
                  char *problem, size_t problem_size)
{
  if (size && (unsigned char)text[0] == 0x80) {
    snprintf(problem, problem_size, "is a pickle: what is read here is the "
             "JSON of tn_memory_snapshot");
    return false;
  }
  char reason[128];
  out->root = tn_value_read(text, size, reason, sizeof reason);
  if (!out->root) {
    snprintf(problem, problem_size, "is no JSON: %s", reason);
    return false;
  }
  if (is_snapshot(out->root)) return true;
  snprintf(problem, problem_size, "is no snapshot: it has no lists "
           "\"segments\" and \"device_traces\"");
  return false;
}

bool tn_memory_file_read(const char *path, tn_memory_file *out, char *problem,
                         size_t problem_size)
{
  size_t size;
  *out = (tn_memory_file){ 0 };
  char *text = read_all(path, &size);
  if (!text) {
    snprintf(problem, problem_size, "cannot be read: %s", strerror(errno));
    return false;
  }
  bool is_good = parse(text, size, out, problem, problem_size);
  free(text);
  if (is_good) {
    out->segments = tn_value_get(out->root, "segments");
    out->events = find_events(out->root);
    out->event_count = out->events->count;
    is_good = make_room(out);
    if (!is_good) snprintf(problem, problem_size, "is too large: no memory");
  }
  if (!is_good) {
    tn_memory_file_free(out);
    return false;
  }
  add_segments(out);
  undo_events(out);
  return true;
}

void tn_memory_file_free(tn_memory_file *file)
{
  tn_value_free(file->root);
  free(file->spans);
  free(file->bands);
  free(file->holders);
  free(file->points);
  free(file->places);
  *file = (tn_memory_file){ 0 };
}
