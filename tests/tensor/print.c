/* Tensors as text: what PyTorch prints, device and dtype in our words. */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device;

/* Without ", device='...'", so that one text serves all devices. */
static char *text_of(tn_tensor *t)
{
  char *text = NULL, *from;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  tn_status status = tn_print(t, file);
  fclose(file);
  if (status != TN_OK) tap_note("%s", tn_error_message());
  if ((from = strstr(text, ", device='"))) {
    char *to = strchr(from + 10, '\'') + 1;
    memmove(from, to, strlen(to) + 1);
  }
  return text;
}

static void check(tn_tensor *t, const char *wanted, const char *what)
{
  char *text = text_of(t);
  tap_is_text(text, wanted, "T2 print: %s", what);
  free(text);
}

static tn_tensor *floats(const float *values, tn_shape shape)
{
  return tn_from_data(values, shape, .device = device);
}
#define FLOATS(shape, ...) floats((const float[]){ __VA_ARGS__ }, shape)

static tn_tensor *counting(int64_t count, tn_shape shape, int64_t step)
{
  int64_t *values = malloc((size_t)count * sizeof *values);
  for (int64_t i = 0; i < count; i++) values[i] = i * step;
  tn_tensor *t = tn_from_data(values, shape, .device = device,
                              .dtype = TN_I64);
  free(values);
  return t;
}

static void test_floats(void)
{
  tn_with_scope {
    check(FLOATS(TN_SHAPE(2, 3), 0, 1, 2, 3, 4, 5),
          "tensor([[0., 1., 2.],\n        [3., 4., 5.]])\n", "whole floats");
    check(FLOATS(TN_SHAPE(3), 1.5f, -2.25f, 1000),
          "tensor([   1.5000,   -2.2500, 1000.0000])\n", "fractions");
    check(FLOATS(TN_SHAPE(2), 1e-5f, 1),
          "tensor([1.0000e-05, 1.0000e+00])\n", "a wide range");
    check(FLOATS(TN_SHAPE(2), 1, 2000),
          "tensor([1.0000e+00, 2.0000e+03])\n", "a wide range of whole ones");
    check(FLOATS(TN_SHAPE(3), NAN, INFINITY, -1),
          "tensor([nan, inf, -1.])\n", "what is not finite");
    check(FLOATS(TN_SCALAR, 3.5f), "tensor(3.5000)\n", "no dimension");
    check(FLOATS(TN_SHAPE(1), 3e9f), "tensor([3.0000e+09])\n", "large");
    check(FLOATS(TN_SHAPE(2), 0, 0.5f), "tensor([0.0000, 0.5000])\n", "a 0");
  }
}

static void test_others(void)
{
  tn_with_scope {
    check(tn_from_data(((const uint8_t[]){ 1, 0 }), TN_SHAPE(2),
                       .device = device, .dtype = TN_BOOL),
          "tensor([ True, False])\n", "bool");
    check(tn_from_data(((const uint8_t[]){ 1, 200 }), TN_SHAPE(2),
                       .device = device, .dtype = TN_U8),
          "tensor([  1, 200], dtype=u8)\n", "a dtype");
    check(counting(8, TN_SHAPE(2, 2, 2), 1),
          "tensor([[[0, 1],\n         [2, 3]],\n\n"
          "        [[4, 5],\n         [6, 7]]])\n", "three dimensions");
    check(tn_empty(TN_SHAPE(0), .device = device), "tensor([])\n", "empty");
    check(tn_empty(TN_SHAPE(2, 0), .device = device),
          "tensor([], size=[2, 0])\n", "empty, with its shape");
    check(tn_requires_grad_(FLOATS(TN_SHAPE(1), 1), true),
          "tensor([1.], requires_grad=True)\n", "with a gradient");
  }
}

static void test_long(void)
{
  tn_with_scope {
    check(counting(2000, TN_SHAPE(2000), 1),
          "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])\n", "a long one");
    check(counting(21, TN_SHAPE(21), 1000),
          "tensor([    0,  1000,  2000,  3000,  4000,  5000,  6000,  7000,"
          "  8000,  9000,\n        10000, 11000, 12000, 13000, 14000, 15000,"
          " 16000, 17000, 18000, 19000,\n        20000])\n", "lines");
    check(counting(1200, TN_SHAPE(40, 30), 1000000000),
          "tensor([[            0,    1000000000,    2000000000,  ...,"
          "\n           27000000000,   28000000000,   29000000000],\n"
          "        [  30000000000,   31000000000,   32000000000,  ...,"
          "\n           57000000000,   58000000000,   59000000000],\n"
          "        [  60000000000,   61000000000,   62000000000,  ...,"
          "\n           87000000000,   88000000000,   89000000000],\n"
          "        ...,\n"
          "        [1110000000000, 1111000000000, 1112000000000,  ...,"
          "\n         1137000000000, 1138000000000, 1139000000000],\n"
          "        [1140000000000, 1141000000000, 1142000000000,  ...,"
          "\n         1167000000000, 1168000000000, 1169000000000],\n"
          "        [1170000000000, 1171000000000, 1172000000000,  ...,"
          "\n         1197000000000, 1198000000000, 1199000000000]])\n",
          "a long table");
  }
}

static void test_refusals(void)
{
  tap_is_int(tn_print(NULL, stdout), TN_INVALID_ARGUMENT, "T2 no tensor: %s",
             tn_error_message());
}

int main(void)
{
  device = test_device();
  test_floats();
  test_others();
  test_long();
  test_refusals();
  return tap_done();
}
