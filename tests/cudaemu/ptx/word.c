#include "tests/cudaemu/ptx/word.h"

#include <string.h>

_Static_assert(PTX_WORD_popc < 64, "selecting words must fit 64 bits");
_Static_assert(PTX_WORD_COUNT <= 128, "words must fit a set");

static const char *const type_names[PTX_TYPE_COUNT] = {
  "none",
#define X(name, bytes, class) #name,
  PTX_TYPES(X)
#undef X
};

static const unsigned char type_bytes[PTX_TYPE_COUNT] = {
  0,
#define X(name, bytes, class) bytes,
  PTX_TYPES(X)
#undef X
};

static const unsigned char type_classes[PTX_TYPE_COUNT] = {
  PTX_CLASS_NONE,
#define X(name, bytes, class) PTX_CLASS_##class,
  PTX_TYPES(X)
#undef X
};

static const char *const word_texts[PTX_WORD_COUNT] = {
#define X(id, text) text,
  PTX_SELECTING_WORDS(X)
  PTX_OTHER_WORDS(X)
#undef X
};

static bool same(const char *name, const char *text, size_t length)
{
  return strlen(name) == length && memcmp(name, text, length) == 0;
}

ptx_type ptx_type_find(const char *text, size_t length)
{
  for (int i = 1; i < PTX_TYPE_COUNT; i++)
    if (same(type_names[i], text, length))
      return (ptx_type)i;
  return PTX_NO_TYPE;
}

ptx_word ptx_word_find(const char *text, size_t length)
{
  for (int i = 0; i < PTX_WORD_COUNT; i++)
    if (same(word_texts[i], text, length))
      return (ptx_word)i;
  return PTX_WORD_COUNT;
}

const char *ptx_type_name(ptx_type type)
{
  return type_names[type];
}

unsigned ptx_type_bytes(ptx_type type)
{
  return type_bytes[type];
}

ptx_class ptx_type_class(ptx_type type)
{
  return (ptx_class)type_classes[type];
}
