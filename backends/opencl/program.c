#include "config.h"

#include "backends/opencl/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/opencl/error.h"
#include "backends/opencl/signature.h"

#define CACHE_KIND "opencl"
#define PATH_SIZE 4096

/* Where a binary costs 0.1 s for each kernel and then saves 0.05 s in all (the
 * driver has a cache, too), only small modules are kept. */
#define SLOW_KERNELS_MAX 4

/* What a cache entry begins with; signatures and binary follow. */
typedef struct entry_head {
  char format[8];
  uint64_t signatures_bytes, binary_bytes;
} entry_head;

static const char entry_format[8] = "tnocl 1";

/* Contraction is switched off in the source, by a pragma. */
static const char *build_options(const tn_backend_device *device)
{
  return device->info.capabilities & TN_CAP_EXACT_DIVIDE
             ? "-cl-kernel-arg-info -cl-fp32-correctly-rounded-divide-sqrt"
             : "-cl-kernel-arg-info";
}

/* Text that determines the binary; the caller's. NULL without host memory. */
static char *build_key(const tn_backend_device *device, const char *source,
                       size_t size, size_t *key_size)
{
  char platform[256] = "", version[256] = "";
  cl_.GetPlatformInfo(device->platform, CL_PLATFORM_VERSION, sizeof platform,
                      platform, NULL);
  cl_.GetDeviceInfo(device->id, CL_DEVICE_VERSION, sizeof version, version,
                    NULL);
  char *key = NULL;
  FILE *text = open_memstream(&key, key_size);
  if (!text) return NULL;
  fprintf(text, "%s\n%s\n%s\n%s\n%s\n%s\n", entry_format, platform, version,
          device->info.name, device->info.driver, build_options(device));
  fwrite(source, 1, size, text);
  if (fclose(text) == 0) return key;
  free(key);
  return NULL;
}

/* The first line that says "error", or else the first that is not empty. */
static void first_message(const char *log, char *message, size_t size)
{
  const char *line = strstr(log, "error");
  while (line && line > log && line[-1] != '\n') line--;
  if (!line) line = log + strspn(log, " \t\r\n");
  snprintf(message, size, "%.*s", (int)strcspn(line, "\r\n"), line);
}

static tn_status report_build(const tn_backend_device *device,
                              const char *name, cl_program program,
                              cl_int code)
{
  size_t size = 0;
  char message[TN_BACKEND_TEXT_SIZE] = "";
  cl_.GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL,
                          &size);
  char *log = calloc(1, size + 1);
  if (log) {
    cl_.GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, size,
                            log, NULL);
    first_message(log, message, sizeof message);
    tn_host->log(TN_LOG_ERROR, "opencl: building \"%s\" on %s:\n%s", name,
                 device->info.name, log);
  }
  free(log);
  return tn_host->error(TN_COMPILE_FAILED,
                        "\"%s\" does not compile on %s: %s", name,
                        device->info.name,
                        message[0] ? message : tn_opencl_code_name(code));
}

static cl_int build_binary(tn_backend_device *device, const void *binary,
                           size_t size, cl_program *program)
{
  const unsigned char *bytes = binary;
  cl_int code, binary_code = CL_SUCCESS;
  cl_program made = cl_.CreateProgramWithBinary(
      device->context->handle, 1, &device->id, &size, &bytes, &binary_code,
      &code);
  if (code == CL_SUCCESS && binary_code) {
    cl_.ReleaseProgram(made);
    code = binary_code;
  }
  if (code) return code;
  code = cl_.BuildProgram(made, 1, &device->id, build_options(device), NULL,
                          NULL);
  if (code) cl_.ReleaseProgram(made);
  else *program = made;
  return code;
}

/* A whole file's first bytes; the caller's. */
static void *read_file(const char *path, uint64_t bytes)
{
  FILE *file = fopen(path, "rbe");
  char *content = file && bytes <= SIZE_MAX ? malloc((size_t)bytes) : NULL;
  if (content && fread(content, 1, (size_t)bytes, file) != bytes) {
    free(content);
    content = NULL;
  }
  if (file) fclose(file);
  return content;
}

static bool take_entry(tn_backend_device *device, const char *content,
                       uint64_t bytes, tn_opencl_program *program)
{
  entry_head head;
  if (bytes < sizeof head) return false;
  memcpy(&head, content, sizeof head);
  bytes -= sizeof head;
  if (memcmp(head.format, entry_format, sizeof entry_format) ||
      head.signatures_bytes > bytes ||
      head.binary_bytes != bytes - head.signatures_bytes)
    return false;
  size_t text_bytes = (size_t)head.signatures_bytes;
  char *text = malloc(text_bytes + 1);
  if (!text) return false;
  memcpy(text, content + sizeof head, text_bytes);
  text[text_bytes] = '\0';
  cl_int code = build_binary(device, content + sizeof head + text_bytes,
                             (size_t)head.binary_bytes, &program->handle);
  if (code) {
    tn_host->log(TN_LOG_DEBUG, "opencl: a cached binary is refused (%s)",
                 tn_opencl_code_name(code));
    free(text);
    return false;
  }
  program->signatures = text;
  return true;
}

