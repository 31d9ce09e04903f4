/* What is done with tensors of one device opens no other (row A184). */
#include "config.h"

#include "tests/manual_device.h"

#include <stdio.h>
#include <string.h>

static void test_others(void)
{
  char text[200] = "";
  float back[3] = { 0 };
  FILE *out = fmemopen(text, sizeof text - 1, "w");
  tn_with_scope {
    tn_tensor *t = tn_from_data(((float[]){ 1, 2, 3 }), TN_SHAPE(3),
                                .device = manual_second);
    tn_tensor *here = tn_to(t, .device = tn_device_of("cpu:0"));
    tap_ok(here && tn_read(here, back, sizeof back) == TN_OK && back[2] == 3,
           "D2 A184 a tensor of manual:1 comes to cpu");
    tn_print(t, out);
    fclose(out);
    tap_ok(strstr(text, "3") && strstr(text, "manual:1"),
           "D2 A184 and is printed");
  }
  tap_ok(manual->is_open(1) && !manual->is_open(0),
         "D2 A184 manual:0 was never opened");
}

int main(void)
{
  manual_part("", test_others);
  return tap_done();
}
