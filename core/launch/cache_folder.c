#include "config.h"

#include "core/launch/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/shutdown.h"
#include "tenon/kernel.h"

typedef struct cache_place {
  char path[PATH_MAX];
  int fd; /* -1: not there */
} cache_place;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cache_place shared = { .fd = -1 }, private = { .fd = -1 };
static pid_t private_owner;
static tn_error_state refusal; /* of the shared one; TN_OK: none so far */

static tn_status refuse(const char *path, const char *why)
{
  return tn_error(TN_INVALID_ARGUMENT, "kernel cache folder %s: %s", path,
                  why);
}

static tn_status choose(char *path)
{
  const char *given = tn_environment("TENON_CACHE_DIR");
  const char *cache = tn_environment("XDG_CACHE_HOME");
  const char *home = tn_environment("HOME");
  int size;
  if (given && *given) size = snprintf(path, PATH_MAX, "%s", given);
  else if (cache && *cache == '/')
    size = snprintf(path, PATH_MAX, "%s/tenon", cache);
  else if (home && *home == '/')
    size = snprintf(path, PATH_MAX, "%s/.cache/tenon", home);
  else
    return refuse("(none)", "set TENON_CACHE_DIR, XDG_CACHE_HOME or HOME");
  return size < PATH_MAX ? TN_OK : refuse(path, strerror(ENAMETOOLONG));
}

/* Makes the folder and those above it. Those that cannot be made may be there
 * all the same. */
static bool make_folders(char *path)
{
  for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = 0;
    mkdir(path, 0700);
    *slash = '/';
  }
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static const char *distrust(const struct stat *facts)
{
  if (facts->st_uid != geteuid())
    return "it belongs to another user; remove it, or set TENON_CACHE_DIR";
  if (facts->st_mode & (S_IWGRP | S_IWOTH))
    return "others can write it; chmod go-w it";
  return NULL;
}

/* Whoever can rename a folder above ours can put another in its place. */
static const char *distrust_parent(const struct stat *facts)
{
  if (facts->st_uid != geteuid() && facts->st_uid != 0)
    return "a folder above it belongs to another user";
  if (facts->st_mode & S_IWOTH && !(facts->st_mode & S_ISVTX))
    return "everybody can write a folder above it";
  return NULL;
}

/* From the folder itself up to the root, as they really lie. */
static const char *distrust_parents(int fd)
{
  const char *why = NULL;
  struct stat here, above;
  int at = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (at < 0 || fstat(at, &here) != 0) why = strerror(errno);
  while (!why) {
    int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (up < 0 || fstat(up, &above) != 0) {
      why = strerror(errno);
      if (up >= 0) close(up);
      break;
    }
    close(at);
    at = up;
    if (above.st_dev == here.st_dev && above.st_ino == here.st_ino) break;
    why = distrust_parent(&above);
    here = above;
  }
  if (at >= 0) close(at);
  return why;
}

/* The path is made absolute and free of links, so that it goes on meaning the
 * folder that was looked at. */
static tn_status open_folder(cache_place *folder)
{
  char real[PATH_MAX];
  struct stat facts, again;
  int fd = open(folder->path,
                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    bool is_link = errno == ELOOP || errno == ENOTDIR;
    return refuse(folder->path, is_link
                  ? "it is a symbolic link, or no folder" : strerror(errno));
  }
  const char *why = fstat(fd, &facts) != 0 ? strerror(errno)
                                           : distrust(&facts);
  if (!why) why = distrust_parents(fd);
  if (!why && (!realpath(folder->path, real) || stat(real, &again) != 0 ||
               again.st_dev != facts.st_dev || again.st_ino != facts.st_ino))
    why = "it was replaced just now";
  if (!why && faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) != 0)
    why = strerror(errno);
  if (why) {
    close(fd);
    return refuse(folder->path, why);
  }
  strcpy(folder->path, real);
  folder->fd = fd;
  return TN_OK;
}

static tn_status open_shared(void)
{
  tn_status status = choose(shared.path);
  if (status != TN_OK) return status;
  size_t length = strlen(shared.path);
  while (length > 1 && shared.path[length - 1] == '/')
    shared.path[--length] = 0; /* a link must not be followed */
  if (!make_folders(shared.path)) return refuse(shared.path, strerror(errno));
  return open_folder(&shared);
}

static void give(const cache_place *from, tn_cache_folder *to)
{
  *to = (tn_cache_folder){ from->path, from->fd };
}

/* The lock is held. */
static tn_status get_shared(tn_cache_folder *out)
{
  if (refusal.status != TN_OK) {
    tn_error_restore(&refusal);
    return refusal.status;
  }
  if (shared.fd < 0 && open_shared() != TN_OK) {
    tn_error_save(&refusal);
    tn_log(TN_LOG_INFO, "compiled kernels are not kept: %s", refusal.text);
    return refusal.status;
  }
  give(&shared, out);
  return TN_OK;
}

tn_status tn_cache_folder_get(tn_cache_folder *out)
{
  pthread_mutex_lock(&lock);
  tn_status status = get_shared(out);
  pthread_mutex_unlock(&lock);
  return status;
}

/* Nothing but files of ours is in it. A forked child leaves its parent's. */
static void remove_private(void)
{
  if (private.fd < 0 || private_owner != getpid()) return;
  DIR *entries = opendir(private.path);
  struct dirent *entry;
  while (entries && (entry = readdir(entries)))
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      unlinkat(private.fd, entry->d_name, 0);
  if (entries) closedir(entries);
  rmdir(private.path);
}

/* The lock is held. */
static tn_status make_private(void)
{
  const char *place = tn_environment("TMPDIR");
  if (!place || *place != '/') place = "/tmp";
  int size = snprintf(private.path, sizeof private.path, "%s/tenon-XXXXXX",
                      place);
  if (size >= (int)sizeof private.path || !mkdtemp(private.path))
    return tn_error(TN_UNSUPPORTED, "no folder for compiled kernels in %s: "
                    "%s", place, strerror(errno));
  private.fd = open(private.path,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (private.fd < 0)
    return tn_error(TN_UNSUPPORTED, "no folder for compiled kernels: %s: %s",
                    private.path, strerror(errno));
  private_owner = getpid();
  atexit(remove_private);
  return TN_OK;
}

tn_status tn_cache_folder_private(tn_cache_folder *out)
{
  tn_status status = TN_OK;
  pthread_mutex_lock(&lock);
  bool is_ours = private.fd >= 0 && private_owner == getpid();
  if (!is_ours) status = make_private();
  if (status == TN_OK) give(&private, out);
  pthread_mutex_unlock(&lock);
  return status;
}

bool tn_cache_folder_has_private(tn_cache_folder *out)
{
  pthread_mutex_lock(&lock);
  bool has = private.fd >= 0 && private_owner == getpid();
  if (has) give(&private, out);
  pthread_mutex_unlock(&lock);
  return has;
}

tn_status tn_kernel_cache_folder(char *path, size_t size)
{
  tn_cache_folder found;
  if (!path || size == 0)
    return tn_error(TN_INVALID_ARGUMENT, "path is NULL or has no room");
  *path = 0;
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  tn_status status = tn_cache_folder_get(&found);
  if (status != TN_OK) return status;
  if (strlen(found.path) >= size)
    return tn_error(TN_INVALID_ARGUMENT, "the kernel cache's folder has %zu "
                    "bytes, and there is room for %zu",
                    strlen(found.path) + 1, size);
  strcpy(path, found.path);
  return TN_OK;
}
