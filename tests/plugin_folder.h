/* Folders of plugins made for one test. */
#ifndef TN_TESTS_PLUGIN_FOLDER_H
#define TN_TESTS_PLUGIN_FOLDER_H

#include <limits.h>

/* The libraries made for tests (tests/plugins); LT_OBJDIR is of config.h and
 * ends with a slash. */
#define PLUGIN_FAKE "tests/plugins/" LT_OBJDIR "tenon-fake.so"
#define PLUGIN_BAD "tests/plugins/" LT_OBJDIR "tenon-bad.so"
#define PLUGIN_NEEDS "tests/plugins/" LT_OBJDIR "tenon-needs.so"
#define PLUGIN_GUEST "tests/plugins/" LT_OBJDIR "libguest.so"
#define PLUGIN_EMPTY "tests/plugins/" LT_OBJDIR "libempty.so"

/* A new folder below the build tree; it goes away with the process that made
 * it. Ends the test if it cannot be made. */
const char *plugin_folder_make(void);

/* Copies a library as tenon-NAME.so; NULL: an empty file. Gives the path,
 * static. */
const char *plugin_folder_add(const char *folder, const char *library,
                              const char *name);

/* Searches these and nothing before; "" parts are left out. */
void plugin_path_set(const char *first, const char *second);

#endif
