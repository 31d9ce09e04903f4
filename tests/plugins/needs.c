/* A plugin linked with a library that is missing at run time. */
#include "tenon/backend.h"

int vendor_version(void);

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  (void)host, (void)next;
  return vendor_version() ? NULL : next;
}
