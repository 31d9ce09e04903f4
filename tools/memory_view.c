#include "config.h"

#include "tools/memory_view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
  LEFT = 90, WIDTH = 1090, RIGHT = LEFT + WIDTH, PAGE = RIGHT + 20,
  CHART = 180, MAP = 420, ROW = 18, SEGMENTS_SHOWN = 400, HOLDERS_SHOWN = 12,
  COLOURS = 12
};

/* Told apart by those who see no red or green, too. */
static const char *const colours[COLOURS] = {
  "#4477aa", "#ee8866", "#228833", "#ccbb44", "#aa3377", "#66ccee",
  "#7a5c3e", "#bb88cc", "#99bb55", "#335577", "#dd6677", "#44aa99"
};

typedef struct view {
  const tn_memory_file *file;
  FILE *svg;
  int *colour_of;  /* by holder */
  size_t *order;   /* holders, the largest first */
  double y;        /* where the next part begins */
} view;

static void put(const view *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put(const view *v, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vfprintf(v->svg, format, arguments);
  va_end(arguments);
}

static void put_text(const view *v, const char *text)
{
  for (; *text; text++)
    switch (*text) {
    case '<': fputs("&lt;", v->svg); break;
    case '>': fputs("&gt;", v->svg); break;
    case '&': fputs("&amp;", v->svg); break;
    case '"': fputs("&quot;", v->svg); break;
    default: putc((unsigned char)*text < ' ' ? ' ' : *text, v->svg);
    }
}

/* "1.5 MiB" */
static const char *size_text(uint64_t bytes, char text[32])
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB",
                                       "PiB" };
  double value = (double)bytes;
  int unit = 0;
  while (value >= 1024 && unit < 5) {
    value /= 1024;
    unit++;
  }
  snprintf(text, 32, "%.4g %s", value, units[unit]);
  return text;
}

static void put_label(const view *v, double x, double y, const char *style,
                      const char *text)
{
  put(v, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, style);
  put_text(v, text);
  put(v, "</text>\n");
}

static void put_heading(view *v, const char *text)
{
  v->y += 34;
  put_label(v, 20, v->y, "h", text);
  v->y += 12;
}

static double share(uint64_t part, uint64_t whole, double length)
{
  return whole ? length * (double)part / (double)whole : 0;
}

/* The place of an event's moment. */
static double x_of(const view *v, size_t moment)
{
  return LEFT + share(moment, v->file->event_count, WIDTH);
}

static uint64_t highest(const tn_memory_file *file)
{
  uint64_t most = 1;
  for (size_t i = 0; i <= file->event_count; i++) {
    const tn_memory_point *p = &file->points[i];
    if (p->reserved > most) most = p->reserved;
    if (p->used > most) most = p->used;
  }
  return most;
}

static uint64_t value_at(const tn_memory_file *file, size_t i, bool is_used)
{
  return is_used ? file->points[i].used : file->points[i].reserved;
}

/* An area of steps, a point for each change. */
static void put_area(const view *v, bool is_used, uint64_t most,
                     const char *fill)
{
  const tn_memory_file *file = v->file;
  double bottom = v->y + CHART;
  uint64_t last = value_at(file, 0, is_used);
  put(v, "<path fill=\"%s\" d=\"M%d %.1f V%.2f", fill, LEFT, bottom,
      bottom - share(last, most, CHART));
  for (size_t i = 1; i <= file->event_count; i++) {
    uint64_t now = value_at(file, i, is_used);
    if (now != last)
      put(v, " H%.2f V%.2f", x_of(v, i), bottom - share(now, most, CHART));
    last = now;
  }
  put(v, " H%d V%.1f Z\"/>\n", RIGHT, bottom);
}

static void put_scale(const view *v, uint64_t most)
{
  for (int i = 0; i <= 4; i++) {
    char text[32];
    double y = v->y + CHART - CHART * i / 4.0;
    put(v, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" "
        "class=\"g\"/>\n", LEFT, RIGHT, y, y);
    put_label(v, LEFT - 8, y + 4, "r",
              size_text((uint64_t)((double)most * i / 4), text));
  }
}

