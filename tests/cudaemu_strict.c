/* Whether a driver is as strict as it has to be: the double's own test, and
 * on a real GPU (TN_STRICT_REAL=1) the double's correction. */
#include "tests/cudaemu/strict/strict.h"
#include "tests/tap.h"

int main(void)
{
  strict_calls();
  strict_memory();
  strict_streams();
  strict_launches();
  strict_order();
  strict_captures();
  strict_forks();
  strict_safety();
  strict_modes();
  strict_dependencies();
  strict_graphs();
  strict_updates();
  return tap_done();
}
