/* PTX text to tokens. */
#ifndef TN_TESTS_CUDAEMU_LEXER_H
#define TN_TESTS_CUDAEMU_LEXER_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ptx_token_kind {
  PTX_TOKEN_END,
  PTX_TOKEN_WORD,   /* add.f32  %r1  %tid.x  $L__BB0_1  name */
  PTX_TOKEN_DOT,    /* .global  .b32  .L2::128B */
  PTX_TOKEN_NUMBER, /* 12  0x1f  0f3f800000  1.5e-3  75U */
  PTX_TOKEN_STRING, /* "text", the quotes included */
  PTX_TOKEN_MARK,   /* one character */
} ptx_token_kind;

typedef struct ptx_token {
  ptx_token_kind kind;
  const char *text;
  size_t length;
  unsigned line;
} ptx_token;

typedef struct ptx_lexer {
  const char *at, *end;
  unsigned line; /* from 1 */
} ptx_lexer;

/* The next token, or why there is none (then token->line says where). */
const char *ptx_lexer_next(ptx_lexer *lexer, ptx_token *token);

bool ptx_token_is(const ptx_token *token, const char *text);

#endif
