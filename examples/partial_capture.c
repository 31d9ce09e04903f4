/* A network whose middle depends on the data: the host looks at what the first
 * part made and picks one of two parts to go on with. No graph can hold that
 * choice; each of the parts can be one, and the rest stays eager. Training
 * prints the same lines with graphs and without (--eager), on every device. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

enum { BATCH = 32, INPUTS = 4, WIDTH = 48, PARTS = 3 };
enum { FIRST, LOW, HIGH };

typedef struct options {
  const char *device;
  int64_t steps, seed;
  bool eager;
} options;

typedef struct network {
  tn_nn_module *whole;       /* owns the parts */
  tn_callable parts[PARTS];  /* eager */
  tn_callable graphed[PARTS];
  tn_optim *optim;
} network;

static bool complain(const char *text)
{
  fprintf(stderr, "partial_capture: %s\n", text);
  return false;
}

static bool complain_of_library(void)
{
  return complain(tn_error_message());
}

/* ---- the parts ---- */

/* Odd, so that opposite inputs take opposite ways. */
static tn_nn_module *first_new(tn_device device)
{
  return tn_nn_sequential(TN_NN_MODULES(
      tn_nn_linear(INPUTS, WIDTH, false, .device = device),
      tn_nn_function("tanh", tn_tanh), tn_nn_dropout(0.1)));
}

static tn_nn_module *way_new(tn_device device)
{
  return tn_nn_sequential(TN_NN_MODULES(
      tn_nn_linear(WIDTH, WIDTH, true, .device = device),
      tn_nn_function("gelu", tn_gelu), tn_nn_dropout(0.1),
      tn_nn_linear(WIDTH, 1, true, .device = device)));
}

static bool network_open(network *net, tn_device device)
{
  tn_nn_module *parts[PARTS] = { first_new(device), way_new(device),
                                 way_new(device) };
  *net = (network){ .whole = tn_nn_sequential(parts, PARTS) };
  if (!net->whole) return complain_of_library();
  for (int i = 0; i < PARTS; i++) net->parts[i] = tn_nn_callable(parts[i]);
  net->optim = tn_optim_adamw(TN_NN_PARAMETERS(net->whole), 3e-3);
  return net->optim || complain_of_library();
}

/* The parts share one pool: a step calls them in this order, or fewer. What
 * was drawn for the capture is not to be missed in the training. */
static bool network_capture(network *net, tn_device device)
{
  bool is_done = false;
  tn_with_scope {
    tn_tensor *samples[PARTS] = {
      tn_zeros(TN_SHAPE(BATCH, INPUTS), .device = device),
      tn_zeros(TN_SHAPE(BATCH, WIDTH), .device = device,
               .requires_grad = true),
      tn_zeros(TN_SHAPE(BATCH, WIDTH), .device = device,
               .requires_grad = true),
    };
    is_done = tn_make_graphed_callables(net->parts, PARTS, samples, 1,
                                        net->graphed) == TN_OK;
  }
  return is_done || complain_of_library();
}

static void network_close(network *net)
{
  for (int i = 0; i < PARTS; i++) {
    tn_callable_release(&net->graphed[i]);
    tn_callable_release(&net->parts[i]);
  }
  tn_optim_release(net->optim);
  tn_nn_module_release(net->whole);
}

static tn_tensor *call(network *net, int part, tn_tensor *x)
{
  const tn_callable *graphed = &net->graphed[part];
  return tn_callable_call(graphed->call ? graphed : &net->parts[part], &x, 1);
}

/* Waits for the device: the rest depends on it. */
static tn_tensor *forward(network *net, tn_tensor *x, int *way)
{
  float mean;
  tn_tensor *middle = call(net, FIRST, x);
  tn_tensor *mean_of = tn_mean(middle);
  if (!mean_of || tn_read(mean_of, &mean, sizeof mean) != TN_OK) return NULL;
  *way = mean > 0 ? HIGH : LOW;
  return call(net, *way, middle);
}

/* ---- training ---- */

