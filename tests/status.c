/* Status names and this thread's last error. */
#include "tests/tap.h"

#include <string.h>

int main(void)
{
  tap_is_text(tn_status_name(TN_OK), "TN_OK", "a code has its name");
  tap_is_text(tn_status_name(TN_SHUT_DOWN), "TN_SHUT_DOWN",
              "the last code has its name");
  tap_is_text(tn_status_name((tn_status)77), "TN_UNKNOWN_STATUS",
              "a code outside the list has a name");
  tap_is_text(tn_status_meaning(TN_OUT_OF_MEMORY), "memory is exhausted",
              "a code has a meaning");
  tap_ok(strlen(tn_status_meaning((tn_status)-1)) > 0,
         "a code outside the list has a meaning");
  tap_is_int(tn_last_status(), TN_OK, "a thread begins without an error");
  tap_is_text(tn_error_message(), "", "and without a text");
  return tap_done();
}
