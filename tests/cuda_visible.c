/* CUDA_VISIBLE_DEVICES as the cuda plugin reads it when it counts without the
 * driver. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "backends/cuda/nvml.h"
#include "tenon/backend.h"
#include "tests/tap.h"

static const char *const uuids[] = {
  "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
  "GPU-8932f937-aaaa-4106-c12f-20bd9faed9f7",
  "GPU-0dcba8f9-d72c-4106-c12f-20bd9faed9f8",
  "GPU-1dcba8f9-d72c-4106-c12f-20bd9faed9f9",
};

typedef struct visible_case {
  const char *list;
  int count; /* -1: left to the driver */
} visible_case;

static const visible_case cases[] = {
  { NULL, 4 },
  { "", 0 },
  { "0", 1 },
  { "3,1", 2 },
  { " 2 , 0 ", 2 },
  { "0,2,-1,1", 2 },
  { "-1", 0 },
  { "0,4,1", 1 },
  { "4", 0 },
  { "1gpu2,2ampere", 2 },
  { "+1", 1 },
  { "gpu", 0 },
  { "0,,1", 1 },
  { "1,1", 0 },
  { "0,1,2,0", 0 },
  { "0,0x1", 0 },
  { "99999999999999999999", 0 },
  { "GPU-0", 1 },
  { "GPU-8932f937-d", 1 },
  { "GPU-8932f937", 0 },
  { "GPU-0DCBA8F9", 1 },
  { "GPU-1,GPU-0,GPU-7,GPU-8932f937-a", 2 },
  { "GPU-1,GPU-1dcb", 0 },
  { "GPU-1,0", 1 },
  { "0,GPU-1", 1 },
  { "MIG-8932f937-d72c-4106-c12f-20bd9faed9f6", -1 },
};

static void check_order(tn_cuda_boards *boards)
{
  tap_ok(tn_cuda_boards_in_order(boards, NULL, NULL),
         "D7 boards that are alike are numbered by place");
  boards->list[2].memory++;
  tap_ok(!tn_cuda_boards_in_order(boards, NULL, NULL) &&
             !tn_cuda_boards_in_order(boards, "0", "FASTEST_FIRST"),
         "D7 of others the driver knows which is the fastest");
  tap_ok(tn_cuda_boards_in_order(boards, "0", "PCI_BUS_ID"),
         "D7 unless the order is to be that of places");
  tap_ok(tn_cuda_boards_in_order(boards, "GPU-0", NULL),
         "D7 or they are named by uuid");
}

int main(void)
{
  int which[TN_BACKEND_DEVICES_MAX] = { 9, 9, 9 };
  tn_cuda_boards *boards =
      calloc(1, sizeof *boards + sizeof uuids / sizeof *uuids *
                                     sizeof *boards->list);
  if (!boards) return 1;
  for (; (size_t)boards->count < sizeof uuids / sizeof *uuids;
       boards->count++)
    snprintf(boards->list[boards->count].uuid, TN_NVML_UUID_SIZE, "%s",
             uuids[boards->count]);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    tap_is_int(tn_cuda_boards_visible(boards, cases[i].list, NULL),
               cases[i].count, "D7 %s%s%s of 4 boards: %d",
               cases[i].list ? "\"" : "",
               cases[i].list ? cases[i].list : "no list",
               cases[i].list ? "\"" : "", cases[i].count);
  tn_cuda_boards_visible(boards, "3,1,7", which);
  tap_ok(which[0] == 3 && which[1] == 1 && which[2] == 9,
         "D7 in the order of the list");
  tn_cuda_boards_visible(boards, "GPU-1,GPU-0", which);
  tap_ok(which[0] == 3 && which[1] == 2, "D7 by uuid too");
  check_order(boards);
  free(boards);
  return tap_done();
}
