#include "layers/race_watch.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "layers/race_clock.h"

/* A backend's thread that comes to the memory is held up until the program
 * waits for something, but not longer than this: the host's access, if there
 * is one, then comes first. */
enum { HOLD_MILLISECONDS = 50, WATCHES = 256, TRESPASSES = 32 };

typedef struct watch {
  bool is_used, is_open, is_written;
  uintptr_t begin, end; /* whole pages */
  order_step by;        /* without its clock */
  order_clock clock;    /* what is before it */
} watch;

/* Initial-exec: the handler must not allocate. */
#define HANDLER_TLS static __thread __attribute__((tls_model("initial-exec")))
HANDLER_TLS race_watch_thread self;

static watch watches[WATCHES];
static int watch_count; /* beyond it none is used */
static bool spin;
static unsigned opened; /* how often pages were */
static int waiting; /* threads in calls that may wait */
static race_trespass trespasses[TRESPASSES];
static unsigned trespass_count, trespass_told;
static const tn_host_api *the_host;
static struct sigaction former;
static uintptr_t page;

/* Also taken by the handler: what it guards touches no watched memory. */
static void take(void)
{
  while (__atomic_test_and_set(&spin, __ATOMIC_ACQUIRE)) sched_yield();
}

static void give(void) { __atomic_clear(&spin, __ATOMIC_RELEASE); }

/* Pages ----------------------------------------------------------------- */

static void protect(uintptr_t begin, uintptr_t end, int protection)
{
  if (begin < end) mprotect((void *)begin, end - begin, protection);
}

static uintptr_t least(uintptr_t a, uintptr_t b) { return a < b ? a : b; }
static uintptr_t most(uintptr_t a, uintptr_t b) { return a > b ? a : b; }

/* The pages are as the watches that are left want them, the stricter last. */
static void protect_again(uintptr_t begin, uintptr_t end)
{
  protect(begin, end, PROT_READ | PROT_WRITE);
  for (int strict = 0; strict < 2; strict++)
    for (int i = 0; i < watch_count; i++) {
      const watch *w = watches + i;
      if (w->is_used && !w->is_open && w->is_written == strict)
        protect(most(begin, w->begin), least(end, w->end),
                strict ? PROT_NONE : PROT_READ);
    }
}

static void open_watch(watch *w)
{
  if (w->is_open) return;
  w->is_open = true;
  protect_again(w->begin, w->end);
  __atomic_add_fetch(&opened, 1, __ATOMIC_RELEASE);
}

static void end_watch(watch *w)
{
  open_watch(w);
  w->is_used = false;
  order_clock_free(&w->clock);
  while (watch_count && !watches[watch_count - 1].is_used) watch_count--;
}

/* The strictest: a read is never taken for what only keeps writes off. */
static watch *find(uintptr_t address)
{
  watch *found = NULL;
  for (int i = 0; i < watch_count; i++) {
    watch *w = watches + i;
    if (!w->is_used || w->is_open || w->begin > address || address >= w->end)
      continue;
    if (w->is_written) return w;
    found = w;
  }
  return found;
}

/* The handler ----------------------------------------------------------- */

