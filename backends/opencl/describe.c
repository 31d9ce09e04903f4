/* What a device says of itself. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "backends/opencl/device.h"

/* Extensions' queries, by their registered numbers, so that old headers do. */
#define DEVICE_UUID_KHR 0x106A
#define DEVICE_PCI_BUS_INFO_KHR 0x410F
#define DEVICE_SUB_GROUP_SIZES_INTEL 0x4108
#define DEVICE_WARP_SIZE_NV 0x4003
#define DEVICE_WAVEFRONT_WIDTH_AMD 0x4043

/* Longer lists count as empty; known ones have less than 3000 bytes. */
#define EXTENSIONS_SIZE 16384

static void read_text(const tn_backend_device *device, cl_device_info what,
                      char *text, size_t size)
{
  text[0] = '\0';
  /* A text that does not fit is an error and leaves nothing. */
  char whole[1024] = "";
  cl_.GetDeviceInfo(device->id, what, sizeof whole, whole, NULL);
  whole[sizeof whole - 1] = '\0';
  snprintf(text, size, "%.*s", (int)size - 1, whole);
}

static uint64_t read_number(const tn_backend_device *device,
                            cl_device_info what)
{
  uint64_t value = 0;
  uint32_t half = 0;
  size_t size = 0; /* cl_uint and cl_bool are 4 bytes, the others 8 */
  cl_.GetDeviceInfo(device->id, what, 0, NULL, &size);
  if (size == sizeof half) {
    cl_.GetDeviceInfo(device->id, what, sizeof half, &half, NULL);
    return half;
  }
  if (size == sizeof value)
    cl_.GetDeviceInfo(device->id, what, sizeof value, &value, NULL);
  return value;
}

/* Whether a list of words separated by spaces has `word`. */
static bool has_word(const char *list, const char *word)
{
  size_t length = strlen(word);
  for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
    if ((at == list || at[-1] == ' ') &&
        (at[length] == ' ' || at[length] == '\0'))
      return true;
  return false;
}

static uint32_t log2_bit(size_t lanes)
{
  uint32_t bit = 0;
  while (bit < 31 && ((size_t)1 << bit) < lanes) bit++;
  return lanes ? 1u << bit : 0;
}

static uint32_t subgroup_sizes_of(const tn_backend_device *device,
                                  const char *extensions)
{
  if (has_word(extensions, "cl_nv_device_attribute_query"))
    return log2_bit((size_t)read_number(device, DEVICE_WARP_SIZE_NV));
  if (has_word(extensions, "cl_amd_device_attribute_query"))
    return log2_bit((size_t)read_number(device, DEVICE_WAVEFRONT_WIDTH_AMD));
  if (!has_word(extensions, "cl_intel_required_subgroup_size")) return 0;
  size_t sizes[16], bytes = 0;
  uint32_t bits = 0;
  if (cl_.GetDeviceInfo(device->id, DEVICE_SUB_GROUP_SIZES_INTEL,
                        sizeof sizes, sizes, &bytes) == CL_SUCCESS)
    for (size_t i = 0; i < bytes / sizeof *sizes; i++)
      bits |= log2_bit(sizes[i]);
  return bits;
}

static void describe_bus(tn_backend_device *device, const char *extensions)
{
  tn_backend_device_info *info = &device->info;
  if (has_word(extensions, "cl_khr_device_uuid"))
    cl_.GetDeviceInfo(device->id, DEVICE_UUID_KHR, sizeof info->uuid,
                      info->uuid, NULL);
  cl_uint bus[4]; /* domain, bus, device, function */
  if (has_word(extensions, "cl_khr_pci_bus_info") &&
      cl_.GetDeviceInfo(device->id, DEVICE_PCI_BUS_INFO_KHR, sizeof bus, bus,
                        NULL) == CL_SUCCESS)
    snprintf(info->pci_id, sizeof info->pci_id, "%04x:%02x:%02x.%x",
             bus[0] & 0xffff, bus[1] & 0xff, bus[2] & 0xff, bus[3] & 0xf);
}

