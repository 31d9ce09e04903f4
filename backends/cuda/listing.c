#include "config.h"

#include "backends/cuda/listing.h"

#include <stdlib.h>

#include "backends/cuda/describe.h"

/* Asked once: boards do not come and go, and each time takes milliseconds. */
static tn_cuda_boards *boards;

static bool find_boards(void)
{
  if (!boards) boards = tn_cuda_boards_find();
  return boards != NULL;
}

int tn_cuda_listing_count(void)
{
  if (!find_boards()) return -1;
  return tn_cuda_boards_visible(
      boards, tn_host->environment("CUDA_VISIBLE_DEVICES"), NULL);
}

tn_listing *tn_cuda_listing_by_nvml(void)
{
  int which[TN_BACKEND_DEVICES_MAX];
  const char *list = tn_host->environment("CUDA_VISIBLE_DEVICES");
  const char *order = tn_host->environment("CUDA_DEVICE_ORDER");
  if (!find_boards()) return NULL;
  int count = tn_cuda_boards_visible(boards, list, which);
  if (count < 0 || !tn_cuda_boards_in_order(boards, list, order)) return NULL;
  tn_listing *listing = tn_listing_make(count);
  for (int i = 0; listing && i < count; i++)
    if (!tn_cuda_describe_board(boards->list + which[i],
                                listing->devices + i)) {
      free(listing);
      return NULL;
    }
  return listing;
}

void tn_cuda_listing_end(void)
{
  free(boards);
  boards = NULL;
}