static void *counter_of(const ucontext_t *context)
{
#if defined __x86_64__
  return (void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
  return (void *)context->uc_mcontext.pc;
#else
  (void)context;
  return NULL;
#endif
}

static bool is_write(const ucontext_t *context, const watch *w)
{
#if defined __x86_64__
  if (w->is_written) return context->uc_mcontext.gregs[REG_ERR] & 2;
#else
  (void)context;
#endif
  return !w->is_written;
}

static void note_trespass(const watch *w, uintptr_t address,
                          const ucontext_t *context)
{
  void *frames[24];
  if (trespass_count == TRESPASSES) return;
  race_trespass *t = trespasses + trespass_count;
  int count = backtrace(frames, 24), first = 0;
  while (first < count && frames[first] != counter_of(context)) first++;
  if (first == count) first = 0;
  *t = (race_trespass){ .tag = w->by.tag, .address = address,
                        .is_write = is_write(context, w),
                        .is_function = self.function != NULL };
  while (first < count && t->frame_count < 16)
    t->frames[t->frame_count++] = frames[first++];
  __atomic_store_n(&trespass_count, trespass_count + 1, __ATOMIC_RELEASE);
}

/* What this thread does is in no order with the watched work. A function that
 * runs knows of what was before it, which is no longer watched. */
static bool is_trespass(const watch *w)
{
  const order_step *f = self.function;
  if (f) return order_known(&w->clock, f->agent) < f->step;
  return self.is_program && !self.inside;
}

/* Whether another thread's access to what is still watched should come first:
 * this one is in order, and not from within a call of the program's. */
static bool should_wait(uintptr_t address)
{
  if (self.is_program && !self.function) return false;
  take();
  const watch *w = find(address);
  bool is_in_order = w && !is_trespass(w);
  give();
  return is_in_order;
}

static void hold(uintptr_t address)
{
  for (int i = 0; i < HOLD_MILLISECONDS; i++) {
    if (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) ||
        !should_wait(address))
      return;
    nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
  }
}

/* True: the access may go on. */
static bool let_through(uintptr_t address, const ucontext_t *context)
{
  hold(address);
  take();
  watch *w = find(address);
  if (w && is_trespass(w)) note_trespass(w, address, context);
  if (w) open_watch(w);
  give();
  return w != NULL;
}

/* Another thread may have opened the page since: once more, unless nothing was
 * opened since this thread last tried there. */
static bool may_try_again(uintptr_t address)
{
  HANDLER_TLS uintptr_t last;
  HANDLER_TLS unsigned last_opened;
  unsigned now = __atomic_load_n(&opened, __ATOMIC_ACQUIRE);
  if (last == address && last_opened == now) return false;
  last = address;
  last_opened = now;
  return true;
}

static void handle(int signal, siginfo_t *info, void *context)
{
  int kept = errno;
  uintptr_t address = (uintptr_t)info->si_addr;
  if (info->si_code == SEGV_ACCERR && the_host->is_forked_child()) {
    protect(address & ~(page - 1), (address & ~(page - 1)) + page,
            PROT_READ | PROT_WRITE);
    if (may_try_again(address)) return;
  } else if (info->si_code == SEGV_ACCERR &&
             (let_through(address, context) || may_try_again(address))) {
    errno = kept;
    return;
  }
  errno = kept;
  if (former.sa_flags & SA_SIGINFO) former.sa_sigaction(signal, info, context);
  else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN)
    former.sa_handler(signal);
  else sigaction(signal, &former, NULL);
}

static bool install(void)
{
  struct sigaction now, ours = { .sa_flags = SA_SIGINFO | SA_NODEFER };
  if (sigaction(SIGSEGV, NULL, &now)) return false;
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handle) return true;
  ours.sa_sigaction = handle;
  former = now;
  page = (uintptr_t)sysconf(_SC_PAGESIZE);
  return sigaction(SIGSEGV, &ours, NULL) == 0;
}

/* Threads --------------------------------------------------------------- */

static bool blocks_now(const char *thread)
{
  char path[64], line[128];
  unsigned long long blocked = 0;
  snprintf(path, sizeof path, "/proc/self/task/%.20s/status", thread);
  FILE *file = fopen(path, "re");
  if (!file) return false; /* it has ended */
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "SigBlk: %llx", &blocked) == 1) break;
  fclose(file);
  return blocked >> (SIGSEGV - 1) & 1;
}

/* A fault in a thread that blocks the signal would end the process. One that
 * begins blocks all of them for a moment. */
static bool blocks_faults(const char *thread)
{
  for (int i = 0; i < HOLD_MILLISECONDS; i++) {
    if (!blocks_now(thread)) return false;
    nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
  }
  return true;
}

