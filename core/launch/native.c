/* C functions as kernels. */
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/launch/ffi_library.h"
#include "core/launch/finish.h"
#include "core/launch/module.h"

struct tn_native {
  void (*function)(void);
  const tn_ffi_library *ffi;
  ffi_cif cif;
  ffi_type *types[TN_ARGS_MAX];
};

typedef struct native_call {
  tn_kernel *kernel; /* referenced */
  uint64_t slots[];
} native_call;

static void run(const tn_native *native, const uint64_t *slots)
{
  void *values[TN_ARGS_MAX];
  /* As large as any result that a signature can have. */
  union { ffi_arg word; int64_t i64; double f64; void *pointer; } result;
  for (unsigned i = 0; i < native->cif.nargs; i++)
    values[i] = (void *)(uintptr_t)&slots[i];
  native->ffi->call((ffi_cif *)(uintptr_t)&native->cif, native->function,
                    &result, values);
}

static void run_call(void *argument)
{
  native_call *call = argument;
  run(call->kernel->native, call->slots);
  tn_kernel_release(call->kernel);
  free(call);
}

static tn_status queue(tn_kernel *kernel, tn_stream *stream,
                       const uint64_t *slots)
{
  tn_device_state *state = kernel->state;
  size_t size = kernel->signature.count * sizeof *slots;
  native_call *call = malloc(sizeof *call + size);
  if (!call)
    return tn_error(TN_OUT_OF_MEMORY, "no memory to launch kernel \"%s\"",
                    kernel->name);
  call->kernel = tn_kernel_retain(kernel);
  memcpy(call->slots, slots, size);
  tn_stream_lock(stream);
  tn_status status = state->backend->stream.host_function(
      stream->handle, run_call, call, kernel->tag);
  tn_stream_unlock(stream);
  if (status == TN_OK) return tn_stream_settle(stream, status);
  tn_kernel_release(kernel);
  free(call);
  return tn_plugin_error(state, status, "launch of kernel \"%s\"",
                         kernel->name);
}

tn_status tn_native_launch(tn_kernel *kernel, tn_stream *stream,
                           const uint64_t *slots)
{
  if (!stream->is_eager && kernel->state->backend->stream.host_function)
    return queue(kernel, stream, slots);
  tn_status status = tn_stream_wait_idle(stream, TN_NO_LIMIT);
  if (status == TN_OK) run(kernel->native, slots);
  return status;
}

void tn_native_release(tn_native *native) { free(native); }

static ffi_type *type_of(const tn_ffi_library *ffi, char letter)
{
  switch (letter) {
  case 'v': return ffi->type_void;
  case 'p': return ffi->type_pointer;
  case 'i': return ffi->type_sint32;
  case 'l': return ffi->type_sint64;
  case 'f': return ffi->type_float;
  case 'd': return ffi->type_double;
  default: return NULL;
  }
}

static tn_parameter parameter_of(char letter, unsigned number, uint8_t *kind)
{
  static const char letters[] = "pilfd";
  static const char types[][8] = { "void", "int32", "int64", "float",
                                   "double" };
  size_t which = (size_t)(strchr(letters, letter) - letters);
  tn_parameter parameter = { .is_pointer = letter == 'p', .is_signed = true };
  *kind = (uint8_t)(TN_ARG_KIND_PTR + which);
  strcpy(parameter.type, types[which]);
  snprintf(parameter.name, sizeof parameter.name, "%u", number);
  return parameter;
}

static tn_status refuse_text(const char *text)
{
  return tn_error(TN_INVALID_ARGUMENT, "native signature \"%.80s\": a result "
                  "(v, p, i, l, f or d) and up to %d arguments (p, i, l, f, "
                  "d) in parentheses are, such as \"v(pplfd)\"", text,
                  TN_ARGS_MAX);
}

/* "v(pplfd)" */
static tn_status parse(const char *text, tn_signature *signature)
{
  size_t length = strlen(text);
  size_t count = length >= 3 ? strspn(text + 2, "pilfd") : 0;
  *signature = (tn_signature){ .count = (uint32_t)count };
  if (length != count + 3 || !strchr("vpilfd", text[0]) || text[1] != '(' ||
      text[length - 1] != ')' || count > TN_ARGS_MAX)
    return refuse_text(text);
  for (unsigned i = 0; i < count; i++)
    signature->parameters[i] = parameter_of(text[2 + i], i + 1,
                                            &signature->kinds[i]);
  return TN_OK;
}

static tn_native *make_native(void (*function)(void), const char *text)
{
  const tn_ffi_library *ffi = tn_ffi_open();
  if (!ffi) return NULL;
  tn_native *native = calloc(1, sizeof *native);
  if (!native) {
    tn_error(TN_OUT_OF_MEMORY, "no memory for a native kernel");
    return NULL;
  }
  native->function = function;
  native->ffi = ffi;
  unsigned count = (unsigned)strlen(text) - 3;
  for (unsigned i = 0; i < count; i++)
    native->types[i] = type_of(ffi, text[2 + i]);
  if (ffi->prep_cif(&native->cif, FFI_DEFAULT_ABI, count,
                    type_of(ffi, text[0]), native->types) == FFI_OK)
    return native;
  free(native);
  tn_error(TN_UNSUPPORTED, "libffi refuses the signature \"%s\"", text);
  return NULL;
}

/* The function's own name where it is exported. */
static void name_of(void (*function)(void), char *name, size_t size)
{
  Dl_info info;
  bool is_known = dladdr((void *)(uintptr_t)function, &info) &&
                  info.dli_sname &&
                  info.dli_saddr == (void *)(uintptr_t)function;
  snprintf(name, size, "%s", is_known ? info.dli_sname : "native");
}

static tn_kernel *make(tn_device_state *state, void (*function)(void),
                       const char *text, const tn_signature *signature)
{
  char name[128];
  if (!(state->info.capabilities & TN_CAP_HOST_ACCESS)) {
    tn_error(TN_UNSUPPORTED, "backend \"%s\" runs no C functions: its memory "
             "is not the host's", state->backend->name);
    return NULL;
  }
  tn_launch_arm();
  name_of(function, name, sizeof name);
  tn_native *native = make_native(function, text);
  tn_kernel *kernel = native ? tn_kernel_make(state, name, text) : NULL;
  if (!kernel) {
    tn_native_release(native);
    return NULL;
  }
  kernel->native = native;
  kernel->signature = *signature;
  return kernel;
}

tn_kernel *tn_kernel_native(tn_device device, void (*function)(void),
                            const char *signature)
{
  tn_device_state *state;
  tn_signature parsed;
  if (!function || !signature) {
    tn_error(TN_INVALID_ARGUMENT, "%s is NULL",
             function ? "the signature" : "the function");
    return NULL;
  }
  if (parse(signature, &parsed) != TN_OK) return NULL;
  if (tn_device_acquire(device, &state) != TN_OK) return NULL;
  return make(state, function, signature, &parsed);
}