static void put_failures(const view *v, double height)
{
  const tn_memory_file *file = v->file;
  for (size_t i = 0; i < file->event_count; i++) {
    const tn_value *event = &file->events->items[i];
    char size[32], unused[32];
    if (strcmp(tn_value_text(event, "action"), "oom") != 0) continue;
    put(v, "<line x1=\"%.2f\" x2=\"%.2f\" y1=\"%.1f\" y2=\"%.1f\" "
        "class=\"o\"><title>out of memory: %s asked for, %s free</title>"
        "</line>\n", x_of(v, i + 1), x_of(v, i + 1), v->y, v->y + height,
        size_text(tn_value_number(event, "size"), size),
        size_text(tn_value_number(event, "device_free"), unused));
  }
}

static void put_key(const view *v, double x, const char *fill,
                    const char *text)
{
  put(v, "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" "
      "fill=\"%s\"/>\n", x, v->y - 10, fill);
  put_label(v, x + 18, v->y, "t", text);
}

static void put_chart(view *v)
{
  const tn_memory_file *file = v->file;
  put_heading(v, "Over time");
  v->y += 8;
  put_key(v, LEFT, "#c8d2dc", "reserved");
  put_key(v, LEFT + 100, "#5b6b7a", "used, as asked for");
  put(v, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" class=\"o\"/>\n",
      LEFT + 266, LEFT + 266, v->y - 11, v->y + 2);
  put_label(v, LEFT + 276, v->y, "t", "out of memory");
  v->y += 14;
  uint64_t most = highest(file);
  put_area(v, false, most, "#c8d2dc");
  put_area(v, true, most, "#5b6b7a");
  put_scale(v, most);
  put_failures(v, CHART);
  v->y += CHART;
}

/* One over the other, the lowest address at the bottom. */
static int compare_bands(const void *one, const void *other)
{
  const tn_memory_band *a = one, *b = other;
  if (a->address != b->address) return a->address < b->address ? 1 : -1;
  return (a->begin > b->begin) - (a->begin < b->begin);
}

static const tn_memory_band *band_of(const tn_memory_file *file,
                                     const tn_memory_span *span, size_t *at)
{
  for (size_t i = 0; i < file->band_count; i++) {
    const tn_memory_band *band = &file->bands[i];
    if (span->address < band->address ||
        span->address - band->address >= band->size ||
        span->end > band->end || span->begin < band->begin)
      continue;
    *at = i;
    return band;
  }
  return NULL;
}

static double band_height(uint64_t size, uint64_t all)
{
  double height = share(size, all, MAP);
  return height < 2 ? 2 : height;
}

static void put_band(const view *v, const tn_memory_band *band, double y,
                     double height)
{
  char size[32];
  put(v, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
      "fill=\"#eef0f2\" stroke=\"#b6bec6\" stroke-width=\"0.5\"><title>"
      "segment 0x%" PRIx64 ", %s, stream %" PRIx64 "</title></rect>\n",
      x_of(v, band->begin), y, x_of(v, band->end) - x_of(v, band->begin),
      height, band->address, size_text(band->size, size), band->stream);
}

static void put_span(const view *v, const tn_memory_span *span,
                     const tn_memory_band *band, double y, double height)
{
  char size[32];
  double x = x_of(v, span->begin), asked = x_of(v, span->asked);
  double end = x_of(v, span->end);
  double bottom = y + height -
                  share(span->address - band->address, band->size, height);
  double tall = share(span->size, band->size, height);
  if (asked < x) asked = x;
  const char *fill = colours[v->colour_of[span->holder]];
  put(v, "<g fill=\"%s\"><title>", fill);
  put_text(v, v->file->holders[span->holder].name);
  put(v, ": %s at 0x%" PRIx64 ", events %zu to %zu</title>",
      size_text(span->size, size), span->address, span->begin, span->end);
  if (asked > x)
    put(v, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>", x,
        bottom - tall, asked - x, tall);
  if (end > asked) /* given back, and not free yet */
    put(v, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
        "opacity=\"0.4\"/>", asked, bottom - tall, end - asked, tall);
  put(v, "</g>\n");
}

