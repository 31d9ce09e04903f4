/* A library linked with libtenon, which a program opens and closes. Copied as
 * tenon-guest.so it is also a plugin that does what none may: it calls the
 * library from its entry. */
#include "tenon/backend.h"
#include "tenon/device.h"

TN_API int tn_test_guest_use(const char *text);

int tn_test_guest_use(const char *text)
{
  tn_device device = tn_device_of(text);
  return tn_can_access_peer(device, device);
}

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  (void)next;
  if (tn_device_count("guest") == 0)
    host->error(tn_last_status(), "it was told: %s", tn_error_message());
  return NULL;
}
