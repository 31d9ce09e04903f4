/* The library that tenon-needs.so is linked with, and does not find: it is
 * installed nowhere. */
#include "tenon/status.h"

TN_API int vendor_version(void);

int vendor_version(void) { return 1; }
