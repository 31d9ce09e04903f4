/* A file before it is opened as a library. */
#ifndef TN_CORE_DEVICE_LIBRARY_FILE_H
#define TN_CORE_DEVICE_LIBRARY_FILE_H

#include "tenon/status.h"

/* Whether the file is a shared library and all there: the system's loader
 * maps a file that was cut short (a copy that ended early, a full disk) as if
 * it were whole, and the program dies when it is read. TN_BAD_PLUGIN with the
 * reason if not. Costs one short read. */
tn_status tn_library_file_check(const char *path);

#endif