static uint64_t next_random(uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Points about one of two opposite centres; what is to be learned differs
 * between the two. */
static void fill_batch(uint64_t *state, float *points, float *targets)
{
  float centre = next_random(state) & 1 ? 0.5f : -0.5f;
  for (int row = 0; row < BATCH; row++, points += INPUTS) {
    for (int i = 0; i < INPUTS; i++)
      points[i] = centre + (float)(next_random(state) >> 40) * 0x1p-24f - 0.5f;
    *targets++ = centre > 0 ? points[0] * points[1] : points[2] - points[3];
  }
}

static bool step_take(network *net, const float *points,
                      const float *targets, tn_device device, float *value,
                      int *way)
{
  tn_tensor *x = tn_from_data(points, TN_SHAPE(BATCH, INPUTS),
                              .device = device);
  tn_tensor *y = tn_from_data(targets, TN_SHAPE(BATCH, 1), .device = device);
  tn_optim_zero_grad(net->optim);
  tn_tensor *loss = tn_mse_loss(forward(net, x, way), y);
  return loss && tn_backward(loss) == TN_OK &&
         tn_optim_step(net->optim) == TN_OK &&
         tn_read(loss, value, sizeof *value) == TN_OK;
}

static bool train(network *net, const options *o, tn_device device)
{
  float points[BATCH * INPUTS], targets[BATCH], loss = 0;
  uint64_t state = (uint64_t)o->seed;
  int64_t interval = (o->steps + 19) / 20;
  tn_manual_seed((uint64_t)o->seed);
  for (int64_t step = 1; step <= o->steps; step++) {
    int way = LOW;
    bool is_done = false;
    fill_batch(&state, points, targets);
    tn_with_scope is_done = step_take(net, points, targets, device, &loss,
                                      &way);
    if (!is_done) return complain_of_library();
    if (step == 1 || step % interval == 0 || step == o->steps)
      printf("step %" PRId64 " way %s loss %.9g\n", step,
             way == LOW ? "low" : "high", (double)loss);
  }
  return true;
}

/* ---- the command ---- */

static const char usage[] =
    "usage: partial_capture [--device STRING] [--steps N] [--seed S]"
    " [--eager]\n"
    "Trains a network whose middle depends on the data, its parts as graphs.\n"
    "  --device STRING  where (TENON_DEVICE, or cpu)\n"
    "  --steps N        1 to 1000000 (200)\n"
    "  --seed S         0 or more (1)\n"
    "  --eager          without graphs: prints the same\n";

static bool read_number(const char *name, const char *text, int64_t least,
                        int64_t most, int64_t *value)
{
  char *end = NULL;
  errno = 0;
  long long number = text && *text >= '0' && *text <= '9'
                         ? strtoll(text, &end, 10) : -1;
  if (end && !*end && !errno && number >= least && number <= most) {
    *value = number;
    return true;
  }
  fprintf(stderr, "partial_capture: %s \"%s\": must be a number from %" PRId64
          " to %" PRId64 "\n", name, text ? text : "", least, most);
  return false;
}

static bool options_read(char **at, options *o)
{
  *o = (options){ .steps = 200, .seed = 1 };
  for (; *at; at++) {
    if (!strcmp(*at, "--eager")) {
      o->eager = true;
    } else if (!strcmp(*at, "--device")) {
      o->device = *++at;
      if (!o->device) return complain("--device needs a device string");
    } else if (!strcmp(*at, "--steps")) {
      if (!read_number("--steps", *++at, 1, 1000000, &o->steps)) return false;
    } else if (!strcmp(*at, "--seed")) {
      if (!read_number("--seed", *++at, 0, INT64_MAX, &o->seed)) return false;
    } else {
      fprintf(stderr, "partial_capture: not understood: %s (see --help)\n",
              *at);
      return false;
    }
  }
  return true;
}

static bool run(const options *o, tn_device device)
{
  network net;
  tn_manual_seed((uint64_t)o->seed);
  bool is_done = network_open(&net, device) &&
                 (o->eager || network_capture(&net, device)) &&
                 train(&net, o, device);
  network_close(&net);
  return is_done;
}

int main(int argc, char **argv)
{
  options o;
  if (argc == 2 && !strcmp(argv[1], "--help"))
    return fputs(usage, stdout) == EOF || fflush(stdout) != 0;
  if (!options_read(argv + 1, &o)) return 2;
  tn_device device = o.device ? tn_device_of(o.device) : tn_default_device();
  if (tn_device_equal(device, (tn_device){ -1, -1 }))
    return !complain_of_library();
  bool is_done = run(&o, device);
  if (fflush(stdout) != 0 || ferror(stdout))
    is_done = complain("cannot write to standard output");
  return !is_done;
}
