/* Each test is this program again: exec gives it a process that shares
 * nothing with the others, and what it does to itself stays there. */
#include "config.h"

#include "tools/conform.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* More of a test's output is no help. */
#define OUTPUT_MAX (16u << 10)

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

_Noreturn static void be_test(const tn_conform *run, const char *device,
                              const char *id, int report, int output)
{
  char seed[16], fd[16];
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
  int null = open("/dev/null", O_RDONLY);
  if (null >= 0) dup2(null, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  snprintf(seed, sizeof seed, "%lu", (unsigned long)run->seed);
  snprintf(fd, sizeof fd, "%d", report);
  execl("/proc/self/exe", "tenon", "conform", device, "--filter", id,
        "--seed", seed, "--report", fd, (char *)NULL);
  _exit(127);
}

/* Systems before Linux 5.3 have to be asked again and again. */
static bool wait_by_asking(pid_t pid, double deadline)
{
  siginfo_t info = { 0 };
  while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
         info.si_pid == 0) {
    if (now() > deadline) return false;
    nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
  }
  return true;
}

/* True if the process ended before the deadline. */
static bool wait_ended(pid_t pid, double deadline)
{
  int handle = (int)syscall(SYS_pidfd_open, pid, 0);
  if (handle < 0) return wait_by_asking(pid, deadline);
  struct pollfd entry = { .fd = handle, .events = POLLIN };
  int ready;
  do {
    double left = deadline - now();
    ready = poll(&entry, 1, left > 0 ? (int)(left * 1000) + 1 : 0);
  } while ((ready < 0 && errno == EINTR) || (ready == 0 && now() < deadline));
  close(handle);
  return ready > 0;
}

/* Ends its group, too, while its number cannot have gone to another. */
static int reap(pid_t pid)
{
  int status = 0;
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

/* The file's first bytes, as a text to be freed; NULL without any. */
static char *read_back(FILE *file, size_t most)
{
  char *text = malloc(most + 1);
  if (!text) return NULL;
  rewind(file);
  size_t size = fread(text, 1, most, file);
  text[size] = 0;
  if (size) return text;
  free(text);
  return NULL;
}

static void judge(tn_conform_result *result, const char *line)
{
  if (strncmp(line, "fail ", 5) == 0) {
    result->outcome = TN_OUTCOME_FAIL;
    snprintf(result->text, sizeof result->text, "%s", line + 5);
  } else if (strncmp(line, "absent ", 7) == 0) {
    result->outcome = TN_OUTCOME_ABSENT;
    snprintf(result->text, sizeof result->text, "%s", line + 7);
  } else if (strncmp(line, "facts ", 6) == 0) {
    result->outcome = TN_OUTCOME_PASS;
    snprintf(result->text, sizeof result->text, "%s", line + 6);
  } else if (strcmp(line, "pass") == 0) {
    result->outcome = TN_OUTCOME_PASS;
  }
}

/* How the process ended counts more than what it said. */
static void judge_end(tn_conform_result *result, int status, bool in_time,
                      double seconds)
{
  char said[sizeof result->text];
  bool failed = result->outcome == TN_OUTCOME_FAIL;
  snprintf(said, sizeof said, "%s", failed ? result->text : "");
  if (!in_time)
    snprintf(result->text, sizeof result->text,
             "no end within %g s: it was stopped", seconds);
  else if (WIFSIGNALED(status))
    snprintf(result->text, sizeof result->text, "ended by signal %d (%s)",
             WTERMSIG(status), strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0 && !said[0])
    snprintf(result->text, sizeof result->text,
             "ended the process with status %d", WEXITSTATUS(status));
  else
    return;
  result->outcome = TN_OUTCOME_FAIL;
  if (!said[0]) return;
  size_t used = strlen(result->text);
  snprintf(result->text + used, sizeof result->text - used, "; before: %.500s",
           said);
}

static void run_id(const tn_conform *run, const char *device, const char *id,
                   tn_conform_result *result)
{
  double start = now();
  FILE *report = tmpfile(), *output = tmpfile();
  result->outcome = TN_OUTCOME_FAIL;
  snprintf(result->text, sizeof result->text, "the test told no result");
  pid_t pid = report && output ? fork() : -1;
  if (pid == 0) be_test(run, device, id, fileno(report), fileno(output));
  if (pid > 0) {
    bool in_time = wait_ended(pid, start + run->seconds);
    int status = reap(pid);
    char *line = read_back(report, sizeof result->text - 1);
    if (line) line[strcspn(line, "\n")] = 0;
    if (line) judge(result, line);
    free(line);
    judge_end(result, status, in_time, run->seconds);
    if (result->outcome == TN_OUTCOME_FAIL)
      result->output = read_back(output, OUTPUT_MAX);
  } else {
    snprintf(result->text, sizeof result->text, "no process: %s",
             strerror(errno));
  }
  if (report) fclose(report);
  if (output) fclose(output);
  result->seconds = now() - start;
}

void tn_conform_try(const tn_conform *run, const char *device,
                    tn_conform_result *result)
{
  run_id(run, device, result->id, result);
}

bool tn_conform_ask(const tn_conform *run, tn_conform_device *device,
                    char *text, size_t size)
{
  int launch = 0, stream = 0, graph = 0;
  tn_conform_result facts = { 0 };
  run_id(run, device->text, "facts", &facts);
  free(facts.output);
  bool is_told = facts.outcome == TN_OUTCOME_PASS &&
                 sscanf(facts.text, "devices=%d launch=%d stream=%d graph=%d",
                        &device->device_count, &launch, &stream,
                        &graph) == 4;
  device->has_launch = launch;
  device->has_stream = stream;
  device->has_graph = graph;
  if (!is_told) snprintf(text, size, "%s", facts.text);
  return is_told;
}
