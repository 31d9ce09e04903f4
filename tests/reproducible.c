/* Vendors' routines can be kept out (rule N2). */
#include "config.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tenon/kernel.h"
#include "tests/tap.h"

/* Whether it is on in a process of its own that begins with the variable. */
static bool begins_on(const char *value)
{
  pid_t child = fork();
  if (child == 0) {
    if (value) setenv("TENON_REPRODUCIBLE", value, 1);
    else unsetenv("TENON_REPRODUCIBLE");
    _exit(tn_is_reproducible() ? 1 : 0);
  }
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

int main(void)
{
  tap_ok(!begins_on(NULL), "N2 off at first");
  tap_ok(begins_on("1"), "N2 TENON_REPRODUCIBLE=1 turns it on");
  tap_ok(!begins_on("0"), "N2 and 0 does not");
  tn_set_reproducible(true);
  tap_ok(tn_is_reproducible(), "N2 a program can turn it on");
  tn_set_reproducible(false);
  tap_ok(!tn_is_reproducible(), "N2 and off");
  return tap_done();
}
