/* A module as it is executed. */
#ifndef TN_TESTS_CUDAEMU_CODE_H
#define TN_TESTS_CUDAEMU_CODE_H

#include "tests/cudaemu/ptx/arena.h"
#include "tests/cudaemu/ptx/form.h"
#include "tests/cudaemu/ptx/lanes.h"
#include "tests/cudaemu/ptx/ptx.h"

enum { PTX_LANES = 32 };

/* Operands lie in four banks of memory.  A register of n bytes takes n for
 * each of 32 lanes; a predicate is one word with a bit for each lane. */
typedef uint32_t ptx_operand;
typedef enum ptx_bank {
  PTX_BANK_ENTRY,    /* registers of entries */
  PTX_BANK_FUNCTION, /* registers of device functions, each its own */
  PTX_BANK_CONSTANT, /* numbers, repeated for each lane */
  PTX_BANK_SPECIAL,  /* %tid.x and the like, true, false, a place to drop */
} ptx_bank;
#define PTX_NONE UINT32_MAX
#define PTX_BANK_BYTES (UINT32_C(1) << 30)

static inline ptx_operand ptx_operand_at(ptx_bank bank, uint32_t offset)
{
  return (uint32_t)bank << 30 | offset;
}

/* Special registers with a place in the special bank: 32 bits each. */
#define PTX_SPECIALS(X)                                                \
  X(tid_x, "%tid.x") X(tid_y, "%tid.y") X(tid_z, "%tid.z")             \
  X(ntid_x, "%ntid.x") X(ntid_y, "%ntid.y") X(ntid_z, "%ntid.z")       \
  X(ctaid_x, "%ctaid.x") X(ctaid_y, "%ctaid.y") X(ctaid_z, "%ctaid.z") \
  X(nctaid_x, "%nctaid.x") X(nctaid_y, "%nctaid.y")                    \
  X(nctaid_z, "%nctaid.z") X(laneid, "%laneid") X(warpid, "%warpid")   \
  X(nwarpid, "%nwarpid") X(smid, "%smid") X(nsmid, "%nsmid")           \
  X(lanemask_eq, "%lanemask_eq") X(lanemask_le, "%lanemask_le")        \
  X(lanemask_lt, "%lanemask_lt") X(lanemask_ge, "%lanemask_ge")        \
  X(lanemask_gt, "%lanemask_gt")                                       \
  X(dynamic_smem_size, "%dynamic_smem_size")                           \
  X(total_smem_size, "%total_smem_size")

typedef enum ptx_special {
#define X(id, text) PTX_SPECIAL_##id,
  PTX_SPECIALS(X)
#undef X
  PTX_SPECIAL_COUNT
} ptx_special;

enum {
  PTX_DROP_OFFSET = PTX_SPECIAL_COUNT * 4 * PTX_LANES, /* 256 bytes */
  PTX_FALSE_OFFSET = PTX_DROP_OFFSET + 256,
  PTX_TRUE_OFFSET = PTX_FALSE_OFFSET + 4,
  PTX_SPECIAL_BYTES = PTX_TRUE_OFFSET + 60,
};

typedef enum ptx_space {
  PTX_SPACE_GENERIC,
  PTX_SPACE_GLOBAL, /* and const, which lies in global memory */
  PTX_SPACE_SHARED,
  PTX_SPACE_LOCAL, /* and .param of functions and calls */
  PTX_SPACE_PARAM, /* of the entry */
} ptx_space;

/* Generic addresses of the windows; device memory lies far below them. */
#define PTX_SHARED_WINDOW (UINT64_C(1) << 56)
#define PTX_LOCAL_WINDOW (UINT64_C(2) << 56)
#define PTX_PARAM_WINDOW (UINT64_C(3) << 56)

/* Shared addresses: three areas far from each other, so that running out of
 * one never ends in another. */
enum {
  PTX_SHARED_AREA = 1 << 18,
  PTX_SHARED_ENTRY = 0,
  PTX_SHARED_MODULE = PTX_SHARED_AREA,
  PTX_SHARED_DYNAMIC = 2 * PTX_SHARED_AREA,
  /* Local addresses: the entry's from 0, the functions' from here. */
  PTX_LOCAL_FUNCTION = 1 << 20,
  PTX_LOCAL_LIMIT = 512 << 10,
  PTX_CALL_DEPTH = 32,
};

/* What a call copies between caller's and callee's .param variables, which
 * both lie in local memory. */
typedef struct ptx_transfer {
  uint32_t from, to, size;
} ptx_transfer;

typedef struct ptx_call {
  struct ptx_function *callee;
  ptx_transfer *arguments, *results;
  size_t argument_count, result_count;
  unsigned line;
} ptx_call;

typedef struct ptx_table {
  uint32_t *targets;
  size_t count, capacity;
  bool moved; /* targets count from the module's begin */
} ptx_table;

typedef struct ptx_insn {
  union {
    ptx_lanes *lanes;
    ptx_compare *compare;
    const ptx_convert *convert;
    ptx_call *call;
    ptx_table *table;
  } how;
  ptx_operand operand[6];
  ptx_operand guard; /* or PTX_NONE */
  uint32_t target;   /* of a branch; the operand number of memory's address */
  int64_t offset;    /* added to an address; a number */
  unsigned line;
  uint8_t action;    /* ptx_action */
  uint8_t size;      /* bytes of a register written, or of an element */
  uint8_t sizes[2];  /* bytes of the registers of convert: to, from */
  uint8_t count;     /* elements of a vector */
  uint8_t space;     /* ptx_space */
  uint8_t type;      /* ptx_type */
  uint8_t word;      /* ptx_word that selects among an action's kinds */
  uint8_t inverted;  /* bit i: operand i is a negated predicate */
  bool guard_inverted, flush, saturate, carry_out, strong, wide_address;
  const ptx_mnemonic *name;
} ptx_insn;

typedef struct ptx_formal {
  const char *name;
  uint32_t offset, size, align;
} ptx_formal;

typedef struct ptx_function {
  ptx_entry entry; /* of device functions only the name */
  bool is_entry, defined;
  unsigned line; /* where it was declared */
  ptx_formal *parameters, *results;
  size_t parameter_count, result_count, parameter_capacity, result_capacity;
  ptx_insn *code;
  size_t code_count, code_capacity;
  uint32_t register_bytes, local_bytes, shared_bytes; /* entries */
  uint32_t begin; /* in the module's code */
  ptx_call **calls;
  size_t call_count, call_capacity;
  int visit; /* while ordering: 0 not seen, 1 being seen, 2 placed */
} ptx_function;

/* Bytes that hold the address of a variable, written when it is placed. */
typedef struct ptx_relocation {
  uint32_t variable;
  bool constant; /* in the constant bank, all lanes; else in an image */
  uint64_t offset;
  uint32_t holder; /* the image's variable */
  int64_t addend;
} ptx_relocation;

struct ptx_module {
  ptx_arena arena;
  unsigned version, target;
  ptx_function **functions;
  size_t function_count, function_capacity;
  const ptx_entry **entries;
  size_t entry_count;
  ptx_variable **variables;
  size_t variable_count, variable_capacity;
  ptx_relocation *relocations;
  size_t relocation_count, relocation_capacity;
  unsigned char *constants; /* the constant bank */
  size_t constant_bytes, constant_capacity;
  ptx_insn *code;
  size_t code_count;
  uint32_t function_register_bytes, function_local_bytes, shared_bytes;
};

#endif
