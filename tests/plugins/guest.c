/* A library linked with libtenon, which a program opens and closes. */
#include "tenon/device.h"

TN_API int tn_test_guest_use(const char *text);

int tn_test_guest_use(const char *text)
{
  tn_device device = tn_device_of(text);
  return tn_can_access_peer(device, device);
}
