/* The parser's insides.
 *
 * The first error ends parsing: ptx_parse_fail writes it down and jumps back
 * to ptx_module_load, which frees the arena that holds everything.  One token
 * is looked ahead.  Nothing recurses. */
#ifndef TN_TESTS_CUDAEMU_PARSE_H
#define TN_TESTS_CUDAEMU_PARSE_H

#include <setjmp.h>
#include <stdnoreturn.h>

#include "tests/cudaemu/ptx/code.h"
#include "tests/cudaemu/ptx/lexer.h"

typedef enum ptx_symbol_kind {
  PTX_SYMBOL_VARIABLE, /* .global or .const */
  PTX_SYMBOL_SHARED,
  PTX_SYMBOL_LOCAL, /* .local, or .param of functions and calls */
  PTX_SYMBOL_PARAM, /* of the entry */
  PTX_SYMBOL_FUNCTION,
} ptx_symbol_kind;

typedef struct ptx_symbol {
  ptx_symbol_kind kind;
  const char *name;
  size_t length;
  uint64_t address, size; /* of variables the address is their index */
  bool param;             /* a .param that lies in local memory */
  ptx_function *function;
} ptx_symbol;

/* One register, or a family %r<count>. */
typedef struct ptx_register {
  const char *name;
  size_t length;
  ptx_type type;
  ptx_operand first;
  uint32_t count; /* 0 for a single one */
} ptx_register;

typedef struct ptx_scope {
  uint32_t number, parent;
  size_t registers, locals; /* how many there were outside */
} ptx_scope;

/* A use of a label, to be filled in at the function's end. */
typedef struct ptx_label_use {
  const char *name;
  size_t length;
  unsigned line;
  uint32_t scope;
  size_t insn;      /* whose target it is, or SIZE_MAX */
  uint32_t *target; /* an element of a table, or NULL */
  bool table;       /* the label names a table */
} ptx_label_use;

enum { PTX_SCOPE_DEPTH = 64 };

typedef struct ptx_parser {
  ptx_lexer lexer;
  ptx_token token; /* the one looked at */
  ptx_module *module;
  ptx_arena *arena;
  const ptx_limits *limits;
  char *log;
  size_t log_size;
  ptx_status status;
  jmp_buf *failed;
  ptx_map globals, mnemonics, constants;
  /* The function being read */
  ptx_function *function;
  ptx_register *registers;
  size_t register_count, register_capacity;
  ptx_symbol **locals;
  size_t local_count, local_capacity;
  ptx_scope scopes[PTX_SCOPE_DEPTH];
  unsigned depth;
  uint32_t *parents; /* of scopes by number */
  size_t scope_count, scope_capacity;
  ptx_map labels, tables;
  ptx_label_use *uses;
  size_t use_count, use_capacity;
} ptx_parser;

/* Reports "line N: ..." and leaves. */
noreturn void ptx_parse_fail(ptx_parser *p, unsigned line, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));
/* ... that the token in hand is not what was wanted. */
noreturn void ptx_parse_unexpected(ptx_parser *p, const char *wanted);

/* Tokens: look, take when it is there, insist. */
void ptx_parse_next(ptx_parser *p);
bool ptx_parse_at(const ptx_parser *p, const char *text);
bool ptx_parse_take(ptx_parser *p, const char *text);
void ptx_parse_expect(ptx_parser *p, const char *text);
ptx_token ptx_parse_word(ptx_parser *p, const char *wanted);
/* A whole number from 0 to limit. */
uint64_t ptx_parse_count(ptx_parser *p, uint64_t limit, const char *what);
/* A number token with its sign as the bits of a type. */
uint64_t ptx_parse_bits(ptx_parser *p, ptx_type type);
/* ".b32" and the like, or NO_TYPE */
ptx_type ptx_parse_type_at(const ptx_parser *p);

/* Directives; each begins after the word that names it. */
void ptx_parse_file(ptx_parser *p);
void ptx_parse_variable(ptx_parser *p, const char *space, bool external);
void ptx_parse_function(ptx_parser *p, bool is_entry);
void ptx_parse_body(ptx_parser *p);
void ptx_parse_location(ptx_parser *p);
void ptx_parse_instruction(ptx_parser *p);
void ptx_parse_call(ptx_parser *p, ptx_insn *insn);
void ptx_parse_move(ptx_parser *p, ptx_insn *insn);

/* A variable's or parameter's type, name and size: ".align 4 .b8 name[16]".
 * elements is 0 for name[]. */
typedef struct ptx_declaration {
  ptx_token name;
  ptx_type type;
  uint64_t align, elements, size;
} ptx_declaration;
ptx_declaration ptx_parse_declaration(ptx_parser *p);

/* Operands */
typedef struct ptx_source {
  ptx_operand operand;
  unsigned size; /* bytes of the register */
  bool inverted;
} ptx_source;
ptx_source ptx_parse_target(ptx_parser *p, ptx_type type, bool relaxed);
ptx_source ptx_parse_source(ptx_parser *p, ptx_type type, bool relaxed);
void ptx_parse_address(ptx_parser *p, ptx_insn *insn);
bool ptx_parse_at_predicate(const ptx_parser *p);
ptx_symbol *ptx_parse_symbol(ptx_parser *p, const ptx_token *name);
ptx_operand ptx_parse_constant(ptx_parser *p, uint64_t bits, unsigned size);
ptx_operand ptx_parse_relocated(ptx_parser *p, uint32_t variable,
                                int64_t addend);
/* The addend of "symbol+4", or 0. */
int64_t ptx_parse_addend(ptx_parser *p);
const ptx_register *ptx_parse_register(const ptx_parser *p,
                                       const ptx_token *name,
                                       ptx_operand *operand);

/* Labels of the function being read */
void ptx_parse_label(ptx_parser *p, const ptx_token *name);
void ptx_parse_label_use(ptx_parser *p, const ptx_token *name, size_t insn,
                         uint32_t *target, bool table);
void ptx_parse_table(ptx_parser *p, const ptx_token *name);
void ptx_parse_labels_resolve(ptx_parser *p);

ptx_insn *ptx_parse_emit(ptx_parser *p, unsigned line);

/* Orders the functions and makes the module's code of theirs. */
void ptx_module_link(ptx_parser *p);

#define PTX_GROW(p, array, count, capacity)                                \
  ((array) = ptx_arena_grow((p)->arena, (array), (count), &(capacity),     \
                            sizeof *(array)))

#endif
