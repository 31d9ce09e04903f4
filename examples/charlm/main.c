/* Trains a small transformer on the characters of a text, on whatever device
 * is named, and lets it write some of its own. What it prints is the same on
 * every device. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tenon/tenon.h>

#include "complain.h"
#include "model.h"
#include "options.h"
#include "plot.h"
#include "stepper.h"
#include "text.h"

typedef struct run {
  const options *o;
  const text *t;
  tn_device device;
  tn_nn_module *model;
  tn_optim *optim;
  stepper stepper;
  uint64_t random;       /* state of the host's generator */
  int64_t *batch;        /* batch x context numbers, then as many targets */
  float *losses;         /* of every step, for the picture; or NULL */
  double start, shown;   /* when it began and progress was last shown */
} run;

static uint64_t next_random(run *r)
{
  uint64_t z = r->random += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* ------------------------------------------------------------------------
 * Training
 * --------------------------------------------------------------------- */

static double seconds_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A line that overwrites itself, on a terminal, for work of some length. */
static void show_progress(run *r, int64_t step, bool last)
{
  double now = seconds_now(), spent = now - r->start;
  bool shown = r->shown > r->start;
  if (!isatty(STDERR_FILENO) || (last ? !shown : spent < 2)) return;
  if (!last && shown && now - r->shown < 0.2) return;
  r->shown = now;
  if (last) fputs("\r\033[K", stderr);
  else
    fprintf(stderr, "\r\033[Kcharlm: step %" PRId64 " of %" PRId64
            ", %.0f s left", step, r->o->steps,
            spent / (double)step * (double)(r->o->steps - step));
}

/* Random pieces of the text, and the same shifted by one: what comes next. */
static void fill_batch(run *r)
{
  const options *o = r->o;
  uint64_t places = (uint64_t)(r->t->count - o->context);
  int64_t *input = r->batch, *target = input + o->batch * o->context;
  for (int64_t row = 0; row < o->batch; row++) {
    const int32_t *from = r->t->tokens + next_random(r) % places;
    for (int64_t i = 0; i < o->context; i++) {
      *input++ = from[i];
      *target++ = from[i + 1];
    }
  }
}

/* The rate rises for some steps and then falls to a tenth. */
static double rate_at(const options *o, int64_t step)
{
  double warm = 20, done = (double)step / (double)o->steps;
  double rise = (double)step < warm ? (double)step / warm : 1;
  return o->lr * rise * (1 - 0.9 * done);
}

static bool is_shown(const options *o, int64_t step)
{
  int64_t interval = (o->steps + 19) / 20;
  return step == 1 || step % interval == 0 || step == o->steps;
}

/* Reading the loss waits for the device: only where it is wanted. */
static bool report(run *r, int64_t step, tn_tensor *loss)
{
  if (!r->losses && !is_shown(r->o, step)) return true;
  float value;
  if (tn_read(loss, &value, sizeof value) != TN_OK)
    return complain_of_library();
  if (r->losses) r->losses[step - 1] = value;
  if (!is_shown(r->o, step)) return true;
  show_progress(r, step, true);
  printf("step %" PRId64 " loss %.9g\n", step, (double)value);
  fflush(stdout);
  return true;
}

static bool train_step(run *r, int64_t number)
{
  bool is_done = false;
  fill_batch(r);
  tn_with_scope {
    tn_tensor *loss = NULL;
    if (tn_optim_set_lr(r->optim, rate_at(r->o, number)) == TN_OK)
      loss = step_take(&r->stepper, r->batch);
    is_done = loss ? report(r, number, loss) : complain_of_library();
  }
  return is_done;
}

static bool train(run *r)
{
  r->start = r->shown = seconds_now();
  for (int64_t step = 1; step <= r->o->steps; step++) {
    if (!train_step(r, step)) return false;
    show_progress(r, step, false);
  }
  show_progress(r, r->o->steps, true);
  return true;
}

/* ------------------------------------------------------------------------
 * Writing
 * --------------------------------------------------------------------- */

/* Probabilities of what follows the window, somewhat sharpened. */
static bool predict(run *r, const int64_t *window, int64_t length,
                    float *probabilities)
{
  bool is_done = false;
  tn_with_scope {
    tn_tensor *input = tn_from_data(window, TN_SHAPE(1, length),
                                    .device = r->device, .dtype = TN_I64);
    tn_tensor *scores = tn_nn_forward(r->model, input);
    scores = tn_select(tn_select(scores, 0, 0), 0, length - 1);
    tn_tensor *sharp = tn_softmax(tn_mul_scalar(scores, 1.25), 0);
    is_done = sharp && tn_read(sharp, probabilities,
                               (size_t)r->t->kinds * sizeof(float)) == TN_OK;
  }
  return is_done || complain_of_library();
}

static int32_t draw(run *r, const float *probabilities)
{
  double at = (double)(next_random(r) >> 11) * 0x1p-53;
  for (int32_t i = 0; i < r->t->kinds; i++) {
    at -= (double)probabilities[i];
    if (at < 0) return i;
  }
  return r->t->kinds - 1;
}

static bool write_text(run *r)
{
  int64_t context = r->o->context, length = 1;
  int64_t *window = calloc((size_t)context + 1, sizeof *window);
  float *probabilities = calloc((size_t)r->t->kinds, sizeof *probabilities);
  bool is_done = (window && probabilities) ||
                 complain("no memory for the text to write");
  if (is_done) window[0] = text_token(r->t, '\n');
  for (int64_t i = 0; is_done && i < r->o->sample; i++) {
    is_done = predict(r, window, length, probabilities);
    if (!is_done) break;
    int32_t token = draw(r, probabilities);
    text_write(r->t, token);
    if (length == context)
      memmove(window, window + 1, (size_t)--length * sizeof *window);
    window[length++] = token;
  }
  if (is_done && r->o->sample) putchar('\n');
  free(window);
  free(probabilities);
  return is_done;
}

/* ------------------------------------------------------------------------
 * All of it
 * --------------------------------------------------------------------- */

static bool run_open(run *r, const options *o, const text *t,
                     tn_device device)
{
  *r = (run){ .o = o, .t = t, .device = device,
              .random = (uint64_t)o->seed };
  size_t numbers = 2 * (size_t)(o->batch * o->context);
  r->batch = calloc(numbers, sizeof *r->batch);
  if (o->plot) r->losses = calloc((size_t)o->steps + 1, sizeof *r->losses);
  if (!r->batch || (o->plot && !r->losses))
    return complain("no memory for a batch of %" PRId64 " pieces of %" PRId64
                    " characters, and %" PRId64 " losses", o->batch,
                    o->context, o->steps);
  tn_manual_seed((uint64_t)o->seed);
  model_size size = { t->kinds, o->context, o->width, o->layers, o->heads };
  r->model = model_new(&size, device);
  r->optim = tn_optim_adamw(TN_NN_PARAMETERS(r->model), o->lr,
                            .beta2 = 0.99);
  step_size step_of = { o->batch, o->context, t->kinds };
  step_mode mode = o->graph ? STEP_GRAPH
                            : o->callable ? STEP_CALLABLE : STEP_EAGER;
  return (r->optim && step_open(&r->stepper, mode, &step_of, r->model, r->optim,
                                device)) ||
         complain_of_library();
}

static void run_close(run *r)
{
  step_close(&r->stepper);
  tn_optim_release(r->optim);
  tn_nn_module_release(r->model);
  free(r->batch);
  free(r->losses);
}

static bool run_all(run *r)
{
  if (!train(r)) return false;
  tn_nn_eval(r->model);
  bool is_done = false;
  tn_no_grad is_done = write_text(r);
  if (!is_done || !r->losses) return is_done;
  return plot_write(r->o->plot, r->losses, r->o->steps,
                    "charlm: loss by step");
}

static bool run_whole(const options *o, const text *t, tn_device device)
{
  run r;
  bool is_done = run_open(&r, o, t, device) && run_all(&r);
  run_close(&r);
  return is_done;
}

/* On a stream of its own the device works while the program goes on, until it
 * reads something. */
static bool run_on_stream(const options *o, const text *t, tn_device device)
{
  bool is_done = false;
  tn_stream *stream = tn_stream_new(device, 0);
  if (!stream) return complain_of_library();
  tn_with_stream(stream) is_done = run_whole(o, t, device);
  tn_stream_release(stream);
  return is_done;
}

static bool choose_device(const char *name, tn_device *device)
{
  if (name) {
    if (tn_device_parse(name, device) == TN_OK) return true;
  } else {
    *device = tn_default_device();
    if (!tn_device_equal(*device, (tn_device){ -1, -1 })) return true;
  }
  return complain_of_library();
}

static bool flush_output(void)
{
  return (fflush(stdout) == 0 && !ferror(stdout)) ||
         complain("cannot write to standard output");
}

static bool check_context(const options *o, const text *t)
{
  if (o->context < t->count) return true;
  if (t->count < 2)
    return complain("the text has one character: two or more are needed");
  return complain("--context %" PRId64 ": the text has %" PRId64
                  " characters: up to %" PRId64 " are possible", o->context,
                  t->count, t->count - 1);
}

int main(int argc, char **argv)
{
  (void)argc;
  options o;
  tn_device device;
  text t;
  if (!options_read(argv, &o)) return 2;
  if (o.help) {
    options_explain();
    return !flush_output();
  }
  if (!choose_device(o.device, &device)) return 1;
  bool is_done = text_open(&t, o.text) && check_context(&o, &t);
  if (is_done)
    is_done = o.stream ? run_on_stream(&o, &t, device)
                       : run_whole(&o, &t, device);
  text_close(&t);
  return !(flush_output() && is_done);
}
