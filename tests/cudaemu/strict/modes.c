/* Captures of two threads, and threads whose mode is not what it was: whose
 * unsafe calls are refused, and which captures they spoil. An answer is the
 * code of the call, then those of the ends of both captures, the other
 * thread's first, with three digits each. */
#include "tests/cudaemu/strict/strict.h"

static int exchange(int mode)
{
  CUstreamCaptureMode new = (CUstreamCaptureMode)mode;
  need(cu.ThreadExchangeStreamCaptureMode(&new), "exchanging the mode");
  return (int)new;
}

static int allocate(void)
{
  CUdeviceptr address;
  return (int)cu.MemAlloc(&address, 64);
}

static int allocate_local(void)
{
  exchange(THREAD_LOCAL);
  return allocate();
}

/* What the other thread's capture is like, and the thread itself. */
static int other_mode, other_thread;

static int capture_and_allocate(void)
{
  CUgraph graph = NULL;
  begin_in(streams[1], other_mode);
  exchange(other_thread);
  int code = allocate();
  return 1000 * code + (int)cu.StreamEndCapture(streams[1], &graph);
}

static int beside(int mode, int of_other, int other)
{
  other_mode = of_other;
  other_thread = other;
  begin_in(streams[0], mode);
  int both = on_thread(capture_and_allocate);
  return 1000 * both + end_code();
}

static int both_global(void) { return beside(GLOBAL, GLOBAL, GLOBAL); }
static int both_local(void)
{
  return beside(THREAD_LOCAL, THREAD_LOCAL, GLOBAL);
}
static int both_relaxed(void) { return beside(RELAXED, RELAXED, GLOBAL); }
static int relaxed_by_global(void) { return beside(GLOBAL, RELAXED, GLOBAL); }
static int global_by_relaxed(void) { return beside(RELAXED, GLOBAL, GLOBAL); }
static int local_by_global(void)
{
  return beside(GLOBAL, RELAXED, THREAD_LOCAL);
}
static int own_by_global(void)
{
  return beside(GLOBAL, THREAD_LOCAL, THREAD_LOCAL);
}
static int all_relaxed(void) { return beside(GLOBAL, GLOBAL, RELAXED); }

static int relaxed_begins(void)
{
  exchange(RELAXED);
  begin();
  return with_end((CUresult)allocate());
}

static int relaxed_begins_other(void)
{
  exchange(RELAXED);
  begin();
  return with_end((CUresult)on_thread(allocate));
}

static int back_again(void)
{
  exchange(RELAXED);
  begin();
  int first = allocate();
  exchange(GLOBAL);
  return first ? -first : with_end((CUresult)allocate());
}

static int own_mode(void) { return exchange(GLOBAL); }

static int mode_of_thread(void)
{
  exchange(RELAXED);
  return on_thread(own_mode);
}

static int after_end(void)
{
  begin();
  int code = end_code();
  return code ? -code : allocate();
}

static int after_spoilt_end(void)
{
  begin();
  allocate();
  end_code();
  return on_thread(allocate);
}

static int still_spoilt(void)
{
  begin();
  allocate();
  exchange(RELAXED);
  return with_end((CUresult)allocate());
}

static int two_of_one(void)
{
  begin();
  begin_in(streams[1], GLOBAL);
  CUgraph graph = NULL;
  return 1000 * (int)cu.StreamEndCapture(streams[1], &graph) + end_code();
}

static int local_other_alone(void)
{
  begin();
  return with_end((CUresult)on_thread(allocate_local));
}

static const strict_case cases[] = {
  { "two threads capture in mode global: either's unsafe call spoils both",
    ASSUMED, 900901901, .run = both_global },
  { "both in mode thread-local: its own", DOCUMENTED, 900901000,
    .run = both_local },
  { "both in mode relaxed: none", DOCUMENTED, 0, .run = both_relaxed },
  { "one that captures relaxed, beside a global capture", ASSUMED, 900000901,
    .run = relaxed_by_global },
  { "one that captures globally, beside a relaxed capture", ASSUMED,
    900901000, .run = global_by_relaxed },
  { "a thread-local thread that captures relaxed may", DOCUMENTED, 0,
    .run = local_by_global },
  { "one that captures thread-local may not, and spoils its own", DOCUMENTED,
    900901000, .run = own_by_global },
  { "a relaxed thread may whatever is captured", DOCUMENTED, 0,
    .run = all_relaxed },
  { "a relaxed thread captures globally: it may", DOCUMENTED, 0,
    .run = relaxed_begins },
  { "others may not", DOCUMENTED, 900901, .run = relaxed_begins_other },
  { "nor the thread once its mode is global again", DOCUMENTED, 900901,
    .run = back_again },
  { "another thread's mode is its own", DOCUMENTED, GLOBAL,
    .run = mode_of_thread },
  { "nothing is unsafe after the end", DOCUMENTED, 0, .run = after_end },
  { "also when it was spoilt", DOCUMENTED, 0, .run = after_spoilt_end },
  { "a spoilt capture stays so", DOCUMENTED, 901, .run = still_spoilt },
  { "two captures of one thread", DOCUMENTED, 0, .run = two_of_one },
  { "a thread-local thread that captures nothing may", DOCUMENTED, 0,
    .run = local_other_alone },
};

void strict_modes(void) { STRICT_RUN(cases); }
