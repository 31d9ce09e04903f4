/* From the text of an instruction's name, "ld.global.v4.f32", to its form. */
#ifndef TN_TESTS_CUDAEMU_FORM_H
#define TN_TESTS_CUDAEMU_FORM_H

#include "tests/cudaemu/ptx/word.h"

#define PTX_OPS(X)                                                         \
  X(add) X(addc) X(sub) X(subc) X(mul) X(mul24) X(mad) X(madc) X(mad24)    \
  X(sad) X(div) X(rem) X(abs) X(neg) X(min) X(max) X(popc) X(clz)          \
  X(bfind) X(brev) X(bfe) X(bfi) X(dp4a) X(dp2a) X(and) X(or) X(xor)       \
  X(not) X(cnot) X(lop3) X(shl) X(shr) X(shf) X(prmt) X(fma) X(rcp)        \
  X(sqrt) X(rsqrt) X(sin) X(cos) X(lg2) X(ex2) X(tanh) X(copysign)         \
  X(testp) X(setp) X(set) X(selp) X(slct) X(mov) X(cvt) X(cvta)            \
  X(isspacep) X(ld) X(st) X(atom) X(red) X(prefetch) X(membar) X(fence)    \
  X(shfl) X(vote) X(match) X(redux) X(activemask) X(bar) X(barrier)        \
  X(bra) X(brx) X(call) X(ret) X(exit) X(trap) X(nanosleep)

typedef enum ptx_op {
#define X(name) PTX_OP_##name,
  PTX_OPS(X)
#undef X
  PTX_OP_COUNT
} ptx_op;

/* What executes an instruction. */
typedef enum ptx_action {
  PTX_DO_LANES,    /* a function over lanes */
  PTX_DO_FLOAT,    /* the same, perhaps flushed or saturated */
  PTX_DO_CARRY,
  PTX_DO_LOGIC,    /* on predicates */
  PTX_DO_LOOKUP,   /* lop3 */
  PTX_DO_TEST,
  PTX_DO_COMPARE,
  PTX_DO_SET,
  PTX_DO_SELECT,
  PTX_DO_MOVE,
  PTX_DO_MOVE_PRED,
  PTX_DO_PACK,
  PTX_DO_UNPACK,
  PTX_DO_READ_CLOCK,
  PTX_DO_CONVERT,
  PTX_DO_PACK_HALVES,
  PTX_DO_ADDRESS,
  PTX_DO_IS_SPACE,
  PTX_DO_LOAD,
  PTX_DO_STORE,
  PTX_DO_ATOMIC,
  PTX_DO_REDUCE,
  PTX_DO_NOTHING,
  PTX_DO_SHUFFLE,
  PTX_DO_VOTE,
  PTX_DO_MATCH,
  PTX_DO_REDUX,
  PTX_DO_ACTIVE_MASK,
  PTX_DO_WARP_BARRIER,
  PTX_DO_BARRIER,
  PTX_DO_BRANCH,
  PTX_DO_BRANCH_TABLE,
  PTX_DO_CALL,
  PTX_DO_RETURN,
  PTX_DO_EXIT,
  PTX_DO_TRAP,
} ptx_action;

typedef struct ptx_form {
  ptx_op op;
  const char *pattern, *operands;
  ptx_action action;
  unsigned version, target;
} ptx_form;

/* A name that matched a form. */
typedef struct ptx_mnemonic {
  const char *text; /* NUL-terminated; its owner is who asked */
  const ptx_form *form;
  ptx_word_set words;
  ptx_type types[3];
} ptx_mnemonic;

/* Finds the form of text ("add.rn.f32") at this version and target (times
 * 10).  False with one line of why in reason. */
bool ptx_mnemonic_find(const char *text, unsigned version, unsigned target,
                       ptx_mnemonic *found, char *reason, size_t reason_size);

/* All forms, for tests. */
extern const ptx_form ptx_forms[];
extern const size_t ptx_form_count;

const char *ptx_op_name(ptx_op op);

#endif