/* Looks at each thread once. */
static bool all_take_faults(void)
{
  enum { SEEN = 1024 };
  static long seen[SEEN];
  static int bad;
  DIR *folder = bad ? NULL : opendir("/proc/self/task");
  if (!folder) return false;
  for (struct dirent *entry; (entry = readdir(folder)) && !bad;) {
    long thread = strtol(entry->d_name, NULL, 10);
    if (!thread || seen[thread % SEEN] == thread) continue;
    seen[thread % SEEN] = thread;
    bad = blocks_faults(entry->d_name);
  }
  closedir(folder);
  if (bad)
    the_host->log(TN_LOG_WARNING, "race: a thread of the process blocks "
                  "SIGSEGV: what the host does to pinned memory is no longer "
                  "watched");
  return !bad;
}

/* Watches --------------------------------------------------------------- */

void race_watch_enter(bool may_wait)
{
  self.is_program = true;
  self.inside++;
  if (may_wait) __atomic_add_fetch(&waiting, 1, __ATOMIC_ACQ_REL);
}

void race_watch_leave(bool may_wait)
{
  self.inside--;
  if (may_wait) __atomic_sub_fetch(&waiting, 1, __ATOMIC_ACQ_REL);
}

race_watch_thread race_watch_begin_function(const order_step *at)
{
  race_watch_thread before = self;
  self = (race_watch_thread){ .is_program = true, .function = at };
  return before;
}

void race_watch_end_function(const race_watch_thread *before)
{
  self = *before;
}

void race_watch_begin(const tn_host_api *host, const order_step *by,
                      bool is_written, tn_address address, uint64_t bytes)
{
  the_host = host;
  if (!install() || !all_take_faults()) return;
  uintptr_t begin = ((uintptr_t)address + page - 1) & ~(page - 1);
  uintptr_t end = ((uintptr_t)address + bytes) & ~(page - 1);
  if (begin >= end) return;
  order_clock clock = { 0, NULL };
  order_join(&clock, by->clock);
  order_join(&clock, &race_host.clock);
  take();
  int at = 0;
  while (at < watch_count && watches[at].is_used) at++;
  if (at < WATCHES) {
    watches[at] = (watch){ true, false, is_written, begin, end,
                           { by->agent, by->step, by->tag, NULL }, clock };
    clock = (order_clock){ 0, NULL };
    if (at == watch_count) watch_count++;
    protect_again(begin, end);
  }
  give();
  order_clock_free(&clock);
}

static void end_each(bool (*is_wanted)(const watch *, const void *),
                     const void *argument)
{
  if (!__atomic_load_n(&watch_count, __ATOMIC_ACQUIRE)) return;
  take();
  for (int i = watch_count - 1; i >= 0; i--)
    if (i < watch_count && watches[i].is_used &&
        is_wanted(watches + i, argument))
      end_watch(watches + i);
  give();
}

static bool has_tag(const watch *w, const void *tag)
{
  return w->by.tag == *(const uint32_t *)tag;
}

void race_watch_cancel(uint32_t tag) { end_each(has_tag, &tag); }

static bool is_known(const watch *w, const void *clock)
{
  return order_known(clock, w->by.agent) >= w->by.step;
}

void race_watch_settle(const order_clock *host) { end_each(is_known, host); }

static bool overlaps(const watch *w, const void *argument)
{
  const uintptr_t *range = argument;
  return w->begin < range[1] && range[0] < w->end;
}

void race_watch_forget(tn_address address, uint64_t bytes)
{
  uintptr_t range[] = { (uintptr_t)address, (uintptr_t)(address + bytes) };
  end_each(overlaps, range);
}

bool race_watch_next(race_trespass *out)
{
  if (__atomic_load_n(&trespass_count, __ATOMIC_ACQUIRE) == trespass_told)
    return false;
  take();
  *out = trespasses[trespass_told++];
  if (trespass_told == trespass_count) trespass_told = trespass_count = 0;
  give();
  return true;
}
