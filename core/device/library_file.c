#include "config.h"

#include "core/device/library_file.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"

/* The beginning of the file: its header and, as linkers lay it out, the
 * segments' headers. */
typedef struct beginning {
  _Alignas(ElfW(Ehdr)) unsigned char bytes[1024];
  size_t size;
} beginning;

static bool is_elf(const beginning *start)
{
  return start->size >= sizeof(ElfW(Ehdr)) &&
         memcmp(start->bytes, ELFMAG, SELFMAG) == 0;
}

/* For another machine's files: the loader refuses those in its own words. */
static bool is_native(const ElfW(Ehdr) *header)
{
  int class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
  return header->e_ident[EI_CLASS] == class &&
         header->e_phentsize == sizeof(ElfW(Phdr));
}

/* Where the last segment ends in the file; 0 if that is not known. */
static uint64_t end_of_segments(const beginning *start)
{
  ElfW(Ehdr) header;
  memcpy(&header, start->bytes, sizeof header);
  if (!is_native(&header)) return 0;
  uint64_t end = 0;
  for (unsigned i = 0; i < header.e_phnum; i++) {
    ElfW(Phdr) segment;
    uint64_t at = header.e_phoff + (uint64_t)i * sizeof segment;
    if (at > start->size - sizeof segment) return 0;
    memcpy(&segment, start->bytes + at, sizeof segment);
    uint64_t stop = segment.p_offset + segment.p_filesz;
    if (segment.p_type == PT_LOAD && stop > end) end = stop;
  }
  return end;
}

static tn_status check_bytes(const beginning *start, uint64_t size)
{
  if (!is_elf(start))
    return tn_error(TN_BAD_PLUGIN, "is not a shared library");
  uint64_t wanted = end_of_segments(start);
  if (wanted <= size) return TN_OK;
  return tn_error(TN_BAD_PLUGIN, "is cut short: it has %llu bytes of at least "
                  "%llu", (unsigned long long)size,
                  (unsigned long long)wanted);
}

tn_status tn_library_file_check(const char *path)
{
  beginning start;
  struct stat facts;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return tn_error(TN_BAD_PLUGIN, "cannot be read: %s", strerror(errno));
  ssize_t size = pread(fd, start.bytes, sizeof start.bytes, 0);
  int failed = size < 0 || fstat(fd, &facts) != 0;
  close(fd);
  if (failed)
    return tn_error(TN_BAD_PLUGIN, "cannot be read: %s", strerror(errno));
  start.size = (size_t)size;
  return check_bytes(&start, (uint64_t)facts.st_size);
}
