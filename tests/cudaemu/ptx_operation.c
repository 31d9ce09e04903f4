#include "tests/cudaemu/ptx_operation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/tap.h"

enum { EDGES = 24, ROUNDS = 40 };

typedef struct operand {
  char type[8];
  unsigned size; /* bytes */
} operand;

static unsigned size_of(const char *type)
{
  if (strcmp(type, "f16x2") == 0 || strcmp(type, "bf16x2") == 0)
    return 4;
  return (unsigned)atoi(type + strcspn(type, "0123456789")) / 8;
}

static unsigned cut(const char *types, operand *operands)
{
  unsigned count = 0;
  int used;
  while (count < 5 &&
         sscanf(types, "%7s%n", operands[count].type, &used) == 1) {
    operands[count].size = size_of(operands[count].type);
    types += used;
    count++;
  }
  return count;
}

static const uint64_t whole_edges[EDGES] = {
  0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 255, 0x7fff, 0x8000,
  0xffff, 0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX,
  UINT64_C(1) << 63, UINT64_MAX
};

static uint64_t float_edge(unsigned size, int i)
{
  static const uint32_t single[EDGES] = {
    0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x00800000, 0x3f800000,
    0xbf800000, 0x3f800001, 0x3f7fffff, 0x7f7fffff, 0xff7fffff, 0x7f800000,
    0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0x3f000000, 0x40200000,
    0xc0600000, 0x4f000000, 0xcf000000, 0x5f800000, 0x33800000
  };
  static const uint64_t wide[EDGES] = {
    0, 0x8000000000000000, 1, 0x8000000000000001, 0xfffffffffffff,
    0x10000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x3ff0000000000001, 0x3fefffffffffffff, 0x7fefffffffffffff,
    0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
    0x7ff8000000000000, 0xfff8123400000000, 0x7ff0000000000001,
    0x3fe0000000000000, 0x4004000000000000, 0xc00c000000000000,
    0x41dfffffffc00000, 0xc1e0000000000000, 0x43e0000000000000,
    0x3ca0000000000000
  };
  static const uint16_t half[EDGES] = {
    0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3c01, 0x3bff,
    0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x3800, 0x4100,
    0xc300, 0x7800, 0xf800, 0x0c00, 0x1400
  };
  return size == 4 ? single[i] : size == 8 ? wide[i] : half[i];
}

/* Value number i of a kind: edges, then random ones, floats near 1 among
 * them. */
static uint64_t value_of(const operand *o, unsigned i, uint64_t *seed)
{
  bool is_float = strchr(o->type, 'f') != NULL;
  uint64_t random = ptx_device_random(seed);
  uint64_t mask = UINT64_MAX >> (64 - 8 * o->size);
  if (i < EDGES)
    return (is_float ? float_edge(o->size, (int)i) : whole_edges[i]) & mask;
  if (is_float && random >> 60 < 8) {
    if (o->size == 4)
      return (random & 0x83ffffff) + 0x3d000000;
    if (o->size == 8)
      return (random & 0x807fffffffffffff) + 0x3fa0000000000000;
  }
  if (!is_float && random >> 61 == 0)
    return random & 0x3f;
  return random & mask;
}

