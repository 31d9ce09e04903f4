#include "config.h"

#include "core/launch/signature.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"

static const struct value_type {
  char name[8];
  uint8_t kind, bits; /* bits: of those narrower than their argument */
  bool is_signed;
} value_types[] = {
  { "float", TN_ARG_KIND_F32, 0, true },
  { "double", TN_ARG_KIND_F64, 0, true },
  { "int8", TN_ARG_KIND_I32, 8, true },
  { "uint8", TN_ARG_KIND_I32, 8, false },
  { "int16", TN_ARG_KIND_I32, 16, true },
  { "uint16", TN_ARG_KIND_I32, 16, false },
  { "int32", TN_ARG_KIND_I32, 0, true },
  { "uint32", TN_ARG_KIND_I32, 0, false },
  { "int64", TN_ARG_KIND_I64, 0, true },
  { "uint64", TN_ARG_KIND_I64, 0, false },
};

const char *tn_arg_kind_name(int kind)
{
  static const char *const names[] = {
    [TN_ARG_KIND_PTR] = "TN_ARG_PTR", [TN_ARG_KIND_I32] = "TN_ARG_I32",
    [TN_ARG_KIND_I64] = "TN_ARG_I64", [TN_ARG_KIND_F32] = "TN_ARG_F32",
    [TN_ARG_KIND_F64] = "TN_ARG_F64",
  };
  if (kind < TN_ARG_KIND_PTR || kind > TN_ARG_KIND_F64) return "no kind";
  return names[kind];
}

/* A word up to a separator, into `word`; NULL if it does not fit or is
 * empty. */
static const char *read_word(const char *text, char *word, size_t size)
{
  text += strspn(text, " \n\t");
  size_t length = strcspn(text, " \n\t,()");
  if (length == 0 || length >= size) return NULL;
  memcpy(word, text, length);
  word[length] = 0;
  text += length;
  return text + strspn(text, " \n\t");
}

static const char *read_mark(const char *text, char mark)
{
  text += strspn(text, " \n\t");
  return *text == mark ? text + 1 : NULL;
}

static bool set_value(tn_parameter *parameter, uint8_t *kind)
{
  for (size_t i = 0; i < sizeof value_types / sizeof *value_types; i++) {
    if (strcmp(value_types[i].name, parameter->type) != 0) continue;
    *kind = value_types[i].kind;
    parameter->bits = value_types[i].bits;
    parameter->is_signed = value_types[i].is_signed;
    return true;
  }
  return false;
}

static bool set_kind(const char *word, tn_parameter *parameter, uint8_t *kind)
{
  if (strcmp(word, "VAL") == 0) return set_value(parameter, kind);
  parameter->is_pointer = true;
  parameter->is_output = strcmp(word, "OUT") == 0;
  *kind = TN_ARG_KIND_PTR;
  return parameter->is_output || strcmp(word, "IN") == 0;
}

/* "(KIND, type, name)" */
static const char *read_parameter(const char *text, tn_parameter *parameter,
                                  uint8_t *kind)
{
  char word[8];
  *parameter = (tn_parameter){ 0 };
  if (!(text = read_mark(text, '('))) return NULL;
  if (!(text = read_word(text, word, sizeof word))) return NULL;
  if (!(text = read_mark(text, ','))) return NULL;
  text = read_word(text, parameter->type, sizeof parameter->type);
  if (!text || !(text = read_mark(text, ','))) return NULL;
  text = read_word(text, parameter->name, sizeof parameter->name);
  if (!text || !(text = read_mark(text, ')'))) return NULL;
  return set_kind(word, parameter, kind) ? text : NULL;
}

static tn_status refuse_text(const char *text, const char *at)
{
  return tn_error(TN_BAD_PLUGIN, "kernel signature \"%s\" is not understood "
                  "from \"%.40s\" on: (KIND, type, name) with OUT, IN or VAL "
                  "is", text, at);
}

tn_status tn_signature_parse(const char *text, tn_signature *signature)
{
  *signature = (tn_signature){ 0 };
  const char *at = text + strspn(text, " \n\t");
  while (*at) {
    if (signature->count == TN_ARGS_MAX)
      return tn_error(TN_INVALID_ARGUMENT, "kernel signature \"%.200s\" has "
                      "more than %d parameters", text, TN_ARGS_MAX);
    tn_parameter *parameter = &signature->parameters[signature->count];
    const char *next = read_parameter(at, parameter,
                                      &signature->kinds[signature->count]);
    if (!next) return refuse_text(text, at);
    signature->count++;
    signature->has_narrow |= parameter->bits != 0;
    at = next + strspn(next, " \n\t");
    if (!*at) break;
    at = read_mark(at, ',');
    if (!at) return refuse_text(text, next);
    at += strspn(at, " \n\t");
    if (!*at) return refuse_text(text, next);
  }
  return TN_OK;
}

static tn_status refuse_count(const tn_signature *signature,
                              const char *kernel, size_t count)
{
  const char *first = count < signature->count
      ? signature->parameters[count].name : "";
  if (*first)
    return tn_error(TN_INVALID_ARGUMENT, "kernel \"%s\" takes %u arguments, "
                    "not %zu: \"%s\" is missing", kernel, signature->count,
                    count, first);
  return tn_error(TN_INVALID_ARGUMENT, "kernel \"%s\" takes %u arguments, not "
                  "%zu", kernel, signature->count, count);
}

static bool fits(const tn_parameter *parameter, int32_t value)
{
  if (parameter->bits == 0) return true;
  int32_t half = (int32_t)1 << (parameter->bits - 1);
  if (parameter->is_signed) return value >= -half && value < half;
  return value >= 0 && value < 2 * half;
}

static tn_status refuse_one(const tn_parameter *parameter, size_t i,
                            const char *kernel, int wanted, const tn_arg *arg)
{
  const char *star = parameter->is_pointer ? "*" : "";
  if (arg->kind != (tn_arg_kind)wanted)
    return tn_error(TN_INVALID_ARGUMENT, "kernel \"%s\": argument %zu (\"%s\")"
                    " is %s%s: it takes %s, not %s", kernel, i + 1,
                    parameter->name, parameter->type, star,
                    tn_arg_kind_name(wanted),
                    tn_arg_kind_name((int)arg->kind));
  return tn_error(TN_INVALID_ARGUMENT, "kernel \"%s\": argument %zu (\"%s\") "
                  "is %s, which does not hold %" PRId32, kernel, i + 1,
                  parameter->name, parameter->type, arg->as.i32);
}

tn_status tn_signature_refuse(const tn_signature *signature,
                              const char *kernel, const tn_arg *args,
                              size_t count)
{
  if (count != signature->count)
    return refuse_count(signature, kernel, count);
  if (count != 0 && !args)
    return tn_error(TN_INVALID_ARGUMENT, "kernel \"%s\": the arguments are "
                    "NULL", kernel);
  for (size_t i = 0; i < count; i++) {
    const tn_parameter *parameter = &signature->parameters[i];
    if (args[i].kind != (tn_arg_kind)signature->kinds[i] ||
        !fits(parameter, args[i].as.i32))
      return refuse_one(parameter, i, kernel, signature->kinds[i], &args[i]);
  }
  return TN_OK;
}
