/* Waits of streams for a word in memory, which the host may write at any
 * time. */
#include <stdlib.h>

#include "tests/cudaemu/address.h"
#include "tests/cudaemu/capture.h"
#include "tests/cudaemu/host.h"
#include "tests/cudaemu/stream.h"

typedef struct word_wait {
  emu_allocation *allocation;
  const uint32_t *word;
  uint32_t value;
} word_wait;

static void free_word_wait(void *payload)
{
  word_wait *w = payload;
  w->allocation->uses--;
  free(w);
}

static CUresult run_word_wait(emu_command *command)
{
  const word_wait *w = command->payload;
  emu_stream *stream = command->stream;
  uint64_t pause = 1000;
  pthread_mutex_lock(&emu.lock);
  while (emu_is_live(w->allocation) && !stream->context->failed && !emu.ended &&
         (int32_t)(__atomic_load_n(w->word, __ATOMIC_ACQUIRE) - w->value) < 0)
  {
    emu_stream_pause(stream, pause);
    if (pause < 200000) pause *= 2;
  }
  bool is_there = emu_is_live(w->allocation);
  emu_host_teach(&stream->passed);
  pthread_mutex_unlock(&emu.lock);
  if (is_there) return TN_CUDA_SUCCESS;
  emu_print("use after free: a wait for a word at 0x%llx, which was freed",
            (unsigned long long)w->allocation->address);
  return TN_CUDA_ERROR_ILLEGAL_ADDRESS;
}

CUresult emu_StreamWaitValue32(CUstream handle, CUdeviceptr address,
                               uint32_t value, unsigned flags)
{
  emu_stream *stream;
  CUresult code = emu_enter_stream(EMU_StreamWaitValue32, 0, handle,
                                   &stream);
  if (code) return code;
  code = emu_capture_admit(stream);
  if (!code && stream->capture) {
    emu_print("cuStreamWaitValue32 is not emulated while a stream captures");
    code = TN_CUDA_ERROR_NOT_SUPPORTED;
  }
  if (code) return emu_leave(code);
  emu_allocation *a = emu_memory_overlap(address, 4);
  if (!a || address % 4 || address < a->address ||
      flags != TN_CU_STREAM_WAIT_VALUE_GEQ) {
    emu_print("cuStreamWaitValue32: flags %u, address 0x%llx%s", flags,
              (unsigned long long)address,
              a ? "" : ": not memory of the driver's");
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  }
  word_wait *w = malloc(sizeof *w);
  if (!w) return emu_leave(TN_CUDA_ERROR_OUT_OF_MEMORY);
  *w = (word_wait){
    a, (const uint32_t *)(void *)(a->host + (address - a->address)), value,
  };
  a->uses++;
  return emu_leave(emu_enqueue(stream, "a wait for memory", run_word_wait, w,
                               free_word_wait));
}
