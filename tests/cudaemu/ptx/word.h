/* The dotted words of PTX: types and modifiers. */
#ifndef TN_TESTS_CUDAEMU_WORD_H
#define TN_TESTS_CUDAEMU_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ptx_class {
  PTX_CLASS_NONE,
  PTX_CLASS_PRED,
  PTX_CLASS_BITS,
  PTX_CLASS_UNSIGNED,
  PTX_CLASS_SIGNED,
  PTX_CLASS_FLOAT,
} ptx_class;

/* X(name, bytes of memory, class) */
#define PTX_TYPES(X)       \
  X(pred, 0, PRED)         \
  X(b8, 1, BITS)           \
  X(b16, 2, BITS)          \
  X(b32, 4, BITS)          \
  X(b64, 8, BITS)          \
  X(u8, 1, UNSIGNED)       \
  X(u16, 2, UNSIGNED)      \
  X(u32, 4, UNSIGNED)      \
  X(u64, 8, UNSIGNED)      \
  X(s8, 1, SIGNED)         \
  X(s16, 2, SIGNED)        \
  X(s32, 4, SIGNED)        \
  X(s64, 8, SIGNED)        \
  X(f16, 2, FLOAT)         \
  X(f16x2, 4, FLOAT)       \
  X(bf16, 2, FLOAT)        \
  X(bf16x2, 4, FLOAT)      \
  X(f32, 4, FLOAT)         \
  X(f64, 8, FLOAT)

typedef enum ptx_type {
  PTX_NO_TYPE,
#define X(name, bytes, class) PTX_##name,
  PTX_TYPES(X)
#undef X
  PTX_TYPE_COUNT
} ptx_type;

/* Modifiers that choose between implementations come first: PTX_SELECTING of
 * them, so that a set of these fits 64 bits. */
#define PTX_SELECTING_WORDS(X)                                              \
  X(rz, "rz") X(rm, "rm") X(rp, "rp")                                       \
  X(rni, "rni") X(rzi, "rzi") X(rmi, "rmi") X(rpi, "rpi")                   \
  X(hi, "hi") X(wide, "wide") X(nan_wins, "NaN")                            \
  X(approx, "approx") X(full, "full") X(l, "l") X(r, "r")                   \
  X(wrap, "wrap") X(shiftamt, "shiftamt")                                   \
  X(finite, "finite") X(infinite, "infinite") X(number, "number")           \
  X(notanumber, "notanumber") X(normal, "normal") X(subnormal, "subnormal") \
  X(eq, "eq") X(ne, "ne") X(lt, "lt") X(le, "le") X(gt, "gt") X(ge, "ge")   \
  X(equ, "equ") X(neu, "neu") X(ltu, "ltu") X(leu, "leu") X(gtu, "gtu")     \
  X(geu, "geu") X(num, "num") X(nan, "nan") X(ls, "ls") X(hs, "hs")         \
  X(sat, "sat") X(up, "up") X(down, "down") X(bfly, "bfly") X(idx, "idx")   \
  X(all, "all") X(any, "any") X(uni, "uni") X(ballot, "ballot")             \
  X(add, "add") X(min, "min") X(max, "max") X(inc, "inc") X(dec, "dec")     \
  X(and, "and") X(or, "or") X(xor, "xor") X(exch, "exch") X(cas, "cas")     \
  X(popc, "popc")

#define PTX_OTHER_WORDS(X)                                                  \
  X(rn, "rn") X(ftz, "ftz") X(cc, "cc") X(lo, "lo") X(to, "to")             \
  X(clamp, "clamp") X(sync, "sync") X(aligned, "aligned")                   \
  X(arrive, "arrive") X(red, "red") X(warp, "warp") X(noftz, "noftz")       \
  X(v2, "v2") X(v4, "v4") X(global, "global") X(shared, "shared")           \
  X(shared_cta, "shared::cta") X(local, "local") X(param, "param")          \
  X(param_entry, "param::entry") X(param_func, "param::func")               \
  X(constant, "const") X(nc, "nc") X(volatile, "volatile") X(weak, "weak")  \
  X(relaxed, "relaxed") X(acquire, "acquire") X(release, "release")         \
  X(acq_rel, "acq_rel") X(sc, "sc") X(cta, "cta") X(gpu, "gpu")             \
  X(sys, "sys") X(gl, "gl") X(ca, "ca") X(cg, "cg") X(cs, "cs")             \
  X(lu, "lu") X(cv, "cv") X(wb, "wb") X(wt, "wt") X(L1, "L1") X(L2, "L2")   \
  X(L1_normal, "L1::evict_normal") X(L1_first, "L1::evict_first")           \
  X(L1_last, "L1::evict_last") X(L1_unchanged, "L1::evict_unchanged")       \
  X(L1_none, "L1::no_allocate") X(L2_64, "L2::64B") X(L2_128, "L2::128B")   \
  X(L2_256, "L2::256B")

typedef enum ptx_word {
#define X(id, text) PTX_WORD_##id,
  PTX_SELECTING_WORDS(X)
  PTX_OTHER_WORDS(X)
#undef X
  PTX_WORD_COUNT
} ptx_word;

#define PTX_BIT(id) (UINT64_C(1) << PTX_WORD_##id)
#define PTX_SELECTING_SET (PTX_BIT(popc) | (PTX_BIT(popc) - 1))

typedef struct ptx_word_set {
  uint64_t bits[2];
} ptx_word_set;

static inline bool ptx_word_in(const ptx_word_set *set, ptx_word word)
{
  return set->bits[word / 64] >> (word % 64) & 1;
}

#define PTX_HAS(set, id) ptx_word_in((set), PTX_WORD_##id)

/* The words of text[0, length), without the dot; NO_TYPE or WORD_COUNT when
 * there is no such. */
ptx_type ptx_type_find(const char *text, size_t length);
ptx_word ptx_word_find(const char *text, size_t length);

const char *ptx_type_name(ptx_type type);
unsigned ptx_type_bytes(ptx_type type);
ptx_class ptx_type_class(ptx_type type);

#endif
