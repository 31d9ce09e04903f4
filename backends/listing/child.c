/* Asking the drivers in a child: what they start there leaves this process as
 * it is. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/listing/child.h"

#define PATIENCE 60 /* seconds */

tn_listing *tn_listing_make(int count)
{
  tn_listing *listing = calloc(
      1, sizeof *listing + (size_t)count * sizeof *listing->devices);
  if (listing) listing->count = count;
  return listing;
}

typedef struct answer {
  int count; /* of the devices that follow; -1: none, for the reason */
  char reason[TN_BACKEND_TEXT_SIZE];
} answer;

static bool write_all(int to, const void *bytes, size_t size)
{
  const char *at = bytes;
  while (size) {
    ssize_t written = write(to, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    size -= (size_t)written;
  }
  return true;
}

static bool read_all(int from, void *bytes, size_t size)
{
  char *at = bytes;
  while (size) {
    struct pollfd wait = { .fd = from, .events = POLLIN };
    int ready = poll(&wait, 1, PATIENCE * 1000);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    ssize_t got = read(from, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= (size_t)got;
  }
  return true;
}

/* A driver that hangs must not leave a process behind. It ends itself, for its
 * number may be another's by the time its parent would want to. */
static void end_in_time(void)
{
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  signal(SIGALRM, SIG_DFL);
  alarm(PATIENCE);
  pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
}

/* Takes no lock of the program's but malloc's, which fork keeps whole. */
static _Noreturn void be_child(
    int to, tn_listing *(*make)(char *reason, size_t size))
{
  static answer head;
  end_in_time();
  const tn_listing *listing = make(head.reason, sizeof head.reason);
  head.count = listing ? listing->count : -1;
  bool is_written = write_all(to, &head, sizeof head);
  if (is_written && listing)
    write_all(to, listing->devices,
              (size_t)listing->count * sizeof *listing->devices);
  _exit(0);
}

static tn_listing *read_answer(int from, char *reason, size_t size)
{
  answer head;
  snprintf(reason, size, "the drivers, asked in a child process, gave no "
           "answer");
  if (!read_all(from, &head, sizeof head) ||
      head.count > TN_BACKEND_DEVICES_MAX)
    return NULL;
  if (head.count < 0) {
    snprintf(reason, size, "%.*s", (int)sizeof head.reason - 1, head.reason);
    return NULL;
  }
  tn_listing *listing = tn_listing_make(head.count);
  if (listing &&
      read_all(from, listing->devices,
               (size_t)head.count * sizeof *listing->devices))
    return listing;
  free(listing);
  return NULL;
}

/* The program's signals are not for the child. */
static pid_t start_child(int ends[2],
                         tn_listing *(*make)(char *reason, size_t size))
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    be_child(ends[1], make);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(ends[1]);
  if (child < 0) close(ends[0]);
  return child;
}

tn_listing *tn_listing_by_child(
    tn_listing *(*make)(char *reason, size_t size), char *reason,
    size_t size, bool *is_answered)
{
  int ends[2];
  *is_answered = false;
  if (pipe2(ends, O_CLOEXEC)) return NULL;
  pid_t child = start_child(ends, make);
  if (child < 0) return NULL;
  *is_answered = true;
  tn_listing *listing = read_answer(ends[0], reason, size);
  close(ends[0]);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  return listing;
}
