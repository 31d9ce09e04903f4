#include "config.h"

#include "backends/opencl/source.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/opencl/embedded.h"
#include "backends/opencl/error.h"

/* Defined by the kernel language, so a text that has it has the language. */
#define LANGUAGE_MARK "TENON_KERNEL_LANG_H"

static bool has_text(const char *text, size_t size, const char *part)
{
  return memmem(text, size, part, strlen(part)) != NULL;
}

static const char *skip_blanks(const char *at, const char *end)
{
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  return at;
}

/* Whether a line includes the kernel language. */
static bool is_include(const char *line, const char *end)
{
  const char *at = skip_blanks(line, end);
  if (at == end || *at++ != '#') return false;
  at = skip_blanks(at, end);
  if (end - at < 7 || memcmp(at, "include", 7)) return false;
  return has_text(at, (size_t)(end - at), "tenon/kernel_");
}

/* Copies the text, leaving lines empty that include what is there already. */
static void print_text(FILE *out, const char *text, size_t size)
{
  for (const char *line = text, *end = text + size; line < end;) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    if (!stop) stop = end;
    if (!is_include(line, stop)) fwrite(line, 1, (size_t)(stop - line), out);
    fputc('\n', out);
    line = stop + 1;
  }
}

static void print_defines(FILE *out, const tn_module_desc *desc)
{
  for (uint64_t i = 0; i < desc->define_count; i++) {
    const char *define = desc->defines[i];
    size_t name = strcspn(define, "=");
    fprintf(out, "#define %.*s %s\n", (int)name, define,
            define[name] ? define + name + 1 : "1");
  }
}

/* Messages of the compiler then name the module and its own lines. */
static void print_line_mark(FILE *out, const char *name)
{
  fputs("#line 1 \"", out);
  for (; *name; name++)
    fputc(isprint((unsigned char)*name) && !strchr("\"\\", *name) ? *name
                                                                  : '_', out);
  fputs("\"\n", out);
}

static tn_status check_defines(const tn_module_desc *desc)
{
  for (uint64_t i = 0; i < desc->define_count; i++) {
    const char *define = desc->defines[i];
    size_t name = strcspn(define, "=");
    bool good = name && !isdigit((unsigned char)define[0]) &&
                !strpbrk(define, "\r\n");
    for (size_t j = 0; j < name; j++)
      good &= isalnum((unsigned char)define[j]) || define[j] == '_';
    if (!good)
      return tn_host->error(TN_INVALID_ARGUMENT,
                            "\"%s\" is no definition: NAME or NAME=VALUE on "
                            "one line", define);
  }
  return TN_OK;
}

static const tn_opencl_family *find_family(const char *name)
{
  const tn_opencl_family *family = tn_opencl_families;
  while (family->name && strcmp(family->name, name)) family++;
  return family->name ? family : NULL;
}

static void print_language(FILE *out, bool f64)
{
  fwrite(tn_opencl_language.text, 1, tn_opencl_language.size, out);
  if (f64)
    fwrite(tn_opencl_language_f64.text, 1, tn_opencl_language_f64.size, out);
}

static tn_status print_source(const tn_module_desc *desc, const char *text,
                              size_t bytes, char **source, size_t *size)
{
  char *result = NULL;
  FILE *out = open_memstream(&result, size);
  if (out) {
    bool is_own = desc->kind == TN_MODULE_VENDOR;
    print_defines(out, desc);
    if (!is_own && !has_text(text, bytes, LANGUAGE_MARK))
      print_language(out, has_text(text, bytes, "tenon/kernel_math_f64.h"));
    print_line_mark(out, desc->name);
    if (is_own) fwrite(text, 1, bytes, out);
    else print_text(out, text, bytes);
    if (fclose(out) == 0) {
      *source = result;
      return TN_OK;
    }
  }
  free(result);
  return tn_host->error(TN_OUT_OF_MEMORY,
                        "no host memory for the text of \"%s\"", desc->name);
}

tn_status tn_opencl_source(const tn_module_desc *desc, char **source,
                           size_t *size)
{
  tn_status status = check_defines(desc);
  if (status) return status;
  if (desc->kind != TN_MODULE_BUILTIN || desc->data)
    return print_source(desc, desc->data, (size_t)desc->size, source, size);
  const tn_opencl_family *family = find_family(desc->name);
  if (!family)
    return tn_host->error(TN_UNSUPPORTED,
                          "opencl ships no kernels called \"%s\"",
                          desc->name);
  return print_source(desc, family->text, family->size, source, size);
}
