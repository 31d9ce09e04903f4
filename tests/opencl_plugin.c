/* The opencl plugin by itself: its tables driven by a host of our own. The
 * environment chooses what it meets: POCL_DEVICES="basic basic",
 * TENON_OPENCL_SVM=0; see opencl_variants.sh. */
#include "config.h"

#include <stdlib.h>
#include <time.h>

#include "tests/opencl/rig.h"
#include "tests/tap.h"

int main(int count, char **arguments)
{
  unsigned seed = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10)
                            : (unsigned)time(NULL);
  if (!rig_start()) return tap_done();
  tap_note("seed %u", seed);
  test_devices();
  test_memory();
  test_copies(seed);
  test_modules();
  test_launches();
  test_streams();
  test_failures();
  test_pairs();
  rig_end();
  return tap_done();
}
