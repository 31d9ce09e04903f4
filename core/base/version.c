#include "tenon/version.h"

const char *tn_version(void) { return TN_VERSION; }