static void put_map(view *v)
{
  const tn_memory_file *file = v->file;
  double *tops = calloc(file->band_count + 1, sizeof *tops);
  uint64_t all = 0;
  if (!tops) return;
  put_heading(v, "Where, over time: each segment a band, its lowest address "
              "at its bottom");
  for (size_t i = 0; i < file->band_count; i++) all += file->bands[i].size;
  for (size_t i = 0; i < file->band_count; i++) {
    double height = band_height(file->bands[i].size, all);
    tops[i] = v->y;
    put_band(v, &file->bands[i], v->y, height);
    v->y += height + 3;
  }
  for (size_t i = 0; i < file->span_count; i++) {
    size_t at;
    const tn_memory_band *band = band_of(file, &file->spans[i], &at);
    if (band)
      put_span(v, &file->spans[i], band, tops[at],
               band_height(band->size, all));
  }
  put_label(v, LEFT, v->y + 12, "t", "first event kept");
  put_label(v, RIGHT, v->y + 12, "r", "the snapshot");
  v->y += 16;
  free(tops);
}

static void put_block(const view *v, const tn_value *block, double x,
                      double width, int holder)
{
  char size[32], asked[32];
  const char *state = tn_value_text(block, "state");
  bool is_live = strcmp(state, "active_allocated") == 0;
  bool is_active = strncmp(state, "active", 6) == 0;
  put(v, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" "
      "fill=\"%s\"%s%s class=\"b\"><title>", x, v->y, width, ROW - 5,
      is_active ? colours[v->colour_of[holder]] : "#ffffff",
      is_active && !is_live ? " opacity=\"0.4\"" : "",
      width > 3 ? " stroke=\"#fff\" stroke-width=\"0.5\"" : "");
  if (is_active) put_text(v, v->file->holders[holder].name);
  else put(v, "free");
  put(v, ": %s at 0x%" PRIx64, size_text(tn_value_number(block, "size"), size),
      tn_value_number(block, "address"));
  if (is_active)
    put(v, ", %s asked for", size_text(tn_value_number(block,
        "requested_size"), asked));
  if (is_active && !is_live) put(v, ", given back and still in use");
  put(v, "</title></rect>\n");
}

static void put_segment(view *v, const tn_value *segment, uint64_t most)
{
  const tn_value *blocks = tn_value_get(segment, "blocks");
  uint64_t size = tn_value_number(segment, "total_size"), done = 0;
  double width = share(size, most, WIDTH);
  char text[32];
  put_label(v, LEFT - 8, v->y + 11, "r", size_text(size, text));
  put(v, "<rect x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" "
      "fill=\"#ffffff\" stroke=\"#8a939c\"/>\n", LEFT, v->y, width, ROW - 5);
  for (size_t i = 0; i < blocks->count; i++) {
    const tn_value *block = &blocks->items[i];
    uint64_t bytes = tn_value_number(block, "size");
    bool is_active = strncmp(tn_value_text(block, "state"), "active", 6) == 0;
    int holder = is_active ? tn_memory_file_holder(v->file, block) : 0;
    put_block(v, block, LEFT + share(done, size, width),
              share(bytes, size, width), holder);
    done += bytes;
  }
  v->y += ROW;
}

static int compare_segments(const void *one, const void *other)
{
  uint64_t a = tn_value_number(*(const tn_value *const *)one, "total_size");
  uint64_t b = tn_value_number(*(const tn_value *const *)other, "total_size");
  return (a < b) - (a > b);
}

static void put_segments(view *v)
{
  const tn_value *segments = v->file->segments;
  const tn_value **order = calloc(segments->count + 1, sizeof *order);
  char text[96];
  if (!order) return;
  for (size_t i = 0; i < segments->count; i++) order[i] = &segments->items[i];
  qsort(order, segments->count, sizeof *order, compare_segments);
  put_heading(v, "Segments at the end, the largest first: free memory is "
              "white");
  uint64_t most = segments->count ? tn_value_number(order[0], "total_size")
                                  : 0;
  for (size_t i = 0; i < segments->count && i < SEGMENTS_SHOWN; i++)
    put_segment(v, order[i], most);
  if (segments->count > SEGMENTS_SHOWN) {
    snprintf(text, sizeof text, "and %zu smaller ones",
             segments->count - SEGMENTS_SHOWN);
    put_label(v, LEFT, v->y + 12, "t", text);
    v->y += ROW;
  }
  free(order);
}

