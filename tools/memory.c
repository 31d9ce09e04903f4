/* tenon memory: a snapshot as a picture. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/command.h"
#include "tools/memory_file.h"
#include "tools/memory_view.h"

static tn_exit run(const char *const *values)
{
  const char *path = values[TN_OPTIONS_MAX], *output = values[0];
  tn_memory_file file;
  char problem[256];
  if (!tn_memory_file_read(path, &file, problem, sizeof problem)) {
    tn_complain("memory: %s %s", path, problem);
    return TN_EXIT_FOUND;
  }
  FILE *svg = output ? fopen(output, "w") : stdout;
  tn_exit status = svg ? TN_EXIT_OK : TN_EXIT_FOUND;
  if (svg) tn_memory_view_write(&file, svg);
  tn_memory_file_free(&file);
  bool is_bad = !svg || ferror(svg);
  if (svg && output && fclose(svg) != 0) is_bad = true;
  if (output && is_bad) {
    tn_complain("memory: cannot write %s: %s", output, strerror(errno));
    status = TN_EXIT_FOUND;
  }
  return status;
}

const tn_command tn_memory_command = {
  .name = "memory",
  .summary = "draw a snapshot of a device's memory",
  .text = "Draws what tn_memory_snapshot wrote to FILE as an SVG picture.",
  .options = {
    { "--output", "SVG", "where to write it; else standard output" },
  },
  .operand = "FILE",
  .run = run,
};
