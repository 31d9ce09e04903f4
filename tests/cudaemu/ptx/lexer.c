#include "tests/cudaemu/ptx/lexer.h"

#include <string.h>

enum { LONGEST_TOKEN = 4096 };

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static bool is_first(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || c == '%';
}

static bool is_inner(char c)
{
  return is_digit(c) || (is_first(c) && c != '%');
}

/* The character n places on, or 0. */
static char ahead(const ptx_lexer *lexer, size_t n)
{
  return (size_t)(lexer->end - lexer->at) > n ? lexer->at[n] : '\0';
}

/* Skips what stands between tokens.  0, or the line of a comment that does not
 * end. */
static unsigned skip_space(ptx_lexer *lexer)
{
  for (;;) {
    char c = ahead(lexer, 0), next = ahead(lexer, 1);
    if (c == '\n') {
      lexer->line++;
      lexer->at++;
    } else if (c == ' ' || c == '\t' || c == '\r')
      lexer->at++;
    else if (c == '/' && next == '/')
      while (lexer->at < lexer->end && *lexer->at != '\n')
        lexer->at++;
    else if (c == '/' && next == '*') {
      unsigned begun = lexer->line;
      lexer->at += 2;
      while (ahead(lexer, 0) != '*' || ahead(lexer, 1) != '/') {
        if (lexer->at == lexer->end)
          return begun;
        lexer->line += *lexer->at++ == '\n';
      }
      lexer->at += 2;
    } else
      return 0;
  }
}

/* A word goes on over ".x" and "::x". */
static void read_word(ptx_lexer *lexer, bool dots)
{
  for (;;) {
    if (is_inner(ahead(lexer, 0)))
      lexer->at++;
    else if (dots && ahead(lexer, 0) == '.' && is_inner(ahead(lexer, 1)))
      lexer->at += 2;
    else if (ahead(lexer, 0) == ':' && ahead(lexer, 1) == ':' &&
             is_inner(ahead(lexer, 2)))
      lexer->at += 3;
    else
      return;
  }
}

static void read_number(ptx_lexer *lexer)
{
  bool hexadecimal = ahead(lexer, 0) == '0' && strchr("xXfFdD", ahead(lexer, 1))
                     && ahead(lexer, 1);
  for (;; lexer->at++) {
    char c = ahead(lexer, 0);
    if (is_inner(c) || c == '.')
      continue;
    bool exponent = (c == '+' || c == '-') && !hexadecimal &&
                    (lexer->at[-1] == 'e' || lexer->at[-1] == 'E');
    if (!exponent)
      return;
  }
}

static const char *read_string(ptx_lexer *lexer)
{
  do {
    lexer->at++;
    if (lexer->at == lexer->end || *lexer->at == '\n')
      return "a string does not end on its line";
  } while (*lexer->at != '"');
  lexer->at++;
  return NULL;
}

const char *ptx_lexer_next(ptx_lexer *lexer, ptx_token *token)
{
  *token = (ptx_token) { PTX_TOKEN_END, lexer->at, 0, lexer->line };
  unsigned endless = skip_space(lexer);
  token->text = lexer->at;
  token->line = endless ? endless : lexer->line;
  if (endless)
    return "a comment does not end";
  if (lexer->at == lexer->end)
    return NULL;
  const char *wrong = NULL;
  char c = *lexer->at;
  if (is_first(c)) {
    token->kind = PTX_TOKEN_WORD;
    lexer->at++;
    read_word(lexer, true);
  } else if (c == '.' && is_inner(ahead(lexer, 1)) &&
             !is_digit(ahead(lexer, 1))) {
    token->kind = PTX_TOKEN_DOT;
    lexer->at++;
    read_word(lexer, false);
  } else if (is_digit(c)) {
    token->kind = PTX_TOKEN_NUMBER;
    read_number(lexer);
  } else if (c == '"') {
    token->kind = PTX_TOKEN_STRING;
    wrong = read_string(lexer);
  } else {
    token->kind = PTX_TOKEN_MARK;
    lexer->at++;
    if (c < ' ' || c > '~')
      wrong = "a character that PTX does not know";
  }
  token->length = (size_t)(lexer->at - token->text);
  if (!wrong && token->length > LONGEST_TOKEN)
    wrong = "a word of more than 4096 characters";
  return wrong;
}

bool ptx_token_is(const ptx_token *token, const char *text)
{
  return token->kind != PTX_TOKEN_END && strlen(text) == token->length &&
         memcmp(token->text, text, token->length) == 0;
}