/* The whole is written when its height is known: this is. */
static void put_head(const view *v, double height)
{
  const char *device = tn_value_text(v->file->root, "device_name");
  put(v, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
      "height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
      "font-family=\"sans-serif\">\n", PAGE, height, PAGE, height);
  put(v, "<title>Memory of ");
  put_text(v, *device ? device : "a device");
  put(v, "</title>\n<style>.h{font-size:15px;font-weight:bold}"
      ".t{font-size:12px}.r{font-size:11px;text-anchor:end;fill:#444}"
      ".g{stroke:#000;stroke-opacity:.12}"
      ".o{stroke:#cc0000;stroke-width:1.5;stroke-dasharray:4 2}</style>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fbfbfa\"/>\n");
}

static void put_figures(view *v)
{
  const tn_memory_file *file = v->file;
  char text[256], figures[4][32], title[128];
  const char *device = tn_value_text(file->root, "device_name");
  snprintf(title, sizeof title, "Memory of %.60s", *device ? device
                                                           : "a device");
  put(v, "<text x=\"20\" y=\"32\" font-size=\"20\">");
  put_text(v, title);
  put(v, "</text>\n");
  snprintf(text, sizeof text, "reserved %s in %zu segments; allocated %s, "
           "active %s, asked for %s; %zu events kept",
           size_text(file->reserved, figures[0]), file->segments->count,
           size_text(file->allocated, figures[1]),
           size_text(file->active, figures[2]),
           size_text(file->requested, figures[3]), file->event_count);
  put_label(v, 20, 54, "t", text);
  v->y = 54;
}

static const tn_memory_holder *sorted; /* for compare_holders */

static int compare_holders(const void *one, const void *other)
{
  uint64_t a = sorted[*(const size_t *)one].bytes;
  uint64_t b = sorted[*(const size_t *)other].bytes;
  return (a < b) - (a > b);
}

static bool prepare(view *v)
{
  const tn_memory_file *file = v->file;
  v->colour_of = calloc(file->holder_count + 1, sizeof *v->colour_of);
  v->order = calloc(file->holder_count + 1, sizeof *v->order);
  if (!v->colour_of || !v->order) return false;
  for (size_t i = 0; i < file->holder_count; i++) v->order[i] = i;
  sorted = file->holders;
  qsort(v->order, file->holder_count, sizeof *v->order, compare_holders);
  for (size_t i = 0; i < file->holder_count; i++)
    v->colour_of[v->order[i]] = (int)(i % COLOURS);
  qsort(file->bands, file->band_count, sizeof *file->bands, compare_bands);
  return true;
}

static void put_holders(view *v)
{
  const tn_memory_file *file = v->file;
  char text[160], size[32];
  put_heading(v, "Who holds most at the end");
  for (size_t i = 0; i < file->holder_count && i < HOLDERS_SHOWN; i++) {
    const tn_memory_holder *one = &file->holders[v->order[i]];
    v->y += ROW;
    snprintf(text, sizeof text, "%.80s: %s in %" PRIu64 " block%s", one->name,
             size_text(one->bytes, size), one->blocks,
             one->blocks == 1 ? "" : "s");
    put_key(v, LEFT, colours[v->colour_of[v->order[i]]], text);
  }
}

static void put_parts(view *v)
{
  put_figures(v);
  if (v->file->event_count) {
    put_chart(v);
  } else {
    v->y += 22;
    put_label(v, 20, v->y, "t", "No events were kept: "
              "tn_memory_record_history keeps them.");
  }
  put_holders(v);
  if (v->file->event_count) put_map(v);
  put_segments(v);
}

void tn_memory_view_write(const tn_memory_file *file, FILE *svg)
{
  view v = { .file = file };
  char *parts = NULL;
  size_t size = 0;
  v.svg = open_memstream(&parts, &size);
  bool is_ready = v.svg && prepare(&v);
  if (is_ready) put_parts(&v);
  if (v.svg) fclose(v.svg);
  v.svg = svg;
  if (is_ready) {
    put_head(&v, v.y + 24);
    fwrite(parts, 1, size, svg);
    put(&v, "</svg>\n");
  }
  free(parts);
  free(v.colour_of);
  free(v.order);
}
