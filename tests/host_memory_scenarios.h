/* What tests/host_memory.c does while the host's memory fails: together all of
 * the core's public calls. */
#ifndef TN_TESTS_HOST_MEMORY_SCENARIOS_H
#define TN_TESTS_HOST_MEMORY_SCENARIOS_H

#include <stdbool.h>
#include <stddef.h>

#include <tenon/tenon.h>

typedef struct scenario {
  const char *name;
  /* Wrong results end the process. */
  void (*run)(void);
} scenario;

/* Ended by one without a name. */
extern const scenario scenarios[];

/* Calls that failed in the scenario, whether one of them set no error, and the
 * status and text of the first. */
extern int scenario_failures;
extern bool scenario_is_silent;
extern tn_status scenario_first;
extern char scenario_text[200];

/* Runs one on a device and its sibling, and gives everything back. False if
 * the device itself was not to be had. */
bool scenario_run(const scenario *of, const char *first, const char *second);

/* ---- for scenarios ---- */

enum { COUNT = 1000, BYTES = COUNT * 4 };

extern tn_device here, there;
extern const tn_device nowhere; /* the host */
extern tn_stream *stream, *urgent, *far; /* two of here, one of there */

/* Counts what failed; what came in. */
bool note(bool is_good);
bool did(tn_status status);
bool may(tn_status status); /* backends may lack it */

void *memory_of(tn_device device, size_t bytes); /* NULL is noted */
void give_back(void *memory);                    /* or NULL */
void add_one(void *number);

/* No allocation fails any more, and nothing is queued. */
void calm_down(void);
void wrong(const char *what);

/* ---- scenarios by file ---- */

void use_memory(void);
void use_pool(void);
void use_own_pool(void);
void use_pinned(void);
void use_figures(void);
void use_copies(void);
void use_kernels(void);
void use_launches(void);
void use_native(void);
void use_graphs(void);
void use_captures(void);
void use_books(void);
void use_options(void);
void use_names(void);
void use_devices(void);

#endif
