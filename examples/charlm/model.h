/* A transformer that predicts the next character. */
#ifndef CHARLM_MODEL_H
#define CHARLM_MODEL_H

#include <tenon/tenon.h>

typedef struct model_size {
  int64_t kinds; /* of characters */
  int64_t context, width, layers, heads;
} model_size;

/* Its input: i64 [batch, length], length at most the context; its output:
 * scores [batch, length, kinds] of what comes next. NULL with the library's
 * error set. */
tn_nn_module *model_new(const model_size *size, tn_device device);

#endif