/* The kernel: every thread loads its operands, computes, stores. */
static char *make_text(const ptx_operation *o, const operand *operands,
                       unsigned count)
{
  size_t size = 8192;
  char *text = malloc(size);
  if (!text)
    return NULL;
  int at = snprintf(text, size, ".version 7.8\n.target sm_90\n"
                                ".address_size 64\n");
  at += snprintf(text + at, size - (size_t)at,
                 ".visible .entry f(.param .u64 d, .param .u64 a, "
                 ".param .u64 b, .param .u64 c, .param .u64 e)\n{\n"
                 ".reg .b64 %%p<8>;\n.reg .b32 %%i, %%t, %%n;\n");
  for (unsigned i = 0; i < count; i++)
    at += snprintf(text + at, size - (size_t)at, ".reg .b%u %%v%u;\n",
                   8 * operands[i].size, i);
  at += snprintf(text + at, size - (size_t)at,
                 "mov.u32 %%i, %%ctaid.x;\nmov.u32 %%n, %%ntid.x;\n"
                 "mov.u32 %%t, %%tid.x;\nmad.lo.u32 %%i, %%i, %%n, %%t;\n");
  for (unsigned i = 0; i < count; i++) {
    at += snprintf(text + at, size - (size_t)at,
                   "ld.param.u64 %%p%u, [%c];\n"
                   "mad.wide.u32 %%p%u, %%i, %u, %%p%u;\n", i,
                   "dabce"[i], i, operands[i].size, i);
    if (i)
      at += snprintf(text + at, size - (size_t)at,
                     "ld.global.b%u %%v%u, [%%p%u];\n", 8 * operands[i].size,
                     i, i);
  }
  at += snprintf(text + at, size - (size_t)at, "%s", o->name);
  for (unsigned i = 0; i < count && !strchr(o->name, '%'); i++)
    at += snprintf(text + at, size - (size_t)at, "%s%%v%u", i ? ", " : " ", i);
  snprintf(text + at, size - (size_t)at,
           ";\nst.global.b%u [%%p0], %%v0;\nret;\n}\n", 8 * operands[0].size);
  return text;
}

static bool is_near(uint64_t got, uint64_t want, double near)
{
  float x, y;
  uint32_t low = (uint32_t)got;
  memcpy(&x, &low, sizeof x);
  low = (uint32_t)want;
  memcpy(&y, &low, sizeof y);
  return fabs((double)x - (double)y) <= near * fmax(fabs((double)y), 0x1p-126);
}

static void check_results(const ptx_operation *o, const operand *operands,
                          unsigned count, void *const *host, unsigned total)
{
  for (unsigned i = 0; i < total; i++) {
    uint64_t v[4] = { 0, 0, 0, 0 };
    for (unsigned k = 0; k < count && k < 4; k++)
      memcpy(&v[k], (char *)host[k] + (size_t)i * operands[k].size,
             operands[k].size);
    uint64_t want = o->meaning(v[1], v[2], v[3]);
    if (v[0] == want || (o->near > 0 && is_near(v[0], want, o->near)))
      continue;
    tap_ok(false, "%s", o->name);
    tap_note("0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " gives 0x%" PRIx64
             ", wanted 0x%" PRIx64, v[1], v[2], v[3], v[0], want);
    return;
  }
  tap_ok(true, "%s: %u operands give what C says", o->name, total);
}

static void check(const ptx_operation *o)
{
  operand operands[5];
  unsigned count = cut(o->types, operands);
  unsigned total = (EDGES * EDGES + EDGES * ROUNDS + 127) / 128 * 128;
  char *text = make_text(o, operands, count);
  ptx_device *device = ptx_device_make();
  ptx_module *module = ptx_device_load(device, text);
  uint64_t slots[5] = { 0 }, seed = 20260101;
  void *host[5];
  for (unsigned k = 0; k < count; k++)
    slots[k] = ptx_device_take(device, (size_t)total * operands[k].size,
                               &host[k]);
  for (unsigned i = 0; i < total; i++) {
    /* All pairs of edges first; the third operand walks through them. */
    bool edges = i < EDGES * EDGES;
    unsigned at[5] = { 0, edges ? i % EDGES : EDGES,
                       edges ? i / EDGES : i % (2 * EDGES),
                       i * 7 % (EDGES + 8), i % 5 };
    for (unsigned k = 1; k < count; k++) {
      uint64_t value = value_of(&operands[k], at[k], &seed);
      memcpy((char *)host[k] + (size_t)i * operands[k].size, &value,
             operands[k].size);
    }
  }
  ptx_device_launch launch = {
    .entry = "f", .grid = total / 128, .block = 128, .slots = slots
  };
  if (!ptx_device_run(device, module, &launch)) {
    tap_ok(false, "%s runs", o->name);
    tap_note("%s", ptx_device_fault(device)->text);
  } else
    check_results(o, operands, count, host, total);
  ptx_module_free(module);
  ptx_device_free(device);
  free(text);
}

void ptx_operation_check(const ptx_operation *operations, size_t count)
{
  for (size_t i = 0; i < count; i++)
    check(&operations[i]);
}
