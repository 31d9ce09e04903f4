#include "config.h"

#include "core/launch/defines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"

/* A newline would begin a line of the program's source. */
static bool is_define(const char *text)
{
  size_t length = strspn(text, LETTERS "0123456789");
  if (strspn(text, LETTERS) == 0) return false;
  return text[length] == 0 ||
         (text[length] == '=' && !strpbrk(text, "\n\r"));
}

static size_t count_parts(const char *text)
{
  size_t count = 1;
  for (; *text; text++) count += *text == ';';
  return count;
}

static tn_status add(tn_defines *defines, char **to, const char *part,
                     size_t length)
{
  char *item = *to;
  memcpy(item, part, length);
  item[length] = 0;
  if (!is_define(item))
    return tn_error(TN_INVALID_ARGUMENT, "kernel definition \"%s\" is not "
                    "NAME or NAME=VALUE", item);
  if (!strchr(item, '=')) strcpy(item + length, "=1");
  defines->items[defines->count++] = item;
  *to = item + strlen(item) + 1;
  return TN_OK;
}

tn_status tn_defines_parse(const char *text, tn_defines *defines)
{
  *defines = (tn_defines){ 0 };
  if (!text || !*text) return TN_OK;
  size_t count = count_parts(text);
  defines->items = malloc(count * sizeof *defines->items);
  defines->memory = malloc(strlen(text) + 3 * count);
  tn_status status = TN_OK;
  if (!defines->items || !defines->memory)
    status = tn_error(TN_OUT_OF_MEMORY, "no memory for definitions");
  char *to = defines->memory;
  while (status == TN_OK && *text) {
    size_t length = strcspn(text, ";");
    if (length) status = add(defines, &to, text, length);
    text += length;
    text += *text == ';';
  }
  if (status != TN_OK) tn_defines_free(defines);
  return status;
}

void tn_defines_free(tn_defines *defines)
{
  free(defines->items);
  free(defines->memory);
  *defines = (tn_defines){ 0 };
}
