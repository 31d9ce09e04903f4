#include "complain.h"

#include <stdarg.h>
#include <stdio.h>

#include <tenon/tenon.h>

bool complain(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fputs("charlm: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return false;
}

bool complain_of_library(void)
{
  return complain("%s", tn_error_message());
}
