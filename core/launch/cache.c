#include "config.h"

#include "core/launch/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/device/host.h"
#include "core/launch/cache_folder.h"
#include "core/launch/hash.h"

/* At the end of a file; numbers as this machine has them, since entries hold
 * its code. */
typedef struct cache_footer {
  char magic[8];
  uint64_t payload_size, key_size;
  uint64_t payload_hash;
  uint64_t footer_hash; /* of what is before it */
} cache_footer;

static const char magic[8] = "TNCACH1";

/* What is looked for or stored. */
typedef struct cache_entry {
  const char *kind;
  const void *key;
  size_t key_size;
  char name[64];
} cache_entry;

/* Two starts: 128 bits, so that different keys hardly meet. Those that do
 * cost a compilation each, no more: the key is compared whole. */
static tn_status name_entry(cache_entry *entry)
{
  size_t length = strspn(entry->kind, "abcdefghijklmnopqrstuvwxyz0123456789_");
  if (length == 0 || length > 16 || entry->kind[length])
    return tn_error(TN_INVALID_ARGUMENT, "kind of cache entry \"%.40s\": up "
                    "to 16 lower-case letters, digits and underscores are",
                    entry->kind);
  snprintf(entry->name, sizeof entry->name, "%016" PRIx64 "%016" PRIx64 ".%s",
           tn_hash(entry->key_size, entry->key, entry->key_size),
           tn_hash(~(uint64_t)entry->key_size, entry->key, entry->key_size),
           entry->kind);
  return TN_OK;
}

static uint64_t hash_of_footer(const cache_footer *footer)
{
  return tn_hash(1, footer, offsetof(cache_footer, footer_hash));
}