static bool find_entry(tn_backend_device *device, const char *key,
                       size_t key_size, tn_opencl_program *program)
{
  char path[PATH_SIZE];
  uint64_t bytes = 0;
  if (tn_host->cache_find(CACHE_KIND, key, key_size, path, sizeof path,
                          &bytes))
    return false;
  char *content = read_file(path, bytes);
  bool taken = content && take_entry(device, content, bytes, program);
  free(content);
  return taken;
}

/* The entry of a program built for one device; the caller's, or NULL. */
static char *new_entry(const tn_backend_device *device,
                       const tn_opencl_program *program, size_t *bytes)
{
  /* The context's other devices have no binary: size 0. */
  cl_device_id ids[TN_BACKEND_DEVICES_MAX];
  size_t sizes[TN_BACKEND_DEVICES_MAX] = { 0 };
  unsigned char *places[TN_BACKEND_DEVICES_MAX] = { 0 };
  size_t filled = 0, mine = 0;
  if (cl_.GetProgramInfo(program->handle, CL_PROGRAM_DEVICES, sizeof ids, ids,
                         &filled) ||
      cl_.GetProgramInfo(program->handle, CL_PROGRAM_BINARY_SIZES,
                         sizeof sizes, sizes, NULL))
    return NULL;
  while (mine < filled / sizeof *ids && ids[mine] != device->id) mine++;
  if (mine == filled / sizeof *ids || !sizes[mine]) return NULL;
  entry_head head = { .signatures_bytes = strlen(program->signatures),
                      .binary_bytes = sizes[mine] };
  memcpy(head.format, entry_format, sizeof entry_format);
  *bytes = sizeof head + (size_t)head.signatures_bytes + sizes[mine];
  char *entry = malloc(*bytes);
  if (!entry) return NULL;
  memcpy(entry, &head, sizeof head);
  memcpy(entry + sizeof head, program->signatures,
         (size_t)head.signatures_bytes);
  places[mine] =
      (unsigned char *)entry + sizeof head + (size_t)head.signatures_bytes;
  if (cl_.GetProgramInfo(program->handle, CL_PROGRAM_BINARIES,
                         filled / sizeof *ids * sizeof *places, places,
                         NULL) == CL_SUCCESS)
    return entry;
  free(entry);
  return NULL;
}

static bool is_worth_keeping(const tn_backend_device *device,
                             const tn_opencl_program *program)
{
  int kernels = 0;
  if (!device->has_slow_binaries) return true;
  for (const char *at = program->signatures; *at; at++)
    kernels += *at == '\n';
  return kernels <= SLOW_KERNELS_MAX;
}

static void store_entry(const tn_backend_device *device, const char *key,
                        size_t key_size, const tn_opencl_program *program)
{
  char path[PATH_SIZE];
  size_t bytes = 0;
  char *entry = new_entry(device, program, &bytes);
  if (entry)
    tn_host->cache_store(CACHE_KIND, key, key_size, entry, bytes, path,
                         sizeof path);
  else
    tn_host->log(TN_LOG_INFO, "opencl: %s gives no binaries to keep",
                 device->info.name);
  free(entry);
}

static tn_status build_source(tn_backend_device *device, const char *name,
                              const char *source, size_t size,
                              tn_opencl_program *program)
{
  cl_int code;
  cl_program built = cl_.CreateProgramWithSource(device->context->handle, 1,
                                                 &source, &size, &code);
  if (code) return tn_opencl_check(code, "clCreateProgramWithSource", device);
  code = cl_.BuildProgram(built, 1, &device->id, build_options(device), NULL,
                          NULL);
  tn_status status = TN_OK;
  if (code) status = report_build(device, name, built, code);
  char *signatures = code ? NULL : tn_opencl_signatures(built, device);
  if (!signatures) {
    cl_.ReleaseProgram(built);
    return status ? status : TN_COMPILE_FAILED;
  }
  *program = (tn_opencl_program){ built, signatures };
  return TN_OK;
}

tn_status tn_opencl_program_compile(tn_backend_device *device,
                                    const char *name, const char *source,
                                    size_t size, tn_opencl_program *program)
{
  size_t key_size = 0;
  char *key = build_key(device, source, size, &key_size);
  if (!key)
    return tn_host->error(TN_OUT_OF_MEMORY, "no host memory to build \"%s\"",
                          name);
  tn_status status = TN_OK;
  if (!find_entry(device, key, key_size, program)) {
    status = build_source(device, name, source, size, program);
    if (status == TN_OK && is_worth_keeping(device, program))
      store_entry(device, key, key_size, program);
  }
  free(key);
  return status;
}

tn_status tn_opencl_program_take(tn_backend_device *device, const char *name,
                                 const void *binary, size_t size,
                                 tn_opencl_program *program)
{
  cl_program built;
  cl_int code = build_binary(device, binary, size, &built);
  if (code)
    return tn_host->error(TN_COMPILE_FAILED,
                          "\"%s\" is no binary for %s (%s)", name,
                          device->info.name, tn_opencl_code_name(code));
  char *signatures = tn_opencl_signatures(built, device);
  if (!signatures) {
    cl_.ReleaseProgram(built);
    return tn_host->error(TN_COMPILE_FAILED,
                          "\"%s\" does not tell its kernels' parameters: it "
                          "must be built with -cl-kernel-arg-info", name);
  }
  *program = (tn_opencl_program){ built, signatures };
  return TN_OK;
}
