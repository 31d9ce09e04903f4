/* A library that is no plugin. */
#include "tenon/status.h"

TN_API int tn_test_empty(void);

int tn_test_empty(void) { return 0; }
