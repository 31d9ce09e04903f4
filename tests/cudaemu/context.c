#include "tests/cudaemu/emulator.h"

#include <limits.h>

#include "tests/cudaemu/address.h"
#include "tests/cudaemu/module.h"
#include "tests/cudaemu/stream.h"
#include "tests/cudaemu/thread.h"

bool emu_is_sticky(CUresult code)
{
  switch ((int)code) {
    case TN_CUDA_ERROR_ECC_UNCORRECTABLE:
    case TN_CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case TN_CUDA_ERROR_CONTAINED:
    case TN_CUDA_ERROR_ILLEGAL_ADDRESS:
    case TN_CUDA_ERROR_LAUNCH_TIMEOUT:
    case TN_CUDA_ERROR_ASSERT:
    case TN_CUDA_ERROR_HARDWARE_STACK_ERROR:
    case TN_CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case TN_CUDA_ERROR_MISALIGNED_ADDRESS:
    case TN_CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case TN_CUDA_ERROR_INVALID_PC:
    case TN_CUDA_ERROR_LAUNCH_FAILED:
    case TN_CUDA_ERROR_EXTERNAL_DEVICE:
      return true;
    default:
      return false;
  }
}

bool emu_is_context(const emu_context *context)
{
  for (int i = 0; i < emu.visible_count; i++)
    if (context == emu.contexts + i) return context->retained != 0;
  return false;
}

void emu_context_fail(emu_context *context, CUresult code)
{
  static unsigned failures; /* of all contexts */
  if (context->failed) return;
  context->failed = code;
  emu_print("the context of device %d is lost: error %d", context->device,
            (int)code);
  uint64_t random = emu_random(UINT64_C(0xfa11), failures++);
  if (!emu.settings.seed || random % 3 == 0) context->lost = code;
  else if (random % 3 == 1) context->untold = 1 + (random >> 8) % 8;
  else context->untold = UINT_MAX;
}

void emu_context_lose(emu_context *context, CUresult code)
{
  emu_context_fail(context, code);
  emu_context_tell(context);
}

CUresult emu_context_pass(emu_context *context)
{
  if (!context->failed || context->lost) return context->lost;
  if (context->untold == 0) context->lost = context->failed;
  else if (context->untold != UINT_MAX) context->untold--;
  return context->lost;
}

CUresult emu_context_tell(emu_context *context)
{
  return context->lost = context->failed;
}

CUresult emu_DevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
  CUresult code = emu_enter(EMU_DevicePrimaryCtxRetain, 0);
  if (code) return code;
  if (!context) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  if (device < 0 || device >= emu.visible_count)
    return emu_leave(TN_CUDA_ERROR_INVALID_DEVICE);
  emu_context *c = emu.contexts + device;
  if (!c->retained++) c->generation++;
  *context = c;
  return emu_leave(TN_CUDA_SUCCESS);
}

/* The last release ends the context with all that is of it. */
CUresult emu_DevicePrimaryCtxRelease(CUdevice device)
{
  CUresult code = emu_enter(EMU_DevicePrimaryCtxRelease, 0);
  if (code) return code;
  if (device < 0 || device >= emu.visible_count)
    return emu_leave(TN_CUDA_ERROR_INVALID_DEVICE);
  emu_context *c = emu.contexts + device;
  if (!c->retained) return emu_leave((CUresult)EMU_ERROR_INVALID_CONTEXT);
  if (--c->retained) return emu_leave(TN_CUDA_SUCCESS);
  emu_streams_close(c);
  emu_modules_close(c);
  emu_memory_drop_all(device);
  c->legacy = NULL;
  c->peers = 0;
  c->generation++;
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_CtxSetCurrent(CUcontext context)
{
  CUresult code = emu_enter(EMU_CtxSetCurrent, 0);
  if (code) return code;
  if (context && !emu_is_context(context))
    return emu_leave((CUresult)EMU_ERROR_INVALID_CONTEXT);
  emu_here.context = context;
  emu_here.generation = context ? context->generation : 0;
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_CtxGetCurrent(CUcontext *context)
{
  CUresult code = emu_enter(EMU_CtxGetCurrent, 0);
  if (code) return code;
  if (!context) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  *context = emu_here.context;
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_CtxGetStreamPriorityRange(int *least, int *greatest)
{
  CUresult code = emu_enter(EMU_CtxGetStreamPriorityRange, EMU_CONTEXT);
  if (code) return code;
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return emu_leave(TN_CUDA_SUCCESS);
}

/* In one direction: the current context may then access the other's memory. */
CUresult emu_CtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
  CUresult code = emu_enter(EMU_CtxEnablePeerAccess, EMU_CONTEXT);
  if (code) return code;
  emu_context *current = emu_current();
  if (flags) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  if (!emu_is_context(peer) || peer == current)
    return emu_leave((CUresult)EMU_ERROR_INVALID_CONTEXT);
  if (!emu_are_peers(current->device, peer->device))
    return emu_leave(TN_CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  if (current->peers >> peer->device & 1)
    return emu_leave(TN_CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  current->peers |= 1u << peer->device;
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_CtxDisablePeerAccess(CUcontext peer)
{
  CUresult code = emu_enter(EMU_CtxDisablePeerAccess, EMU_CONTEXT);
  if (code) return code;
  emu_context *current = emu_current();
  if (!emu_is_context(peer))
    return emu_leave((CUresult)EMU_ERROR_INVALID_CONTEXT);
  if (!(current->peers >> peer->device & 1))
    return emu_leave(TN_CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  current->peers &= ~(1u << peer->device);
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_ThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
  CUresult code = emu_enter(EMU_ThreadExchangeStreamCaptureMode, 0);
  if (code) return code;
  if (!mode || (unsigned)*mode > TN_CU_STREAM_CAPTURE_MODE_RELAXED)
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  CUstreamCaptureMode former = emu_here.capture_mode;
  emu_here.capture_mode = *mode;
  *mode = former;
  return emu_leave(TN_CUDA_SUCCESS);
}
