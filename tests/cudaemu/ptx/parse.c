/* Files: tokens, directives outside functions. */
#include "tests/cudaemu/ptx/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

noreturn void ptx_parse_fail(ptx_parser *p, unsigned line, const char *format,
                             ...)
{
  va_list arguments;
  va_start(arguments, format);
  int length = snprintf(p->log, p->log_size, "line %u: ", line);
  if (length > 0 && (size_t)length < p->log_size)
    vsnprintf(p->log + length, p->log_size - (size_t)length, format,
              arguments);
  va_end(arguments);
  if (p->status == PTX_OK)
    p->status = PTX_INVALID;
  longjmp(*p->failed, 1);
}

noreturn void ptx_parse_unexpected(ptx_parser *p, const char *wanted)
{
  if (p->token.kind == PTX_TOKEN_END)
    ptx_parse_fail(p, p->token.line, "the text ends where %s should be",
                   wanted);
  ptx_parse_fail(p, p->token.line, "\"%.*s\" where %s should be",
                 (int)p->token.length, p->token.text, wanted);
}

void ptx_parse_next(ptx_parser *p)
{
  const char *wrong = ptx_lexer_next(&p->lexer, &p->token);
  if (wrong)
    ptx_parse_fail(p, p->token.line, "%s", wrong);
}

bool ptx_parse_at(const ptx_parser *p, const char *text)
{
  return ptx_token_is(&p->token, text);
}

bool ptx_parse_take(ptx_parser *p, const char *text)
{
  if (!ptx_parse_at(p, text))
    return false;
  ptx_parse_next(p);
  return true;
}

void ptx_parse_expect(ptx_parser *p, const char *text)
{
  if (!ptx_parse_take(p, text)) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\"", text);
    ptx_parse_unexpected(p, wanted);
  }
}

ptx_token ptx_parse_word(ptx_parser *p, const char *wanted)
{
  if (p->token.kind != PTX_TOKEN_WORD)
    ptx_parse_unexpected(p, wanted);
  ptx_token word = p->token;
  ptx_parse_next(p);
  return word;
}

ptx_type ptx_parse_type_at(const ptx_parser *p)
{
  if (p->token.kind != PTX_TOKEN_DOT)
    return PTX_NO_TYPE;
  return ptx_type_find(p->token.text + 1, p->token.length - 1);
}

/* "7.5", "6.3" */
static void parse_version(ptx_parser *p)
{
  unsigned line = p->token.line, major, minor;
  char text[16] = "";
  if (p->token.kind == PTX_TOKEN_NUMBER && p->token.length < sizeof text)
    memcpy(text, p->token.text, p->token.length);
  char rest;
  if (sscanf(text, "%2u.%1u%c", &major, &minor, &rest) != 2)
    ptx_parse_unexpected(p, "a version such as 7.5");
  ptx_parse_next(p);
  p->module->version = 10 * major + minor;
  if (p->limits->version && p->module->version > p->limits->version) {
    p->status = PTX_VERSION_TOO_NEW;
    ptx_parse_fail(p, line,
                   ".version %s is newer than this driver knows (%u.%u)", text,
                   p->limits->version / 10, p->limits->version % 10);
  }
}

/* "sm_75", "sm_90a", then options that change nothing */
static void parse_target(ptx_parser *p)
{
  ptx_token word = ptx_parse_word(p, "a target such as sm_75");
  char text[16] = "", suffix = '\0', rest;
  if (word.length < sizeof text)
    memcpy(text, word.text, word.length);
  unsigned number;
  int got = sscanf(text, "sm_%3u%c%c", &number, &suffix, &rest);
  if (got < 1 || got > 2 || (got == 2 && suffix != 'a' && suffix != 'f'))
    ptx_parse_fail(p, word.line, "\"%.*s\" is no target such as sm_75",
                   (int)word.length, word.text);
  p->module->target = number;
  unsigned limit = p->limits->target;
  if (limit && (number > limit || (suffix == 'a' && number != limit))) {
    p->status = PTX_TARGET_TOO_NEW;
    ptx_parse_fail(p, word.line, ".target %s does not run on sm_%u", text,
                   limit);
  }
  while (ptx_parse_take(p, ",")) {
    ptx_token option = ptx_parse_word(p, "an option of .target");
    if (!ptx_token_is(&option, "debug"))
      ptx_parse_fail(p, option.line, "option \"%.*s\" of .target is not "
                     "emulated", (int)option.length, option.text);
  }
}

