/* A program built outside the tree: sends bytes to the device that is named,
 * and gets them back. */
#include <stdio.h>
#include <string.h>

#include <tenon/tenon.h>

static int die(const char *what)
{
  fprintf(stderr, "%s: %s\n", what, tn_error_message());
  return 1;
}

int main(int argc, char **argv)
{
  static const char text[] = "there and back";
  char back[sizeof text] = "";
  tn_device host = { 0, 0 }, device;
  tn_device_info info;
  if (argc != 2 || tn_device_parse(argv[1], &device)) return die("parse");
  if (tn_device_get_info(device, &info)) return die("info");
  void *memory = tn_malloc(device, sizeof text);
  if (!memory) return die("malloc");
  if (tn_copy(memory, device, text, host, sizeof text, false) ||
      tn_copy(back, host, memory, device, sizeof text, false))
    return die("copy");
  tn_free(memory);
  printf("%s %s: %s\n", info.backend, info.name, back);
  return 0;
}
