/* A PTX interpreter for tests: what a driver's just-in-time compiler and a
 * GPU would do to the text that nvcc or NVRTC writes, on the host and
 * strictly.
 *
 *   ptx_module_load    text to a module, or the line that is wrong
 *   ptx_module_place   tells it where a variable lies in device memory
 *   ptx_launch         runs one kernel to its end, or to its first fault
 *
 * A module may be launched from many threads at a time once its variables are
 * placed.  Blocks run one after another, the warps of a block in turns.
 *
 * Bits: every operation that IEEE 754 or integer arithmetic defines gives the
 * bits a GPU gives.  ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt and div
 * .approx (and div.full) do not: here they are correctly rounded, or nearly.
 * Not documented by the vendor and chosen here: f64 NaN results are
 * 0xfff8000000000000; .ftz looks at the rounded result.
 */
#ifndef TN_TESTS_CUDAEMU_PTX_H
#define TN_TESTS_CUDAEMU_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ptx_module ptx_module;

typedef enum ptx_status {
  PTX_OK,
  PTX_INVALID,         /* not PTX, or a form that is not emulated */
  PTX_VERSION_TOO_NEW, /* .version above ptx_limits.version */
  PTX_TARGET_TOO_NEW,  /* .target above ptx_limits.target */
  PTX_NO_MEMORY,
} ptx_status;

/* What the pretended driver and device accept; 0 accepts everything. */
typedef struct ptx_limits {
  unsigned version; /* 10 * major + minor of .version: CUDA 12.0 knows 80 */
  unsigned target;  /* 10 * major + minor of the compute capability */
} ptx_limits;

typedef struct ptx_parameter {
  uint32_t offset, size, align; /* bytes, in the block of parameters */
} ptx_parameter;

typedef struct ptx_entry {
  const char *name;
  const ptx_parameter *parameters;
  unsigned parameter_count;
  uint32_t parameter_bytes; /* size of the block */
  uint32_t shared_bytes;    /* static, the module's own included */
  uint32_t local_bytes;     /* for each thread */
  unsigned max_threads[3];  /* .maxntid, or 0 */
  unsigned required_threads[3]; /* .reqntid, or 0 */
} ptx_entry;

/* A .global or .const variable.  The caller gives it device memory, copies
 * the image there after ptx_module_place for all, and clears the rest. */
typedef struct ptx_variable {
  const char *name;
  uint64_t size, align;
  const unsigned char *image; /* initial bytes, or NULL */
  uint64_t image_size;        /* at most size; the rest is zero */
  uint64_t address;           /* as placed, or 0 */
  bool constant, external;
} ptx_variable;

/* Reads length bytes of text.  On failure *module is NULL and log holds one
 * line, "line N: ..." where a line is to blame. */
ptx_status ptx_module_load(const char *text, size_t length,
                           const ptx_limits *limits, char *log,
                           size_t log_size, ptx_module **module);
void ptx_module_free(ptx_module *module); /* NULL is accepted */

unsigned ptx_module_version(const ptx_module *module); /* as in ptx_limits */
unsigned ptx_module_target(const ptx_module *module);
size_t ptx_module_entry_count(const ptx_module *module);
const ptx_entry *ptx_module_entry(const ptx_module *module, size_t index);
const ptx_entry *ptx_module_find(const ptx_module *module, const char *name);
size_t ptx_module_variable_count(const ptx_module *module);
const ptx_variable *ptx_module_variable(const ptx_module *module,
                                        size_t index);
const ptx_variable *ptx_module_find_variable(const ptx_module *module,
                                             const char *name);
/* Says where variable `index` lies; not while the module runs. */
void ptx_module_place(ptx_module *module, size_t index, uint64_t address);

typedef enum ptx_access { PTX_LOAD, PTX_STORE, PTX_ATOMIC } ptx_access;

/* Which thread does something, for reports. */
typedef struct ptx_place {
  const char *kernel, *instruction;
  unsigned line;
  uint32_t block[3], thread[3];
} ptx_place;

/* Bytes of device memory that may be accessed: [begin, end), and where begin
 * is on the host.  host must be aligned like begin, up to 16. */
typedef struct ptx_span {
  uint64_t begin, end;
  unsigned char *host;
} ptx_span;

/* Device memory as the kernel sees it. */
typedef struct ptx_memory {
  void *context;
  /* Gives a span around [address, address + size), all of it open to this
   * access until the launch ends, for the interpreter remembers it: give just
   * the bytes asked for in order to be asked again.  When there is none:
   * false, and why in reason (one line). */
  bool (*find)(void *context, uint64_t address, uint64_t size,
               ptx_access access, const ptx_place *place, ptx_span *span,
               char *reason, size_t reason_size);
} ptx_memory;

typedef enum ptx_fault_kind {
  PTX_NO_FAULT,
  PTX_OUT_OF_BOUNDS,   /* ptx_memory refused, or shared, local, param */
  PTX_MISALIGNED,
  PTX_RACE,            /* unordered accesses to shared memory */
  PTX_INACTIVE_LANE,   /* a .sync instruction and lanes that do not take part */
  PTX_BAD_BARRIER,     /* a barrier reached by some, or at different places */
  PTX_TRAPPED,         /* trap */
  PTX_TOO_MANY_STEPS,
  PTX_BAD_LAUNCH,      /* sizes that no launch can have */
  PTX_LAUNCH_NO_MEMORY /* of the host */
} ptx_fault_kind;

typedef struct ptx_fault {
  ptx_fault_kind kind;
  ptx_place place;
  uint64_t address; /* of memory faults */
  char text[640];   /* one line naming kernel, line, thread and reason */
} ptx_fault;

typedef struct ptx_launch_config {
  uint32_t grid[3], block[3];
  uint32_t dynamic_shared; /* bytes */
  const void *parameters;  /* parameter_bytes of the entry */
  const ptx_memory *memory;
  uint64_t step_limit; /* of warp instructions in all, or 0 */
  bool ignore_races;   /* leave out the race detector of shared memory */
  uint64_t seed;       /* of the order of blocks and warps; 0: as numbered */
} ptx_launch_config;

typedef struct ptx_counts {
  uint64_t warp_steps, lane_steps; /* instructions done */
} ptx_counts;

/* Runs a kernel.  False after a fault, which *fault describes; memory then
 * holds whatever had been written.  counts may be NULL. */
bool ptx_launch(const ptx_module *module, const ptx_entry *entry,
                const ptx_launch_config *config, ptx_fault *fault,
                ptx_counts *counts);

#endif
