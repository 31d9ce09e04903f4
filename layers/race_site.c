#include "layers/race_site.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>

enum { KEPT = 1 << 16, FRAMES = 20, SHOWN = 3 };

typedef struct site {
  uint32_t tag;
  int frame_count;
  uint64_t stream;
  int ordinal;
  char backend[TN_BACKEND_NAME_SIZE], who[96];
  void *frames[FRAMES];
} site;

static site sites[KEPT]; /* zero pages until used */
static uint32_t last;

static site *new_site(const char *who)
{
  uint32_t tag = ++last ? last : ++last;
  site *s = sites + tag % KEPT;
  s->tag = tag;
  s->backend[0] = 0;
  snprintf(s->who, sizeof s->who, "%s", who);
  return s;
}

uint32_t race_site_note(const forward_call *call, const char *who)
{
  site *s = new_site(who);
  s->stream = call->stream ? call->stream->number : 0;
  s->ordinal = call->device ? call->device->ordinal : 0;
  snprintf(s->backend, sizeof s->backend, "%s", call->backend->name);
  s->frame_count = backtrace(s->frames, FRAMES);
  return s->tag;
}

uint32_t race_site_note_host(const char *who, void *const *frames, int count)
{
  site *s = new_site(who);
  s->frame_count = count < FRAMES ? count : FRAMES;
  memcpy(s->frames, frames, (size_t)s->frame_count * sizeof *frames);
  return s->tag;
}

/* Of this library, a layer or a backend. */
static bool is_ours(const char *file)
{
  const char *slash = strrchr(file, '/');
  const char *name = slash ? slash + 1 : file;
  return strncmp(name, "libtenon", 8) == 0 || strncmp(name, "tenon-", 6) == 0;
}

static bool is_caller(void *frame, Dl_info *info)
{
  return dladdr(frame, info) && info->dli_fname && !is_ours(info->dli_fname);
}

static size_t describe_frame(const Dl_info *info, const void *frame,
                             char *text, size_t size)
{
  const char *slash = strrchr(info->dli_fname, '/');
  const char *name = slash ? slash + 1 : info->dli_fname;
  const char *from = info->dli_saddr ? info->dli_saddr : info->dli_fbase;
  int used = snprintf(text, size, "%s(%s+0x%zx)", name,
                      info->dli_sname ? info->dli_sname : "",
                      (size_t)((const char *)frame - from));
  return used < 0 || (size_t)used >= size ? size - 1 : (size_t)used;
}

static void describe_frames(const site *s, char *text, size_t size)
{
  Dl_info info;
  int shown = 0;
  for (int i = 0; i < s->frame_count && shown < SHOWN && size > 1; i++) {
    if (!is_caller(s->frames[i], &info)) continue;
    size_t used = (size_t)snprintf(text, size, "%s", shown++ ? " < " : "");
    if (used >= size) return;
    text += used, size -= used;
    used = describe_frame(&info, s->frames[i], text, size);
    text += used, size -= used;
  }
  if (!shown) snprintf(text, size, "the library itself");
}

void race_site_describe(uint32_t tag, char *text, size_t size)
{
  const site *s = sites + tag % KEPT;
  if (s->tag != tag || !tag) {
    snprintf(text, size, "a call too long ago to be named");
    return;
  }
  char stream[32] = "";
  if (s->stream)
    snprintf(stream, sizeof stream, " on stream %llu",
             (unsigned long long)s->stream);
  int used = *s->backend ? snprintf(text, size, "%s%s of %s:%d, at ", s->who,
                                    stream, s->backend, s->ordinal)
                         : snprintf(text, size, "%s, at ", s->who);
  if (used > 0 && (size_t)used < size)
    describe_frames(s, text + used, size - (size_t)used);
}

uintptr_t race_site_place(uint32_t tag)
{
  Dl_info info;
  const site *s = sites + tag % KEPT;
  if (s->tag != tag) return 0;
  for (int i = 0; i < s->frame_count; i++)
    if (is_caller(s->frames[i], &info)) return (uintptr_t)s->frames[i];
  return 0;
}
