/* The driver double's own state. One lock, emu.lock, guards all of it but for
 * device memory's table (address.h) and what a thread keeps of its own. */
#ifndef TN_TESTS_CUDAEMU_EMULATOR_H
#define TN_TESTS_CUDAEMU_EMULATOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/cuda/driver.h"
#include "layers/order.h"
#include "tests/cudaemu/calls.h"
#include "tests/cudaemu/settings.h"

#define EMU_PUBLIC __attribute__((visibility("default")))
#define EMU_PRINTF(at, rest) __attribute__((format(printf, at, rest)))

/* Codes that the plugin has no name for. */
enum {
  EMU_ERROR_INVALID_CONTEXT = 201,
};

/* A stream, its worker, and what is queued on it. Never freed, so that a stale
 * handle is told from a good one. */
typedef struct CUstream_st emu_stream;
typedef struct CUevent_st emu_event;
typedef struct CUmod_st emu_module;
typedef struct CUfunc_st emu_function;
typedef struct CUctx_st emu_context;
typedef struct CUgraph_st emu_graph;
typedef struct CUgraphNode_st emu_node;
typedef struct CUgraphExec_st emu_exec;
typedef struct emu_command emu_command;
typedef struct emu_capture emu_capture;

/* The primary context of a device. */
struct CUctx_st {
  int device;
  unsigned retained;   /* 0: there is none */
  unsigned generation; /* counts lives */
  CUresult failed;     /* what ended it, 0 while it works */
  CUresult lost;       /* the same once a call has told it */
  unsigned untold;     /* calls that may still pass before one tells */
  unsigned peers;      /* bit d: device d's memory may be accessed */
  emu_stream *legacy;
};

typedef struct emu_state {
  pthread_mutex_t lock;
  pthread_cond_t progress; /* a command is complete */
  emu_settings settings;
  bool initialised, ended, forked;
  int visible[EMU_DEVICES_MAX]; /* board by ordinal */
  int visible_count;
  emu_context contexts[EMU_DEVICES_MAX]; /* by ordinal */
  emu_stream *streams;
  emu_event *events;
  emu_module *modules;
} emu_state;

extern emu_state emu;

/* report.c */
uint64_t emu_random(uint64_t a, uint64_t b); /* of the seed, a and b */

/* One line on standard error, "EMULATED: ...". */
void emu_print(const char *format, ...) EMU_PRINTF(1, 2);
/* The same for what a real driver may not notice. It is counted, and makes the
 * process end with status 86 unless cudaemu_take_reports forgets it. */
void emu_report(const char *format, ...) EMU_PRINTF(1, 2);
EMU_PUBLIC unsigned cudaemu_take_reports(void);

/* entry.c: every call begins with emu_enter, which on success holds the lock,
 * and ends with emu_leave. */
typedef enum emu_call {
#define EMU_CALL_(name, version, parameters) EMU_##name,
#define EMU_CALL_MORE_(function, name, version, parameters) EMU_##function,
  TN_CUDA_REQUIRED(EMU_CALL_) TN_CUDA_OPTIONAL(EMU_CALL_)
  TN_CUDA_GRAPHS(EMU_CALL_)
  EMU_CALLS_MORE(EMU_CALL_MORE_)
#undef EMU_CALL_
#undef EMU_CALL_MORE_
  EMU_CALLS
} emu_call;

enum {
  EMU_BEFORE_INIT = 1, /* works before cuInit */
  EMU_CONTEXT = 2,     /* needs a current context, and one that works */
  EMU_UNSAFE = 4,      /* "potentially unsafe" while something is captured */
};

CUresult emu_enter(emu_call call, int needs);
CUresult emu_leave(CUresult code);
/* The thread's context, after emu_enter with EMU_CONTEXT. */
emu_context *emu_current(void);
/* What a queued command is to fail with, by TENON_CUDAEMU_FAIL; 0: nothing. */
CUresult emu_planned_failure(void);

/* device.c: bytes that a block may have, asked for; ordinals. */
int emu_shared_limit(void);
bool emu_are_peers(int device, int peer);

/* context.c */
bool emu_is_context(const emu_context *context); /* retained */
void emu_context_lose(emu_context *context, CUresult code); /* and tell */
/* What queued work ended the context with; calls tell it later, which one is
 * a matter of the seed: the next one, one of the next, or one that waits. */
void emu_context_fail(emu_context *context, CUresult code);
/* A call that is about the context: what it has to say, 0: it works. */
CUresult emu_context_pass(emu_context *context);
/* The same of one that waits for work. */
CUresult emu_context_tell(emu_context *context);
bool emu_is_sticky(CUresult code);

/* Of the library: a driver before 12.0. */
extern const bool emu_is_old;

typedef enum emu_symbol_status {
  EMU_SYMBOL_FOUND, EMU_SYMBOL_NOT_FOUND, EMU_SYMBOL_VERSION_NOT_SUFFICIENT
} emu_symbol_status;

/* symbols.c: a function by name and version; NULL for the other statuses. */
CUresult emu_symbol_find(const char *name, void **function, int version,
                         uint64_t flags, emu_symbol_status *status);

/* The table of functions, by name. */
#define EMU_DECLARE_(name, version, parameters) \
  CUresult emu_##name parameters;
TN_CUDA_REQUIRED(EMU_DECLARE_)
TN_CUDA_OPTIONAL(EMU_DECLARE_)
TN_CUDA_GRAPHS(EMU_DECLARE_)
#undef EMU_DECLARE_
#define EMU_DECLARE_(function, name, version, parameters) \
  CUresult emu_##function parameters;
EMU_CALLS_MORE(EMU_DECLARE_)
#undef EMU_DECLARE_

#endif
