/* Arithmetic on 32 lanes at once.
 *
 * Registers are arrays of 32 elements of 2, 4 or 8 bytes.  These functions
 * compute all lanes, whether or not they are active; the caller keeps what it
 * wants.  A result may lie where an operand does. */
#ifndef TN_TESTS_CUDAEMU_LANES_H
#define TN_TESTS_CUDAEMU_LANES_H

#include "tests/cudaemu/ptx/form.h"

typedef void ptx_lanes(void *d, const void *a, const void *b, const void *c,
                       const void *e);
/* Bit l: whether lane l's comparison holds. */
typedef uint32_t ptx_compare(const void *a, const void *b);

/* Registers of a conversion hold 8-bit values in 2 bytes. */
typedef struct ptx_convert {
  ptx_lanes *quick; /* does it all, when not NULL */
  ptx_type to, from;
  ptx_word round; /* rn rz rm rp, rni rzi rmi rpi, or PTX_WORD_COUNT */
  bool flush, saturate;
} ptx_convert;

/* One implementation: of op on these types when the selecting words are
 * these. */
typedef struct ptx_lanes_entry {
  ptx_op op;
  ptx_type type, second;
  uint64_t words;
  ptx_lanes *lanes;
} ptx_lanes_entry;

typedef struct ptx_lanes_table {
  const ptx_lanes_entry *entries;
  size_t count;
} ptx_lanes_table;

extern const ptx_lanes_table ptx_integer_lanes, ptx_float_lanes,
  ptx_half_lanes, ptx_round_lanes;

/* What implements a form of action LANES or FLOAT, or NULL. */
ptx_lanes *ptx_lanes_find(const ptx_mnemonic *name);
/* The same with better instructions, where the machine has them. */
ptx_lanes *ptx_lanes_faster(ptx_lanes *lanes);
ptx_lanes *ptx_lanes_seed(const ptx_mnemonic *name);
ptx_compare *ptx_compare_find(ptx_type type, ptx_word word);
void ptx_convert_plan(const ptx_mnemonic *name, ptx_convert *plan);
void ptx_convert_run(const ptx_convert *plan, void *d, const void *a);

/* Flushes subnormal values of a float type to zero of the same sign. */
void ptx_lanes_flush(ptx_type type, void *to, const void *from);
/* Clamps to [0, 1], NaN becoming 0. */
void ptx_lanes_saturate(ptx_type type, void *values);

/* Directed rounding of what is converted; round is rz, rm or rp. */
float ptx_round_to_f32(double value, ptx_word round);
float ptx_round_signed_to_f32(int64_t value, ptx_word round);
float ptx_round_unsigned_to_f32(uint64_t value, ptx_word round);
double ptx_round_signed_to_f64(int64_t value, ptx_word round);
double ptx_round_unsigned_to_f64(uint64_t value, ptx_word round);

/* Half precision. */
float ptx_half_to_float(uint16_t bits);
float ptx_bfloat_to_float(uint16_t bits);
/* round is rn, rz, rm or rp */
uint16_t ptx_half_from_double(double value, ptx_word round);
uint16_t ptx_bfloat_from_double(double value, ptx_word round);

#endif
