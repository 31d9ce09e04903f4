/* How every call begins: may it be made at all? */
#include "tests/cudaemu/emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/capture.h"
#include "tests/cudaemu/thread.h"

static const char *const call_names[EMU_CALLS] = {
#define NAME(name, version, parameters) "cu" #name,
#define NAME_MORE(function, name, version, parameters) "cu" #name,
  TN_CUDA_REQUIRED(NAME) TN_CUDA_OPTIONAL(NAME)
  TN_CUDA_GRAPHS(NAME)
  EMU_CALLS_MORE(NAME_MORE)
#undef NAME
#undef NAME_MORE
};

static unsigned call_counts[EMU_CALLS];

_Thread_local emu_thread emu_here;

/* Only what ends the context comes from queued work. */
static CUresult check_late(unsigned code)
{
  if (emu_is_sticky((CUresult)code)) return (CUresult)code;
  emu_print("TENON_CUDAEMU_FAIL: queued work does not fail with %u", code);
  _Exit(99);
}

/* "cuMemAlloc:3=2" fails the third call with code 2; ~ for = lets it queue its
 * command, which then fails so. Several are separated by commas. */
static CUresult planned_code(emu_call call)
{
  unsigned number = __atomic_add_fetch(&call_counts[call], 1,
                                       __ATOMIC_RELAXED);
  size_t length = strlen(call_names[call]);
  const char *plan = emu.settings.faults;
  while (plan && *plan) {
    char how = 0;
    unsigned nth = 0, code = 0;
    if (strncmp(plan, call_names[call], length) == 0 && plan[length] == ':' &&
        sscanf(plan + length + 1, "%u%c%u", &nth, &how, &code) == 3 &&
        nth == number) {
      if (how != '~') return (CUresult)code;
      emu_here.planned = check_late(code);
    }
    plan = strchr(plan, ',');
    if (plan) plan++;
  }
  return TN_CUDA_SUCCESS;
}

CUresult emu_planned_failure(void)
{
  CUresult code = emu_here.planned;
  emu_here.planned = 0;
  return code;
}

/* With the lock held. */
static CUresult check_state(int needs)
{
  if (emu.ended) return TN_CUDA_ERROR_DEINITIALIZED;
  if (needs & EMU_BEFORE_INIT) return TN_CUDA_SUCCESS;
  if (!emu.initialised) return TN_CUDA_ERROR_NOT_INITIALIZED;
  if (!(needs & EMU_CONTEXT)) return TN_CUDA_SUCCESS;
  emu_context *context = emu_here.context;
  if (!context) return (CUresult)EMU_ERROR_INVALID_CONTEXT;
  if (!context->retained || context->generation != emu_here.generation)
    return TN_CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return emu_context_pass(context);
}

static void begin(void)
{
  emu_settings_read(&emu.settings);
  if ((emu.settings.driver < 12000) == emu_is_old) return;
  emu_print("driver %d.%d is another library: cudaemu-run --driver %d.%d",
            emu.settings.driver / 1000, emu.settings.driver % 1000 / 10,
            emu.settings.driver / 1000, emu.settings.driver % 1000 / 10);
  _Exit(99);
}

CUresult emu_enter(emu_call call, int needs)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (emu.forked) return TN_CUDA_ERROR_NOT_INITIALIZED;
  pthread_once(&once, begin);
  if (emu_here.is_called_back) {
    emu_report("%s within a host function of a stream", call_names[call]);
    return TN_CUDA_ERROR_NOT_PERMITTED;
  }
  emu_here.planned = 0;
  emu_here.call = call_names[call];
  CUresult code = planned_code(call);
  pthread_mutex_lock(&emu.lock);
  CUresult state = check_state(needs);
  if (!state && needs & EMU_UNSAFE) state = emu_capture_forbid();
  if (state) code = state;
  else if (code && emu_is_sticky(code) && (needs & EMU_CONTEXT))
    emu_context_lose(emu_here.context, code);
  return code ? emu_leave(code) : TN_CUDA_SUCCESS;
}

CUresult emu_leave(CUresult code)
{
  pthread_mutex_unlock(&emu.lock);
  if (emu.settings.trace) emu_print("%s: %d", emu_here.call, (int)code);
  return code;
}

emu_context *emu_current(void) { return emu_here.context; }
