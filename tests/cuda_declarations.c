/* Our declarations of the CUDA driver against NVIDIA's, of whose version there
 * is one here: constants, the types of all calls at the versions we ask for,
 * and (in driver.h itself) the layout of structures. All is checked by the
 * compiler. */
#include "config.h"

#include <cuda.h>
#include <cudaTypedefs.h>

#include "backends/cuda/driver.h"
#include "tests/cudaemu/calls.h"
#include "tests/tap.h"

#define CONSTANT(name, value) \
  _Static_assert((long long)(name) == (value), #name " is " #value);
TN_CUDA_CONSTANTS(CONSTANT)
EMU_CONSTANTS(CONSTANT)

#define CALL(name, version, parameters) \
  _Static_assert( \
      __builtin_types_compatible_p(__typeof__(((tn_cuda_calls *)0)->name), \
                                   PFN_cu##name##_v##version), \
      "cu" #name " of version " #version);
TN_CUDA_REQUIRED(CALL)
TN_CUDA_OPTIONAL(CALL)
TN_CUDA_GRAPHS(CALL)

typedef struct more_calls {
#define MEMBER(function, name, version, parameters) \
  CUresult(*function) parameters;
  EMU_CALLS_MORE(MEMBER)
} more_calls;

#define MORE(function, name, version, parameters) \
  _Static_assert( \
      __builtin_types_compatible_p(__typeof__(((more_calls *)0)->function), \
                                   PFN_cu##name##_v##version), \
      "cu" #name " of version " #version);
EMU_CALLS_MORE(MORE)

#define COUNT(...) +1

int main(void)
{
  tap_note("cuda.h of CUDA %d.%d", CUDA_VERSION / 1000,
           CUDA_VERSION % 1000 / 10);
  tap_ok(1, "%d constants are as in cuda.h",
         0 TN_CUDA_CONSTANTS(COUNT) EMU_CONSTANTS(COUNT));
  tap_ok(1, "%d calls are as in cudaTypedefs.h",
         0 TN_CUDA_REQUIRED(COUNT) TN_CUDA_OPTIONAL(COUNT)
             TN_CUDA_GRAPHS(COUNT) EMU_CALLS_MORE(COUNT));
  return tap_done();
}
