/* The facts of a device from NVML and the vendor's tables. */
#include "config.h"

#include <stdio.h>

#include "backends/cuda/describe.h"

/* CUDA C++ Programming Guide, "Compute Capabilities": cores of a
 * multiprocessor, and KiB of shared memory that a block may ask for. Not
 * here: what may be integrated with the host's memory (8.7, 11.0, 12.1), and
 * what came later. */
static const struct {
  uint32_t capability, cores, shared;
} generations[] = {
  { 75, 64, 64 },    { 80, 64, 163 },   { 86, 128, 99 },  { 89, 128, 99 },
  { 90, 128, 227 },  { 100, 128, 227 }, { 103, 128, 227 },
  { 120, 128, 99 },
};

/* The same for all of them. */
#define GROUP_THREADS 1024
#define WARP 32

static int digit_value(char c)
{
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6" */
static bool read_uuid(const char *text, uint8_t uuid[16])
{
  int digits = 0;
  if (text[0] != 'G' || text[1] != 'P' || text[2] != 'U' || text[3] != '-')
    return false;
  for (text += 4; *text; text++) {
    int value = digit_value(*text);
    if (*text == '-') continue;
    if (value < 0 || digits == 32) return false;
    uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | value);
    digits++;
  }
  return digits == 32;
}

bool tn_cuda_describe_board(const tn_cuda_board *board,
                            tn_backend_device_info *info)
{
  size_t i = 0, count = sizeof generations / sizeof *generations;
  while (i < count && generations[i].capability != board->capability) i++;
  *info = (tn_backend_device_info){ .struct_size = sizeof *info };
  if (i == count || !board->cores || board->cores % generations[i].cores ||
      board->domain > 0xffff || !read_uuid(board->uuid, info->uuid))
    return false;
  snprintf(info->name, sizeof info->name, "%s", board->name);
  snprintf(info->pci_id, sizeof info->pci_id, "%04x:%02x:%02x.0",
           board->domain & 0xffff, board->bus & 0xff, board->slot & 0xff);
  info->numa_node = tn_cuda_numa_node(info->pci_id);
  info->memory_total = board->memory;
  info->capabilities = TN_CUDA_CAPABILITIES;
  info->compute_units = board->cores / generations[i].cores;
  info->max_group_size = GROUP_THREADS;
  info->subgroup_sizes = WARP; /* bit 5 is 32 */
  info->alignment = TN_CUDA_ALIGNMENT;
  info->max_shared_bytes = (uint64_t)generations[i].shared << 10;
  tn_cuda_judge(info, board->capability, board->compute_mode);
  return true;
}
