#include "backends/cpu/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/cpu/host.h"

extern char **environ;

/* --- which one --- */

static bool is_program(const char *path, struct stat *facts)
{
  return stat(path, facts) == 0 && S_ISREG(facts->st_mode) &&
         access(path, X_OK) == 0;
}

/* Looks at one path, which may be cut off: then it is not a program. */
static bool path_try(tn_cpu_compiler *compiler, const char *folder,
                     int length, const char *name)
{
  struct stat facts;
  int wanted = snprintf(compiler->path, sizeof compiler->path, "%.*s%s%s",
                        length, folder, length ? "/" : "", name);
  if (wanted >= (int)sizeof compiler->path ||
      !is_program(compiler->path, &facts))
    return false;
  snprintf(compiler->identity, sizeof compiler->identity,
           "%llu bytes, %lld.%09ld, inode %llu of %llu",
           (unsigned long long)facts.st_size, (long long)facts.st_mtim.tv_sec,
           facts.st_mtim.tv_nsec, (unsigned long long)facts.st_ino,
           (unsigned long long)facts.st_dev);
  return true;
}

/* Empty elements of PATH, the working folder, are passed over. */
static bool name_try(tn_cpu_compiler *compiler, const char *name,
                     const char *path)
{
  if (strchr(name, '/')) return path_try(compiler, "", 0, name);
  while (*path) {
    int length = (int)strcspn(path, ":");
    if (length && path_try(compiler, path, length, name)) return true;
    path += length;
    path += *path == ':';
  }
  return false;
}

/* PATH is not to be had in a privileged program. */
static const char *search_path(void)
{
  const char *path = tn_cpu_host->environment("PATH");
  return path ? path : "/usr/bin:/bin";
}

tn_status tn_cpu_compiler_find(tn_cpu_compiler *compiler)
{
  static const char *const names[] = { "cc", "gcc", "clang" };
  const char *path = search_path();
  const char *wanted = tn_cpu_host->environment("TENON_CC");
  if (wanted && *wanted) {
    if (name_try(compiler, wanted, path)) return TN_OK;
    return tn_cpu_host->error(TN_COMPILE_FAILED,
                              "no C compiler: TENON_CC=\"%s\" is no program"
                              "%s%s%s",
                              wanted, strchr(wanted, '/') ? "" : " in PATH \"",
                              strchr(wanted, '/') ? "" : path,
                              strchr(wanted, '/') ? "" : "\"");
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (name_try(compiler, names[i], path)) return TN_OK;
  return tn_cpu_host->error(TN_COMPILE_FAILED,
                            "no C compiler: looked for cc, gcc and clang in "
                            "PATH \"%s\"; TENON_CC may name another",
                            path);
}

/* --- running it --- */

/* The environment, its messages in English; in a privileged program, nothing
 * but the search path. NULL without memory; the array is to be freed. */
static char **environment_make(void)
{
  static char english[] = "LC_ALL=C", safe[] = "PATH=/usr/bin:/bin";
  bool is_trusted = tn_cpu_host->environment("PATH") != NULL;
  size_t count = 0, kept = 0;
  while (is_trusted && environ && environ[count]) count++;
  char **made = calloc(count + 3, sizeof *made);
  if (!made) return NULL;
  for (size_t i = 0; i < count; i++)
    if (strncmp(environ[i], "LC_ALL=", 7) != 0) made[kept++] = environ[i];
  if (!is_trusted) made[kept++] = safe;
  made[kept] = english;
  return made;
}

/* Nothing of the program's signal handling and input reaches the child. */
static int child_start(const char *path, char *const *arguments,
                       const char *messages, char **environment, pid_t *child)
{
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  int problem = posix_spawn_file_actions_init(&files);
  if (problem) return problem;
  problem = posix_spawnattr_init(&attributes);
  if (problem) goto destroy_files;
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  problem = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                             O_RDONLY, 0);
  if (!problem)
    problem = posix_spawn_file_actions_addopen(
      &files, STDOUT_FILENO, messages, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (!problem)
    problem =
      posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  if (!problem)
    problem = posix_spawn(child, path, &files, &attributes, arguments,
                          environment);
  posix_spawnattr_destroy(&attributes);
destroy_files:
  posix_spawn_file_actions_destroy(&files);
  return problem;
}

static int child_await(pid_t child)
{
  int status;
  pid_t ended;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended == -1 && errno == EINTR);
  if (ended == -1) return -1;
  return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

tn_status tn_cpu_compiler_run(const tn_cpu_compiler *compiler,
                              char *const *arguments, const char *messages,
                              int *outcome)
{
  pid_t child = 0;
  char **environment = environment_make();
  int problem = environment
                  ? child_start(compiler->path, arguments, messages,
                                environment, &child)
                  : ENOMEM;
  free(environment);
  if (problem)
    return tn_cpu_host->error(TN_COMPILE_FAILED, "cannot run %s: %s",
                              compiler->path, strerror(problem));
  *outcome = child_await(child);
  return TN_OK;
}
