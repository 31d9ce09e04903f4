/* Programs that use the driver wrongly, or at the edge of what is right, and
 * what it has to answer. The same binary asks a real driver: an answer that
 * differs there corrects the double. */
#ifndef TN_TESTS_CUDAEMU_STRICT_H
#define TN_TESTS_CUDAEMU_STRICT_H

#include "backends/cuda/driver.h"
#include "tests/cudaemu/calls.h"

typedef enum strict_source {
  DOCUMENTED, /* by the vendor */
  ASSUMED,    /* until a real driver has answered */
  OURS        /* the double alone says this */
} strict_source;

/* Runs in a process of its own, with cuInit done, the context of device 0
 * current, and two non-blocking streams. */
typedef struct strict_case {
  const char *text;
  strict_source source;
  int wanted;            /* a CUresult; -11 for a SIGSEGV */
  int (*run)(void);
  const char *says;      /* part of what the double prints, or NULL */
  const char *settings;  /* "NAME=VALUE" for the double, or NULL */
  int devices;           /* that it needs, if not 1 */
  int is_before_init;
} strict_case;

/* Calls that the plugin makes, and others; NULL where the driver is older. */
typedef struct strict_driver {
#define STRICT_MEMBER_(name, version, parameters) CUresult(*name) parameters;
#define STRICT_MORE_(function, name, version, parameters) \
  CUresult(*function) parameters;
  TN_CUDA_REQUIRED(STRICT_MEMBER_)
  TN_CUDA_OPTIONAL(STRICT_MEMBER_)
  TN_CUDA_GRAPHS(STRICT_MEMBER_)
  EMU_CALLS_MORE(STRICT_MORE_)
#undef STRICT_MEMBER_
#undef STRICT_MORE_
} strict_driver;

extern strict_driver cu;
extern CUcontext contexts[2]; /* [1] where the case needs two devices */
extern CUstream streams[2];   /* of device 0 */

CUresult get_address(const char *name, void **function, int version,
                     int *status);

/* End the process with a message when the driver refuses. */
void need(CUresult code, const char *what);
CUdeviceptr take(size_t bytes);
uint32_t *take_pinned(size_t bytes);
CUfunction take_function(const char *name); /* of the text in rig.c */
CUevent new_event(void); /* without time */
/* put and copy take two values of 64 bits; others take none. */
CUresult launch(CUfunction function, unsigned grid, unsigned block,
                CUstream stream, uint64_t first, uint64_t second);
/* What the stream has to say in the end. */
int finish(CUstream stream);
/* Keeps a stream busy until *gate is 1. */
uint32_t *shut(CUstream stream);
enum { GLOBAL, THREAD_LOCAL, RELAXED }; /* CUstreamCaptureMode */

/* Captures; what is refused ends the process, but for the end's code. */
void begin_in(CUstream stream, int mode);
void begin(void);                         /* in streams[0], mode global */
int end_code(void);                       /* of streams[0]; the graph is gone */
int with_end(CUresult code); /* 1000 times the code, and the end's */
CUgraph end(void);
void put_in(CUstream stream); /* a fill */
/* begin_in, with what put_in needs there. */
void begin_with_work(int mode);
CUgraphExec instantiate(CUgraph graph);
void replay(CUgraphExec exec); /* in streams[0] */
void come_after(CUstream first, CUstream second); /* by an event */
int status_of(CUstream stream); /* a CUstreamCaptureStatus */
size_t nodes_of(CUgraph graph, CUgraphNode *nodes, size_t room);
/* The first of 32 bits there, with streams[0] finished; negative: the code. */
int word_at(CUdeviceptr memory);

/* Runs `body` in another thread, with the context of device 0 current. */
int on_thread(int (*body)(void));
/* Lines of the double that no code tells, 0 or 1. */
int reported(void);

/* Runs them; one line of TAP for each. */
void strict_run(const strict_case *cases, size_t count);

void strict_calls(void);
void strict_memory(void);
void strict_streams(void);
void strict_launches(void);
void strict_order(void);
void strict_captures(void);
void strict_forks(void);
void strict_safety(void);
void strict_modes(void);
void strict_dependencies(void);
void strict_graphs(void);
void strict_updates(void);

#define STRICT_RUN(cases) strict_run(cases, sizeof cases / sizeof *cases)

#endif
