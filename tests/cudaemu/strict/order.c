/* Accesses of two streams to the same memory: unordered ones are reported, and
 * no others. */
#include <pthread.h>

#include "tests/cudaemu/strict/strict.h"

static void fill(CUdeviceptr memory, size_t bytes, int stream)
{
  cu.MemsetD8Async(memory, 1, bytes, streams[stream]);
}

static int finish_both(void)
{
  int code = finish(streams[0]);
  if (!code) code = finish(streams[1]);
  return code ? -code : reported();
}

static int two_fills(void)
{
  CUdeviceptr memory = take(64);
  fill(memory, 64, 0);
  fill(memory, 64, 1);
  return finish_both();
}

static int waited(void)
{
  CUdeviceptr memory = take(64);
  CUevent event = new_event();
  fill(memory, 64, 0);
  cu.EventRecord(event, streams[0]);
  cu.StreamWaitEvent(streams[1], event, 0);
  fill(memory, 64, 1);
  return finish_both();
}

/* Recorded before what it should be after. */
static int waited_early(void)
{
  CUdeviceptr memory = take(64);
  CUevent event = new_event();
  cu.EventRecord(event, streams[0]);
  fill(memory, 64, 0);
  cu.StreamWaitEvent(streams[1], event, 0);
  fill(memory, 64, 1);
  return finish_both();
}

static int through_host(void)
{
  CUdeviceptr memory = take(64);
  fill(memory, 64, 0);
  finish(streams[0]);
  fill(memory, 64, 1);
  return finish_both();
}

static int through_query(void)
{
  CUdeviceptr memory = take(64);
  fill(memory, 64, 0);
  while (cu.StreamQuery(streams[0])) continue;
  fill(memory, 64, 1);
  return finish_both();
}

static int two_halves(void)
{
  CUdeviceptr memory = take(101);
  fill(memory, 50, 0);
  fill(memory + 50, 51, 1);
  return finish_both();
}

static int overlap(void)
{
  CUdeviceptr memory = take(101);
  fill(memory, 51, 0);
  fill(memory + 50, 51, 1);
  return finish_both();
}

static void copy(CUdeviceptr to, CUdeviceptr from, int stream)
{
  launch(take_function("copy"), 1, 16, streams[stream], to, from);
}

static int two_reads(void)
{
  CUdeviceptr memory = take(64);
  fill(memory, 64, 0);
  finish(streams[0]);
  copy(take(64), memory, 0);
  copy(take(64), memory, 1);
  return finish_both();
}

static int read_and_write(void)
{
  CUdeviceptr memory = take(64), other = take(64);
  CUfunction put = take_function("put"), reader = take_function("copy");
  launch(put, 1, 16, streams[0], memory, 0);
  launch(reader, 1, 16, streams[1], other, memory);
  return finish_both();
}

static int kernel_halves(void)
{
  CUdeviceptr memory = take(128);
  CUfunction put = take_function("put");
  launch(put, 1, 17, streams[0], memory, 0);
  launch(put, 1, 15, streams[1], memory, 68);
  return finish_both();
}

static void *wait_first(void *unused)
{
  (void)unused;
  cu.CtxSetCurrent(contexts[0]);
  return (void *)(intptr_t)finish(streams[0]);
}

/* One thread waits, and another, which joins it, goes on: the driver sees no
 * more of that than the order of calls. */
static int through_thread(void)
{
  pthread_t thread;
  CUdeviceptr memory = take(64);
  fill(memory, 64, 0);
  pthread_create(&thread, NULL, wait_first, NULL);
  pthread_join(thread, NULL);
  fill(memory, 64, 1);
  return finish_both();
}

static CUdeviceptr shared_memory;

static void *fill_first(void *unused)
{
  (void)unused;
  cu.CtxSetCurrent(contexts[0]);
  fill(shared_memory, 64, 0);
  return NULL;
}

/* That a thread has queued something does not order what another queues. */
static int two_threads(void)
{
  pthread_t thread;
  shared_memory = take(64);
  pthread_create(&thread, NULL, fill_first, NULL);
  pthread_join(thread, NULL);
  fill(shared_memory, 64, 1);
  return finish_both();
}

/* By way of a third stream. */
static int transitive(void)
{
  CUstream third;
  CUdeviceptr memory = take(64);
  CUevent first = new_event(), second = new_event();
  cu.StreamCreateWithPriority(&third, 1, 0);
  fill(memory, 64, 0);
  cu.EventRecord(first, streams[0]);
  cu.StreamWaitEvent(third, first, 0);
  cu.EventRecord(second, third);
  cu.StreamWaitEvent(streams[1], second, 0);
  fill(memory, 64, 1);
  return finish_both();
}

/* New memory where freed memory was, or not: it starts afresh. */
static int freed_between(void)
{
  CUdeviceptr memory = take(64);
  fill(memory, 64, 0);
  finish(streams[0]);
  cu.MemFree(memory);
  fill(take(64), 64, 1);
  return finish_both();
}

static const strict_case cases[] = {
  { "two streams fill one memory", OURS, 1, .run = two_fills,
    "unordered: a fill on stream" },
  { "one waits for the other's event", OURS, 0, .run = waited },
  { "the event was recorded too early", OURS, 1, .run = waited_early,
    "nothing says which comes first" },
  { "the host waited in between", OURS, 0, .run = through_host },
  { "another thread of the host waited in between", OURS, 0,
    .run = through_thread },
  { "another thread queued", OURS, 1, .run = two_threads,
    "unordered: a fill on stream" },
  { "the host asked in between", OURS, 0, .run = through_query },
  { "each has its part", OURS, 0, .run = two_halves },
  { "the parts share a byte", OURS, 1, .run = overlap, "byte 50 (0x" },
  { "two kernels read", OURS, 0, .run = two_reads },
  { "one kernel writes, another reads", OURS, 1, .run = read_and_write,
    ", block (0,0,0) thread (" },
  { "two kernels write parts next to each other", OURS, 0,
    .run = kernel_halves },
  { "by way of a third stream", OURS, 0, .run = transitive },
  { "the memory was freed in between", OURS, 0, .run = freed_between },
};

void strict_order(void) { STRICT_RUN(cases); }
