/* What a device says of itself. */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "backends/cuda/describe.h"

/* What the kernels' PTX is for. */
#define CAPABILITY_MIN 75

static uint32_t read_number(const tn_backend_device *device,
                            CUdevice_attribute what)
{
  int value = 0;
  if (cu_.DeviceGetAttribute(&value, what, device->id)) value = 0;
  return value > 0 ? (uint32_t)value : 0;
}

static void describe_limits(tn_backend_device *device)
{
  tn_cuda_limits *limits = &device->limits;
  for (int i = 0; i < 3; i++) {
    limits->block[i] = read_number(
        device,
        (CUdevice_attribute)(TN_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i));
    limits->grid[i] = read_number(
        device,
        (CUdevice_attribute)(TN_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i));
  }
  limits->group_threads =
      read_number(device, TN_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  limits->units =
      read_number(device, TN_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  limits->max_pitch = read_number(device, TN_CU_DEVICE_ATTRIBUTE_MAX_PITCH);
}

/* Where the kernel notes it, -1 where it does not. */
int tn_cuda_numa_node(const char *pci_id)
{
  char path[64];
  int node = -1;
  snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/numa_node", pci_id);
  FILE *file = fopen(path, "re");
  if (!file) return -1;
  if (fscanf(file, "%d", &node) != 1) node = -1;
  fclose(file);
  return node;
}

static void describe_place(tn_backend_device *device)
{
  tn_backend_device_info *info = &device->info;
  CUuuid uuid;
  if (cu_.DeviceGetUuid(&uuid, device->id) == TN_CUDA_SUCCESS)
    memcpy(info->uuid, uuid.bytes, sizeof info->uuid);
  if (cu_.DeviceGetPCIBusId(info->pci_id, sizeof info->pci_id, device->id))
    info->pci_id[0] = '\0';
  info->pci_id[sizeof info->pci_id - 1] = '\0';
  for (char *c = info->pci_id; *c; c++) *c = (char)tolower((unsigned char)*c);
  info->numa_node = tn_cuda_numa_node(info->pci_id);
}

static void describe_numbers(tn_backend_device *device)
{
  tn_backend_device_info *info = &device->info;
  info->capabilities = TN_CUDA_CAPABILITIES;
  if (read_number(device, TN_CU_DEVICE_ATTRIBUTE_INTEGRATED))
    info->capabilities |= TN_CAP_UNIFIED;
  info->compute_units = device->limits.units;
  info->max_group_size = device->limits.group_threads;
  info->alignment = TN_CUDA_ALIGNMENT;
  info->max_shared_bytes = read_number(
      device, TN_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  /* Bit 5 is 32. */
  info->subgroup_sizes =
      read_number(device, TN_CU_DEVICE_ATTRIBUTE_WARP_SIZE);
}

void tn_cuda_judge(tn_backend_device_info *info, uint32_t capability,
                   uint32_t mode)
{
  int version = tn_cuda_driver_version();
  snprintf(info->driver, sizeof info->driver,
           "CUDA driver %d.%d, compute capability %u.%u", version / 1000,
           version % 1000 / 10, capability / 10, capability % 10);
  if (capability < CAPABILITY_MIN)
    snprintf(info->unavailable, sizeof info->unavailable,
             "compute capability %u.%u: %d.%d or later is needed",
             capability / 10, capability % 10, CAPABILITY_MIN / 10,
             CAPABILITY_MIN % 10);
  else if (mode == TN_CU_COMPUTEMODE_PROHIBITED)
    snprintf(info->unavailable, sizeof info->unavailable,
             "its compute mode is \"prohibited\" (nvidia-smi -c DEFAULT)");
}

static void describe_use(tn_backend_device *device)
{
  tn_backend_device_info *info = &device->info;
  uint32_t capability =
      read_number(device,
                  TN_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
      read_number(device, TN_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  tn_cuda_judge(info, capability,
                read_number(device, TN_CU_DEVICE_ATTRIBUTE_COMPUTE_MODE));
  if (!info->unavailable[0] &&
      !read_number(device, TN_CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING))
    snprintf(info->unavailable, sizeof info->unavailable,
             "it has no unified addressing");
}

CUresult tn_cuda_describe(tn_backend_device *device)
{
  tn_backend_device_info *info = &device->info;
  size_t total = 0;
  info->struct_size = sizeof *info;
  CUresult code = cu_.DeviceGetName(info->name, sizeof info->name,
                                    device->id);
  if (!code) code = cu_.DeviceTotalMem(&total, device->id);
  if (code) return code;
  info->name[sizeof info->name - 1] = '\0';
  info->memory_total = total;
  describe_limits(device);
  describe_place(device);
  describe_numbers(device);
  describe_use(device);
  return TN_CUDA_SUCCESS;
}
