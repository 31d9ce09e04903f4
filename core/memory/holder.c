#include "config.h"

#include "core/memory/holder.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void tn_caller_format(const void *caller, char *text, size_t size)
{
  Dl_info info;
  if (!caller || !dladdr(caller, &info) || !info.dli_fname) {
    snprintf(text, size, "%s", caller ? "code without a file" : "unknown");
    return;
  }
  size_t offset = (size_t)((uintptr_t)caller - (uintptr_t)info.dli_fbase);
  snprintf(text, size, "%s+0x%zx%s%s%s", base_name(info.dli_fname), offset,
           info.dli_sname ? " (" : "", info.dli_sname ? info.dli_sname : "",
           info.dli_sname ? ")" : "");
}

void tn_holder_format(tn_holder holder, char *text, size_t size)
{
  if (holder.tag) snprintf(text, size, "\"%s\"", holder.tag);
  else tn_caller_format(holder.caller, text, size);
}

/* Blocks with a tag are together, wherever they come from. */
static bool is_same(tn_holder one, tn_holder other)
{
  return one.tag == other.tag && (one.tag || one.caller == other.caller);
}

void tn_holdings_add(tn_holdings *holdings, tn_holder holder, uint64_t bytes)
{
  int i = 0;
  while (i < holdings->count && !is_same(holdings->items[i].holder, holder))
    i++;
  if (i == TN_HOLDERS_MAX) {
    holdings->other_bytes += bytes;
    holdings->other_blocks++;
    return;
  }
  if (i == holdings->count)
    holdings->items[holdings->count++] = (tn_holding){ .holder = holder };
  holdings->items[i].bytes += bytes;
  holdings->items[i].blocks++;
}

/* Not by qsort, which may allocate. */
void tn_holdings_sort(tn_holdings *holdings)
{
  for (int i = 1; i < holdings->count; i++) {
    tn_holding one = holdings->items[i];
    int place = i;
    for (; place > 0 && holdings->items[place - 1].bytes < one.bytes; place--)
      holdings->items[place] = holdings->items[place - 1];
    holdings->items[place] = one;
  }
}
