/* What a kernel's arguments must be. */
#ifndef TN_CORE_LAUNCH_SIGNATURE_H
#define TN_CORE_LAUNCH_SIGNATURE_H

#include <stdint.h>

#include "tenon/kernel.h"

typedef struct tn_parameter {
  char name[48], type[16];
  bool is_output, is_pointer;
  bool is_signed;    /* of integers */
  uint8_t bits;      /* of integers narrower than their argument, else 0 */
} tn_parameter;

typedef struct tn_signature {
  uint32_t count;
  bool has_narrow; /* some value is narrower than its argument */
  uint8_t kinds[TN_ARGS_MAX]; /* tn_arg_kind */
  tn_parameter parameters[TN_ARGS_MAX];
} tn_signature;

/* Reads "(OUT, float, y), (IN, float, x), (VAL, int64, n)"; "" has none. On
 * failure the error says where the text stops making sense. */
tn_status tn_signature_parse(const char *text, tn_signature *signature);

/* "TN_ARG_F32" */
const char *tn_arg_kind_name(int kind);

/* Says why `args` do not fit; TN_INVALID_ARGUMENT, or TN_OK if they do. */
tn_status tn_signature_refuse(const tn_signature *signature,
                              const char *kernel, const tn_arg *args,
                              size_t count);

#endif
