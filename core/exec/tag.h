/* Names of queued commands, for the messages of work that fails later. */
#ifndef TN_CORE_EXEC_TAG_H
#define TN_CORE_EXEC_TAG_H

#include "tenon/backend.h"

/* The tag of a text such as "kernel \"axpy\""; the same text gives the same
 * tag. Tags are never given up, so this is for names, not for values. 0, which
 * names nothing, without memory. Any thread; not for hot paths. */
tn_tag tn_tag_of(const char *text);

/* The text of a tag, for the whole process; "queued work" for 0 and for what
 * was never a tag (a plugin may return anything). No lock. */
const char *tn_tag_text(tn_tag tag);

/* The fixed tags. */
#define TN_TAG_MAP(X) \
  X(COPY_TO_DEVICE, "copy host to device") \
  X(COPY_TO_HOST, "copy device to host") \
  X(COPY_BETWEEN, "copy device to device") \
  X(FILL, "fill") \
  X(HOST_FUNCTION, "host function") \
  X(OTHER_DEVICE, "wait for another device")

enum {
  TN_TAG_NONE_,
#define TN_TAG_ENUM_(name, text) TN_TAG_##name,
  TN_TAG_MAP(TN_TAG_ENUM_)
#undef TN_TAG_ENUM_
  TN_TAG_FIXED_END_
};

#endif
