#include "config.h"

#include "bench/raw_cuda.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

raw_cuda raw;

#define ACCUMULATE(n) "fma.rn.f32 %s" #n ", %s" #n ", %a, %a;\n"
#define ACCUMULATE_8 \
  ACCUMULATE(0) ACCUMULATE(1) ACCUMULATE(2) ACCUMULATE(3) \
  ACCUMULATE(4) ACCUMULATE(5) ACCUMULATE(6) ACCUMULATE(7)
#define START(n) "add.f32 %s" #n ", %a, 0f4" #n "000000;\n"
#define COLLECT(n) "add.f32 %s0, %s0, %s" #n ";\n"

/* The sums of fma are stored, so none of them can be left out. */
static const char text[] =
  ".version 6.3\n.target sm_75\n.address_size 64\n"
  ".visible .entry axpy(.param .u64 y, .param .u64 x, .param .f32 a,"
  " .param .u64 n)\n{\n"
  ".reg .b64 %y, %x, %n, %i, %o; .reg .b32 %c, %b, %t;\n"
  ".reg .f32 %a, %v, %w; .reg .pred %p;\n"
  "ld.param.u64 %y, [y]; ld.param.u64 %x, [x];\n"
  "ld.param.f32 %a, [a]; ld.param.u64 %n, [n];\n"
  "mov.u32 %c, %ctaid.x; mov.u32 %b, %ntid.x; mov.u32 %t, %tid.x;\n"
  "mad.lo.s32 %t, %c, %b, %t; cvt.u64.u32 %i, %t;\n"
  "setp.ge.s64 %p, %i, %n; @%p ret;\n"
  "shl.b64 %o, %i, 2; add.s64 %y, %y, %o; add.s64 %x, %x, %o;\n"
  "ld.global.f32 %v, [%x]; ld.global.f32 %w, [%y];\n"
  "fma.rn.f32 %w, %a, %v, %w; st.global.f32 [%y], %w; ret;\n}\n"
  ".visible .entry fma(.param .u64 y, .param .u32 rounds, .param .f32 a)\n"
  "{\n.reg .b64 %y, %i; .reg .b32 %r, %c, %b, %t; .reg .pred %p;\n"
  ".reg .f32 %a, %s<8>;\n"
  "ld.param.u64 %y, [y]; ld.param.u32 %r, [rounds];\n"
  "ld.param.f32 %a, [a];\n"
  START(0) START(1) START(2) START(3) START(4) START(5) START(6) START(7)
  "again:\n"
  ACCUMULATE_8 ACCUMULATE_8 ACCUMULATE_8 ACCUMULATE_8
  "sub.u32 %r, %r, 1; setp.ne.u32 %p, %r, 0; @%p bra again;\n"
  COLLECT(1) COLLECT(2) COLLECT(3) COLLECT(4) COLLECT(5) COLLECT(6)
  COLLECT(7)
  "mov.u32 %c, %ctaid.x; mov.u32 %b, %ntid.x; mov.u32 %t, %tid.x;\n"
  "mad.lo.s32 %t, %c, %b, %t; mul.wide.u32 %i, %t, 4;\n"
  "add.s64 %y, %y, %i; st.global.f32 [%y], %s0; ret;\n}\n";

typedef CUresult get_address(const char *name, void **function, int version,
                             uint64_t flags, int *status);

static const struct {
  const char *name;
  int version;
  void *slot;
  bool required;
} entries[] = {
#define REQUIRED(name, version, parameters) \
  { "cu" #name, version, &raw.calls.name, true },
  TN_CUDA_REQUIRED(REQUIRED)
#define OPTIONAL(name, version, parameters) \
  { "cu" #name, version, &raw.calls.name, false },
  TN_CUDA_GRAPHS(OPTIONAL)
  { "cuMemAllocAsync", 11020, &raw.MemAllocAsync, false },
  { "cuMemFreeAsync", 11020, &raw.MemFreeAsync, false },
};

static const char *load(void)
{
  static char reason[128];
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  get_address *ask = NULL;
  if (!library) return "no libcuda.so.1";
  *(void **)&ask = dlsym(library, "cuGetProcAddress_v2");
  if (!ask) return "libcuda.so.1 has no cuGetProcAddress_v2";
  raw.is_emulated = dlsym(library, "cudaemu_take_reports") != NULL;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *function = NULL;
    int status = 0;
    if (ask(entries[i].name, &function, entries[i].version, 1, &status) ||
        status)
      function = NULL;
    if (!function && entries[i].required) {
      snprintf(reason, sizeof reason, "libcuda.so.1 has no %s",
               entries[i].name);
      return reason;
    }
    *(void **)entries[i].slot = function;
  }
  return NULL;
}

void raw_check(CUresult code, const char *what)
{
  const char *name = NULL;
  if (!code) return;
  raw.calls.GetErrorName(code, &name);
  fprintf(stderr, "bench: %s answered %d (%s)\n", what, (int)code,
          name ? name : "no name");
  exit(2);
}

const char *raw_cuda_open(CUdevice device, CUcontext context)
{
  const char *reason = load();
  int units = 0;
  CUmodule module;
  if (reason) return reason;
  raw.context = context;
  raw_check(raw.calls.CtxSetCurrent(context), "cuCtxSetCurrent");
  raw_check(raw.calls.DeviceGetName(raw.name, sizeof raw.name, device),
            "cuDeviceGetName");
  raw_check(raw.calls.DeviceGetAttribute(
                &units, (CUdevice_attribute)
                            TN_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                device), "cuDeviceGetAttribute");
  raw.units = (unsigned)units;
  raw_check(raw.calls.StreamCreateWithPriority(
                &raw.stream, TN_CU_STREAM_NON_BLOCKING, 0),
            "cuStreamCreateWithPriority");
  raw_check(raw.calls.ModuleLoadDataEx(&module, text, 0, NULL, NULL),
            "cuModuleLoadDataEx");
  raw_check(raw.calls.ModuleGetFunction(&raw.axpy, module, "axpy"), "axpy");
  raw_check(raw.calls.ModuleGetFunction(&raw.fma, module, "fma"), "fma");
  return NULL;
}
