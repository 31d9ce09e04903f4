#include "plot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "complain.h"

/* The frame within the picture, in pixels. */
enum { WIDE = 720, HIGH = 400, LEFT = 64, RIGHT = 700, TOP = 44, BOTTOM = 350 };

typedef struct picture {
  FILE *file;
  const float *losses;
  int64_t count;
  double low, high, tick; /* of the loss, and between its lines */
  int64_t step_tick;
} picture;

static double x_of(const picture *p, double step)
{
  double span = p->count > 1 ? (double)p->count - 1 : 1;
  return LEFT + (step - 1) / span * (RIGHT - LEFT);
}

static double y_of(const picture *p, double loss)
{
  return BOTTOM - (loss - p->low) / (p->high - p->low) * (BOTTOM - TOP);
}

/* 1, 2 or 5 times a power of ten, so that about `wanted` fit. */
static double round_tick(double span, double wanted)
{
  double tick = pow(10, floor(log10(span / wanted)));
  while (span / tick > wanted)
    tick *= span / (2 * tick) <= wanted ? 2 : span / (5 * tick) <= wanted ? 5
                                                                        : 10;
  return tick;
}

static void find_bounds(picture *p)
{
  double least = INFINITY, most = -INFINITY;
  for (int64_t i = 0; i < p->count; i++) {
    if (!isfinite(p->losses[i])) continue;
    least = fmin(least, (double)p->losses[i]);
    most = fmax(most, (double)p->losses[i]);
  }
  if (!(least <= most)) least = most = 0;
  double span = most > least ? most - least : 1;
  p->tick = round_tick(span, 6);
  p->low = floor(least / p->tick) * p->tick;
  p->high = (floor(most / p->tick) + 1) * p->tick;
  double step = round_tick(p->count > 10 ? (double)p->count : 10, 8);
  p->step_tick = step < 1 ? 1 : (int64_t)step;
}

static void draw_frame(const picture *p, const char *title)
{
  fprintf(p->file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
          "height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
          "font-size=\"13\" fill=\"#333\">\n"
          "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n"
          "<text x=\"%d\" y=\"26\" font-size=\"15\">%s</text>\n",
          WIDE, HIGH, WIDE, HIGH, WIDE, HIGH, LEFT, title);
  int lines = (int)floor((p->high - p->low) / p->tick + 0.5);
  for (int i = 0; i <= lines; i++) {
    double loss = p->low + i * p->tick, y = y_of(p, loss);
    fprintf(p->file,
            "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>"
            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n",
            LEFT, y, RIGHT, LEFT - 8, y + 4, loss);
  }
  for (int64_t step = p->step_tick; step <= p->count; step += p->step_tick) {
    double x = x_of(p, (double)step);
    fprintf(p->file,
            "<path d=\"M%.1f %dv5\" stroke=\"#888\"/>"
            "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%" PRId64
            "</text>\n", x, BOTTOM, x, BOTTOM + 20, step);
  }
  fprintf(p->file,
          "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#888\"/>\n"
          "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">step</text>\n",
          LEFT, TOP, BOTTOM, RIGHT, (LEFT + RIGHT) / 2, HIGH - 12);
}

/* Each point the mean of the losses up to `reach` steps before and after; no
 * more points than the picture has columns. */
static void draw_line(const picture *p, int64_t reach, const char *look)
{
  int64_t stride = 1 + p->count / WIDE, begin = 0, end = 0;
  double sum = 0;
  char pen = 'M';
  fprintf(p->file, "<path fill=\"none\" %s d=\"", look);
  for (int64_t i = 0; i < p->count; i++) {
    while (end < p->count && end <= i + reach)
      sum += (double)p->losses[end++];
    while (begin < i - reach) sum -= (double)p->losses[begin++];
    if (i % stride != 0 && i != p->count - 1) continue;
    double mean = sum / (double)(end - begin);
    if (!isfinite(mean)) break;
    fprintf(p->file, "%c%.1f %.1f", pen, x_of(p, (double)i + 1),
            y_of(p, mean));
    pen = 'L';
  }
  fputs("\"/>\n", p->file);
}

bool plot_write(const char *path, const float *losses, int64_t count,
                const char *title)
{
  picture p = { fopen(path, "w"), losses, count, 0, 1, 1, 1 };
  if (!p.file) return complain("%s: %s", path, strerror(errno));
  find_bounds(&p);
  draw_frame(&p, title);
  if (count > 0) {
    draw_line(&p, 0, "stroke=\"#9bb8d8\" stroke-width=\"1\"");
    draw_line(&p, count / 40, "stroke=\"#1f4e8c\" stroke-width=\"2\"");
  }
  fputs("</svg>\n", p.file);
  bool is_written = !ferror(p.file);
  if (fclose(p.file) != 0) is_written = false;
  return is_written || complain("%s: cannot be written", path);
}
