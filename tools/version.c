/* tenon version */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tenon/backend.h"
#include "tenon/version.h"
#include "tools/command.h"

static tn_exit run(const char *const *values)
{
  (void)values;
  printf("tenon %s (plugin interface %d.%d)\n", tn_version(),
         TN_BACKEND_ABI_MAJOR, TN_BACKEND_ABI_MINOR);
  if (strcmp(tn_version(), TN_VERSION) == 0) return TN_EXIT_OK;
  tn_complain("this command was built for version %s of the library",
              TN_VERSION);
  return TN_EXIT_FOUND;
}

const tn_command tn_version_command = {
  .name = "version",
  .summary = "print the version of the library",
  .text = "Prints the version of the library and of its plugin interface.",
  .run = run,
};
