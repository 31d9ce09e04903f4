/* Boards by NVIDIA's management library, which, unlike the driver, leaves
 * nothing behind that a fork would break. */
#ifndef TN_CUDA_NVML_H
#define TN_CUDA_NVML_H

#include <stdbool.h>
#include <stdint.h>

/* "GPU-" and 36 digits and dashes, with the final 0 and room. */
#define TN_NVML_UUID_SIZE 96

typedef struct tn_cuda_board {
  char uuid[TN_NVML_UUID_SIZE];
  char name[96];
  uint32_t domain, bus, slot; /* where it sits */
  uint64_t memory;            /* bytes */
  uint32_t capability;        /* 75: 7.5 */
  uint32_t cores;             /* 0: unknown */
  uint32_t compute_mode;      /* as the driver's attribute numbers it */
} tn_cuda_board;

typedef struct tn_cuda_boards {
  int count;
  tn_cuda_board list[]; /* by place */
} tn_cuda_boards;

/* The boards of this machine, which the caller frees; NULL where the library
 * is absent or fails, and where a board is divided (MIG): what the driver
 * shows then is known to the driver only. */
tn_cuda_boards *tn_cuda_boards_find(void);

/* How many of the boards the driver will show, by the rules of
 * CUDA_VISIBLE_DEVICES, whose value is `list` or NULL; -1 where only the
 * driver knows (MIG). Unless NULL, which[ordinal] is set to a board's index:
 * by place, which is right only where the next function says so. */
int tn_cuda_boards_visible(const tn_cuda_boards *boards, const char *list,
                           int *which);

/* Whether the driver's numbers are places: by default it puts the fastest
 * board first, which one that is only it knows. `order` is the value of
 * CUDA_DEVICE_ORDER or NULL. */
bool tn_cuda_boards_in_order(const tn_cuda_boards *boards, const char *list,
                             const char *order);

#endif
