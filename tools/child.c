#include "config.h"

#include "tools/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* More than this is no answer of ours. */
#define DATA_MAX (4u << 20)

static int64_t now_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A child that crashes leaves no core file, and one whose parent is gone does
 * not stay. */
_Noreturn static void be_child(void (*work)(FILE *, void *), void *argument,
                               int out)
{
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null >= 0) dup2(null, STDOUT_FILENO);
  FILE *file = fdopen(out, "w");
  if (!file) _exit(1);
  work(file, argument);
  /* No exit handlers: what a backend does at exit was not asked for. */
  _exit(fclose(file) == 0 ? 0 : 1);
}

/* True if there is something to read (or the end) before the deadline. */
static bool wait_readable(int in, int64_t deadline)
{
  for (;;) {
    int64_t left = deadline - now_ms();
    if (left < 0) left = 0;
    struct pollfd entry = { .fd = in, .events = POLLIN };
    int ready = poll(&entry, 1, (int)left);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

/* Makes room for at least one more byte and the final 0. */
static bool grow(tn_child *child, size_t *capacity)
{
  if (child->size + 1 < *capacity) return true;
  size_t wanted = *capacity ? *capacity * 2 : 4096;
  char *data = wanted <= DATA_MAX ? realloc(child->data, wanted) : NULL;
  if (!data) return false;
  child->data = data;
  *capacity = wanted;
  return true;
}

/* Reads to the end of the pipe; false if that did not come in time. */
static bool read_all(int in, int64_t deadline, tn_child *child)
{
  size_t capacity = 0;
  while (grow(child, &capacity) && wait_readable(in, deadline)) {
    ssize_t got =
        read(in, child->data + child->size, capacity - 1 - child->size);
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) child->size += (size_t)got;
  }
  return false;
}

static void describe_end(tn_child *child, int status, bool complete,
                         double seconds)
{
  if (!complete)
    snprintf(child->problem, sizeof child->problem,
             "gave no answer within %g s, and was stopped", seconds);
  else if (WIFSIGNALED(status))
    snprintf(child->problem, sizeof child->problem, "crashed: %s",
             strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0)
    snprintf(child->problem, sizeof child->problem,
             "ended the process with status %d", WEXITSTATUS(status));
}

/* True if the process ended before the deadline, which systems before Linux
 * 5.3 cannot keep here: there what closed its pipe is believed to end. */
static bool wait_ended(pid_t pid, int64_t deadline)
{
  int handle = (int)syscall(SYS_pidfd_open, pid, 0);
  if (handle < 0) {
    waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
    return true;
  }
  bool ended = wait_readable(handle, deadline);
  close(handle);
  return ended;
}

/* Ends the child's group, while its number cannot have gone to another. */
static int reap(pid_t pid, bool complete)
{
  int status = 0;
  kill(-pid, SIGKILL);
  if (!complete) kill(pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

void tn_child_run(void (*work)(FILE *out, void *argument), void *argument,
                  double seconds, tn_child *child)
{
  *child = (tn_child){ 0 };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) goto no_pipe;
  int64_t deadline = now_ms() + (int64_t)(seconds * 1000);
  pid_t pid = fork();
  if (pid < 0) goto no_child;
  if (pid == 0) {
    close(ends[0]);
    be_child(work, argument, ends[1]);
  }
  close(ends[1]);
  bool complete = read_all(ends[0], deadline, child);
  close(ends[0]);
  complete = complete && wait_ended(pid, deadline);
  int status = reap(pid, complete);
  describe_end(child, status, complete, seconds);
  if (child->data) child->data[child->size] = 0;
  return;

no_child:
  close(ends[0]);
  close(ends[1]);
no_pipe:
  snprintf(child->problem, sizeof child->problem,
           "could not be tried: no process: %s", strerror(errno));
}

void tn_child_release(tn_child *child)
{
  free(child->data);
  *child = (tn_child){ 0 };
}