static void parse_header(ptx_parser *p)
{
  ptx_parse_expect(p, ".version");
  parse_version(p);
  ptx_parse_expect(p, ".target");
  parse_target(p);
  ptx_parse_expect(p, ".address_size");
  if (!ptx_parse_take(p, "64"))
    ptx_parse_unexpected(p, "64");
}

/* .file and .loc end with their line of text, but can be told by grammar. */
static void parse_source_file(ptx_parser *p)
{
  ptx_parse_count(p, UINT32_MAX, "a file's number");
  if (p->token.kind != PTX_TOKEN_STRING)
    ptx_parse_unexpected(p, "a file's name");
  ptx_parse_next(p);
  while (ptx_parse_take(p, ","))
    ptx_parse_count(p, UINT64_MAX, "a time or size");
}

void ptx_parse_location(ptx_parser *p)
{
  for (int i = 0; i < 3; i++)
    ptx_parse_count(p, UINT32_MAX, "a place in a source file");
  while (ptx_parse_take(p, ",")) {
    ptx_token word = ptx_parse_word(p, "function_name or inlined_at");
    if (ptx_token_is(&word, "function_name")) {
      ptx_parse_word(p, "a label");
      ptx_parse_addend(p);
    } else
      for (int i = 0; i < 3; i++)
        ptx_parse_count(p, UINT32_MAX, "a place in a source file");
  }
}

/* Debugging information: passed over. */
static void skip_section(ptx_parser *p)
{
  while (!ptx_parse_at(p, "{")) {
    if (p->token.kind == PTX_TOKEN_END)
      ptx_parse_unexpected(p, "\"{\"");
    ptx_parse_next(p);
  }
  while (!ptx_parse_take(p, "}")) {
    if (p->token.kind == PTX_TOKEN_END)
      ptx_parse_unexpected(p, "\"}\"");
    ptx_parse_next(p);
  }
}

static bool is_space(const ptx_token *token)
{
  return ptx_token_is(token, ".global") || ptx_token_is(token, ".const") ||
         ptx_token_is(token, ".shared");
}

static void parse_directive(ptx_parser *p, bool external)
{
  ptx_token word = p->token;
  ptx_parse_next(p);
  if (ptx_token_is(&word, ".entry"))
    ptx_parse_function(p, true);
  else if (ptx_token_is(&word, ".func"))
    ptx_parse_function(p, false);
  else if (is_space(&word)) {
    char space[16] = "";
    memcpy(space, word.text, word.length);
    ptx_parse_variable(p, space, external);
  } else if (ptx_token_is(&word, ".file"))
    parse_source_file(p);
  else if (ptx_token_is(&word, ".section"))
    skip_section(p);
  else
    ptx_parse_fail(p, word.line, "unknown directive \"%.*s\"",
                   (int)word.length, word.text);
}

void ptx_parse_file(ptx_parser *p)
{
  ptx_parse_next(p);
  parse_header(p);
  while (p->token.kind != PTX_TOKEN_END) {
    bool external = false;
    for (;;) {
      if (ptx_parse_take(p, ".extern"))
        external = true;
      else if (!ptx_parse_take(p, ".visible") && !ptx_parse_take(p, ".weak"))
        break;
    }
    if (p->token.kind != PTX_TOKEN_DOT)
      ptx_parse_unexpected(p, "a directive");
    parse_directive(p, external);
  }
  ptx_module_link(p);
}