static void describe_numbers(tn_backend_device *device,
                             const char *extensions)
{
  static const struct {
    cl_device_fp_config bit;
    uint32_t capability;
    const char *lack;
  } rules[] = {
    { CL_FP_DENORM, TN_CAP_DENORMALS, "f32 denormals are flushed" },
    { CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, TN_CAP_EXACT_DIVIDE,
      "f32 division and square root are not correctly rounded" },
    { CL_FP_INF_NAN, 0, "f32 has no infinities" },
    { CL_FP_ROUND_TO_NEAREST, 0, "f32 does not round to nearest" },
  };
  tn_backend_device_info *info = &device->info;
  cl_device_fp_config config = read_number(device, CL_DEVICE_SINGLE_FP_CONFIG);
  size_t used = 0;
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    if (config & rules[i].bit) {
      info->capabilities |= rules[i].capability;
    } else if (used < sizeof info->not_reproducible) {
      used += (size_t)snprintf(info->not_reproducible + used,
                               sizeof info->not_reproducible - used, "%s%s",
                               used ? "; " : "", rules[i].lack);
    }
  }
  /* fma rounds once on every device of the full profile; this says whether
   * it is also quick. */
  if ((config & CL_FP_FMA) && !(config & CL_FP_SOFT_FLOAT))
    info->capabilities |= TN_CAP_FAST_FMA;
  if (read_number(device, CL_DEVICE_DOUBLE_FP_CONFIG))
    info->capabilities |= TN_CAP_F64;
  if (has_word(extensions, "cl_khr_int64_base_atomics"))
    info->capabilities |= TN_CAP_ATOMIC64;
}

static void describe_memory(tn_backend_device *device)
{
  tn_backend_device_info *info = &device->info;
  info->memory_total = read_number(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info->max_shared_bytes = read_number(device, CL_DEVICE_LOCAL_MEM_SIZE);
  device->piece_bytes = read_number(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  device->base_alignment =
      (size_t)read_number(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  if (!device->base_alignment) device->base_alignment = 1;
  info->alignment = device->base_alignment > 256
                        ? (uint32_t)device->base_alignment
                        : 256;
  if (read_number(device, CL_DEVICE_HOST_UNIFIED_MEMORY))
    info->capabilities |= TN_CAP_UNIFIED;
  cl_device_svm_capabilities svm =
      cl_.SVMAlloc && cl_.SVMFree && cl_.EnqueueSVMMemcpy &&
              cl_.EnqueueSVMMemFill && cl_.SetKernelArgSVMPointer
          ? read_number(device, CL_DEVICE_SVM_CAPABILITIES)
          : 0;
  device->has_svm = (svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
  device->has_fine_svm = (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
}

static void describe_use(tn_backend_device *device)
{
  tn_backend_device_info *info = &device->info;
  char version[128];
  unsigned major = 0, minor = 0;
  read_text(device, CL_DEVICE_VERSION, version, sizeof version);
  if (sscanf(version, "OpenCL %u.%u", &major, &minor) != 2 ||
      major * 10 + minor < 12)
    snprintf(info->unavailable, sizeof info->unavailable,
             "the device has \"%s\"; OpenCL 1.2 or later is needed", version);
  else if (!read_number(device, CL_DEVICE_AVAILABLE))
    snprintf(info->unavailable, sizeof info->unavailable,
             "its driver says that the device is not available");
  else if (!read_number(device, CL_DEVICE_COMPILER_AVAILABLE))
    snprintf(info->unavailable, sizeof info->unavailable,
             "its driver has no compiler for kernels");
}

void tn_opencl_describe(tn_backend_device *device)
{
  tn_backend_device_info *info = &device->info;
  char platform[64] = "", version[64];
  char extensions[EXTENSIONS_SIZE] = "";
  info->struct_size = sizeof *info;
  info->numa_node = -1;
  cl_.GetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS, sizeof extensions,
                    extensions, NULL);
  cl_.GetDeviceInfo(device->id, CL_DEVICE_TYPE, sizeof device->type,
                    &device->type, NULL);
  cl_.GetPlatformInfo(device->platform, CL_PLATFORM_NAME, sizeof platform,
                      platform, NULL);
  platform[sizeof platform - 1] = '\0';
  read_text(device, CL_DEVICE_NAME, info->name, sizeof info->name);
  read_text(device, CL_DRIVER_VERSION, version, sizeof version);
  snprintf(info->driver, sizeof info->driver, "%s %s", platform, version);
  info->compute_units =
      (uint32_t)read_number(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  info->max_group_size =
      (uint32_t)read_number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  info->subgroup_sizes = subgroup_sizes_of(device, extensions);
  device->has_slow_binaries =
      !strcmp(platform, "Portable Computing Language");
  device->has_priorities = has_word(extensions, "cl_khr_priority_hints");
  if (device->type & CL_DEVICE_TYPE_CPU)
    info->capabilities |= TN_CAP_HOST_CORES;
  describe_bus(device, extensions);
  describe_numbers(device, extensions);
  describe_memory(device);
  describe_use(device);
}