static bool read_all(int fd, void *into, size_t size, uint64_t offset)
{
  char *at = into;
  while (size != 0) {
    ssize_t got = pread(fd, at, size, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += (uint64_t)got;
    size -= (size_t)got;
  }
  return true;
}

static bool write_all(int fd, const void *from, size_t size)
{
  const char *at = from;
  while (size != 0) {
    ssize_t put = write(fd, at, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    size -= (size_t)put;
  }
  return true;
}

/* A file that only this user can have written. */
static bool is_ours(int fd, uint64_t *size)
{
  struct stat facts;
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  if (facts.st_uid != geteuid()) return false;
  if (facts.st_mode & (S_IWGRP | S_IWOTH)) return false;
  *size = (uint64_t)facts.st_size;
  return true;
}

static bool read_footer(int fd, uint64_t size, cache_footer *footer)
{
  if (size < sizeof *footer) return false;
  if (!read_all(fd, footer, sizeof *footer, size - sizeof *footer))
    return false;
  uint64_t rest = size - sizeof *footer;
  return memcmp(footer->magic, magic, sizeof magic) == 0 &&
         footer->footer_hash == hash_of_footer(footer) &&
         footer->key_size <= rest && footer->payload_size ==
                                     rest - footer->key_size;
}

enum { PART = 1 << 16 }; /* a multiple of 8, for the hash */

static bool has_key(int fd, const cache_entry *entry,
                    const cache_footer *footer, char *part)
{
  if (footer->key_size != entry->key_size) return false;
  const char *key = entry->key;
  for (size_t done = 0; done < entry->key_size; done += PART) {
    size_t rest = entry->key_size - done, size = rest < PART ? rest : PART;
    if (!read_all(fd, part, size, footer->payload_size + done)) return false;
    if (memcmp(part, key + done, size) != 0) return false;
  }
  return true;
}

static bool has_payload(int fd, const cache_footer *footer, char *part)
{
  uint64_t hash = footer->payload_size;
  for (uint64_t done = 0; done < footer->payload_size; done += PART) {
    uint64_t rest = footer->payload_size - done;
    size_t size = rest < PART ? (size_t)rest : PART;
    if (!read_all(fd, part, size, done)) return false;
    hash = tn_hash(hash, part, size);
  }
  return hash == footer->payload_hash;
}

static bool is_whole(int fd, const cache_entry *entry, uint64_t *payload_size)
{
  uint64_t size;
  cache_footer footer;
  if (!is_ours(fd, &size) || !read_footer(fd, size, &footer)) return false;
  char *part = malloc(PART);
  bool whole = part && has_key(fd, entry, &footer, part) &&
               has_payload(fd, &footer, part);
  free(part);
  *payload_size = footer.payload_size;
  return whole;
}

static tn_status give_path(const tn_cache_folder *folder,
                           const cache_entry *entry, char *path, size_t size)
{
  int length = snprintf(path, size, "%s/%s", folder->path, entry->name);
  if (length >= 0 && (size_t)length < size) return TN_OK;
  return tn_error(TN_INVALID_ARGUMENT, "the path of a cache entry has %d "
                  "bytes, and there is room for %zu", length + 1, size);
}

/* Pipes and links are not waited for or followed. */
static bool find_in(const tn_cache_folder *folder, const cache_entry *entry,
                    uint64_t *payload_size)
{
  int fd = openat(folder->fd, entry->name,
                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  bool whole = is_whole(fd, entry, payload_size);
  close(fd);
  return whole;
}

tn_status tn_cache_find(const char *kind, const void *key, size_t key_size,
                        char *path, size_t path_size, uint64_t *payload_size)
{
  cache_entry entry = { .kind = kind, .key = key, .key_size = key_size };
  tn_cache_folder folder;
  uint64_t size;
  tn_status status = name_entry(&entry);
  if (status != TN_OK) return status;
  bool found = tn_cache_folder_has_private(&folder) &&
               find_in(&folder, &entry, &size);
  if (!found)
    found = tn_cache_folder_get(&folder) == TN_OK &&
            find_in(&folder, &entry, &size);
  if (!found) return TN_NOT_READY;
  *payload_size = size;
  return give_path(&folder, &entry, path, path_size);
}

static bool write_entry(int fd, const cache_entry *entry, const void *payload,
                        uint64_t payload_size)
{
  cache_footer footer = {
    .payload_size = payload_size,
    .key_size = entry->key_size,
    .payload_hash = tn_hash(payload_size, payload, payload_size),
  };
  memcpy(footer.magic, magic, sizeof magic);
  footer.footer_hash = hash_of_footer(&footer);
  return write_all(fd, payload, payload_size) &&
         write_all(fd, entry->key, entry->key_size) &&
         write_all(fd, &footer, sizeof footer);
}

/* A name that no other process or thread has. */
static int open_temporary(const tn_cache_folder *folder, char *name,
                          size_t size)
{
  static _Atomic unsigned count;
  int fd = -1;
  for (int tries = 0; fd < 0 && tries < 100; tries++) {
    snprintf(name, size, "new.%ld.%u", (long)getpid(), count++);
    fd = openat(folder->fd, name,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST) break;
  }
  return fd;
}

static bool store_in(const tn_cache_folder *folder, const cache_entry *entry,
                     const void *payload, uint64_t payload_size)
{
  char name[64];
  int fd = open_temporary(folder, name, sizeof name);
  if (fd < 0) return false;
  bool written = write_entry(fd, entry, payload, payload_size);
  int error = errno;
  if (close(fd) != 0 && written) {
    written = false;
    error = errno;
  }
  if (written && renameat(folder->fd, name, folder->fd, entry->name) == 0)
    return true;
  if (written) error = errno;
  unlinkat(folder->fd, name, 0);
  errno = error;
  return false;
}

/* In the shared folder, or else in the private one, which is said. */
static tn_status store(const cache_entry *entry, const void *payload,
                       uint64_t payload_size, tn_cache_folder *folder)
{
  if (tn_cache_folder_get(folder) == TN_OK) {
    if (store_in(folder, entry, payload, payload_size)) return TN_OK;
    tn_log(TN_LOG_WARNING, "a compiled kernel is not kept: %s: %s",
           folder->path, strerror(errno));
  }
  tn_status status = tn_cache_folder_private(folder);
  if (status != TN_OK) return status;
  if (store_in(folder, entry, payload, payload_size)) return TN_OK;
  return tn_error(TN_UNSUPPORTED, "no room for a compiled kernel: %s: %s",
                  folder->path, strerror(errno));
}

tn_status tn_cache_store(const char *kind, const void *key, size_t key_size,
                         const void *payload, uint64_t payload_size,
                         char *path, size_t path_size)
{
  cache_entry entry = { .kind = kind, .key = key, .key_size = key_size };
  tn_cache_folder folder;
  tn_status status = name_entry(&entry);
  if (status == TN_OK) status = store(&entry, payload, payload_size, &folder);
  if (status != TN_OK) return status;
  return give_path(&folder, &entry, path, path_size);
}

/* Plugins are given the table when they are loaded. */
__attribute__((constructor)) static void offer_cache(void)
{
  static const tn_host_cache functions = { tn_cache_find, tn_cache_store };
  tn_host_cache_set(&functions);
}
