#include "lab.h"

#include <stddef.h>
#include <string.h>

static bool kernels_get(lab *l)
{
  tn_module *module = tn_module_builtin(l->device, "elementwise");
  l->fill = tn_kernel_get(module, "fill_f32");
  l->add = tn_kernel_get(module, "add_f32");
  tn_module_release(module);
  return l->fill && l->add;
}

static bool memory_get(lab *l)
{
  l->x = tn_malloc(l->device, BYTES);
  l->y = tn_malloc(l->device, BYTES);
  l->sum = tn_malloc(l->device, BYTES);
  l->out = tn_malloc_pinned(BYTES);
  for (int i = 0; i < 2; i++) l->in[i] = tn_malloc_pinned(BYTES);
  return l->x && l->y && l->sum && l->out && l->in[0] && l->in[1];
}

bool lab_open(lab *l, tn_device device)
{
  memset(l, 0, sizeof *l);
  /* Pinned memory is to be that of this device. */
  if (tn_set_default_device(device) != TN_OK) return false;
  l->one = tn_stream_new(device, 0);
  l->two = tn_stream_new(device, 0);
  l->device = tn_stream_device(l->one); /* with its ordinal */
  for (int i = 0; i < 2; i++) l->done[i] = tn_event_new(0);
  return l->one && l->two && l->done[0] && l->done[1] && kernels_get(l) &&
         memory_get(l);
}

void lab_close(lab *l)
{
  tn_free(l->x);
  tn_free(l->y);
  tn_free(l->sum);
  tn_free(l->out);
  for (int i = 0; i < 2; i++) {
    tn_free(l->in[i]);
    tn_event_release(l->done[i]);
  }
  tn_kernel_release(l->fill);
  tn_kernel_release(l->add);
  tn_stream_release(l->one);
  tn_stream_release(l->two);
}

bool lab_fill(lab *l, tn_stream *stream, float *x, float value)
{
  tn_status status = TN_INVALID_ARGUMENT;
  tn_with_stream(stream)
    status = tn_launch(l->fill, COUNT,
                       TN_ARGS(TN_ARG_PTR(x), TN_ARG_F32(value),
                               TN_ARG_I64(COUNT)));
  return status == TN_OK;
}

bool lab_add(lab *l, tn_stream *stream, float *y, const float *a,
             const float *b)
{
  tn_status status = TN_INVALID_ARGUMENT;
  tn_with_stream(stream)
    status = tn_launch(l->add, COUNT,
                       TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(a), TN_ARG_PTR(b),
                               TN_ARG_I64(COUNT)));
  return status == TN_OK;
}

static const tn_device host;

bool lab_send(lab *l, tn_stream *stream, float *to, const float *pinned)
{
  tn_status status = TN_INVALID_ARGUMENT;
  tn_with_stream(stream)
    status = tn_copy(to, l->device, pinned, host, BYTES, true);
  return status == TN_OK;
}

bool lab_fetch(lab *l, tn_stream *stream, float *pinned, const float *from)
{
  tn_status status = TN_INVALID_ARGUMENT;
  tn_with_stream(stream)
    status = tn_copy(pinned, host, from, l->device, BYTES, true);
  return status == TN_OK;
}

/* Not `!=` alone: what was never written may be NaN. */
void lab_expect_host(lab *l, const float *values, float wanted)
{
  for (int i = 0; i < COUNT && !l->is_wrong; i++) {
    if (values[i] == wanted) continue;
    l->is_wrong = true;
    l->wanted = wanted;
    l->got = values[i];
  }
}

bool lab_expect(lab *l, tn_device device, const float *x, float wanted)
{
  float values[COUNT];
  if (tn_copy(values, host, x, device, BYTES, false) != TN_OK) return false;
  lab_expect_host(l, values, wanted);
  return true;
}
