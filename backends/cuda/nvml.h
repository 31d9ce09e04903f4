/* Counting devices by NVIDIA's management library, which, unlike the driver,
 * leaves nothing behind that a fork would break. */
#ifndef TN_CUDA_NVML_H
#define TN_CUDA_NVML_H

#include <stdbool.h>

/* "GPU-" and 36 digits and dashes, with the final 0 and room. */
#define TN_NVML_UUID_SIZE 96

typedef struct tn_cuda_boards {
  int count;
  char uuids[][TN_NVML_UUID_SIZE];
} tn_cuda_boards;

/* The boards of this machine, which the caller frees; NULL where the library
 * is absent or fails, and where a board is divided (MIG): what the driver
 * shows then is known to the driver only. */
tn_cuda_boards *tn_cuda_boards_find(void);

/* How many of the boards the driver will show, by the rules of
 * CUDA_VISIBLE_DEVICES, whose value is `list` or NULL; -1 where only the
 * driver knows (MIG). */
int tn_cuda_boards_visible(const tn_cuda_boards *boards, const char *list);

#endif
