#define _GNU_SOURCE
#include "config.h"

#include "tests/host_memory_scenarios.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/failing_malloc.h"
#include "tests/tap.h"

int scenario_failures;
bool scenario_is_silent;
tn_status scenario_first;
char scenario_text[200];
tn_device here, there;
const tn_device nowhere;
tn_stream *stream, *urgent, *far;

bool note(bool is_good)
{
  if (is_good) return true;
  if (scenario_failures++ == 0) {
    scenario_first = tn_last_status();
    snprintf(scenario_text, sizeof scenario_text, "%s", tn_error_message());
  }
  scenario_is_silent |= tn_last_status() == TN_OK || !tn_error_message()[0];
  return false;
}

bool did(tn_status status) { return note(status == TN_OK); }

bool may(tn_status status)
{
  return status == TN_UNSUPPORTED ? false : did(status);
}

void *memory_of(tn_device device, size_t bytes)
{
  void *memory = tn_malloc(device, bytes);
  note(memory != NULL);
  return memory;
}

void give_back(void *memory)
{
  if (memory) tn_free(memory);
}

void calm_down(void)
{
  host_fail_at = host_fail_from = 0;
  tn_synchronize(here);
  tn_synchronize(there);
}

void wrong(const char *what)
{
  tap_note("%s, and nothing failed", what);
  fflush(stdout);
  abort();
}

/* ---- streams and events ---- */

void add_one(void *number) { __atomic_add_fetch((int *)number, 1, 5); }

static void use_streams(void)
{
  int called = 0, wanted = 0;
  float ms;
  tn_event *start = tn_event_new(TN_EVENT_TIMING);
  tn_event *end = tn_event_new(TN_EVENT_TIMING), *plain = tn_event_new(0);
  if (note(start && end && plain)) {
    bool is_timed = did(tn_event_record(start, stream));
    wanted += did(tn_stream_call(stream, add_one, &called));
    is_timed &= did(tn_event_record(end, stream));
    did(tn_event_record(plain, urgent));
    did(tn_stream_wait_event(far, end));
    did(tn_stream_wait_event(stream, plain));
    if (did(tn_event_synchronize(end)) && is_timed)
      may(tn_event_elapsed(start, end, &ms));
    did(tn_event_synchronize_for(plain, 5000));
  }
  did(tn_stream_wait_stream(urgent, stream));
  did(tn_stream_wait_stream(far, urgent));
  wanted += did(tn_stream_call(far, add_one, &called));
  tn_status status = tn_stream_query(far);
  if (status != TN_NOT_READY) did(status);
  did(tn_stream_synchronize_for(far, 5000));
  calm_down();
  if (called != wanted) wrong("a host function was not called");
  tn_event_release(start);
  tn_event_release(end);
  tn_event_release(plain);
}

static void *use_in_thread(void *memory)
{
  tn_device_guard guard = tn_device_push(there);
  tn_with_stream(stream) tn_with_stream(far) {
    did(tn_fill_bytes(memory, here, 5, BYTES));
    did(tn_stream_wait_stream(stream, far));
    did(tn_stream_synchronize(stream));
  }
  tn_device_pop(&guard);
  did(tn_set_stream(urgent));
  return NULL;
}

/* A thread has records of its own. */
static void use_thread(void)
{
  pthread_t thread;
  void *memory = memory_of(here, BYTES);
  if (memory && pthread_create(&thread, NULL, use_in_thread, memory) == 0)
    pthread_join(thread, NULL);
  calm_down();
  give_back(memory);
}

/* ---- what streams and events tell ---- */

static void use_references(void)
{
  void *native = NULL;
  tn_event *event = tn_event_new(0);
  tn_stream *kept = tn_stream_retain(stream);
  if (note(event != NULL)) {
    tn_event *same = tn_event_retain(event);
    did(tn_event_query(same));
    if (tn_event_device(event).backend > 0) wrong("a new event has a device");
    if (did(tn_event_record(event, kept)) && did(tn_event_synchronize(same)) &&
        !tn_device_equal(tn_event_device(same), here))
      wrong("an event is of another device");
    tn_event_release(same);
  }
  if (!tn_device_equal(tn_stream_device(kept), here))
    wrong("a stream is of another device");
  tn_stream_guard guard = tn_stream_push(far);
  note(guard.active);
  if (guard.active && tn_current_stream(there) != far)
    wrong("another stream is current");
  tn_stream_pop(&guard);
  note(tn_default_stream(here) && tn_current_stream(here));
  tn_stream *wrapped = tn_stream_wrap(here, &native);
  if (wrapped || tn_last_status() != TN_UNSUPPORTED) note(wrapped != NULL);
  tn_stream_release(wrapped);
  tn_stream_release(kept);
  calm_down();
  tn_event_release(event);
}

const scenario scenarios[] = {
  { "streams and events", use_streams },
  { "references", use_references },
  { "a thread", use_thread },
  { "memory", use_memory },
  { "a memory pool", use_pool },
  { "a pool of the program's own memory", use_own_pool },
  { "pinned memory", use_pinned },
  { "figures of memory", use_figures },
  { "copies", use_copies },
  { "kernels", use_kernels },
  { "launches", use_launches },
  { "a native kernel", use_native },
  { "graphs", use_graphs },
  { "captures", use_captures },
  { "snapshots and history", use_books },
  { "options", use_options },
  { "names and lists", use_names },
  { "devices", use_devices },
  { NULL, NULL },
};

bool scenario_run(const scenario *of, const char *first, const char *second)
{
  scenario_failures = 0;
  scenario_is_silent = false;
  scenario_first = TN_OK;
  scenario_text[0] = 0;
  tn_clear_error();
  here = tn_device_of(first);
  there = tn_device_of(second);
  note(here.backend > 0 && there.backend > 0);
  stream = tn_stream_new(here, 0);
  urgent = tn_stream_new(here, -1);
  far = tn_stream_new(there, 0);
  bool is_there = note(stream && urgent && far);
  if (is_there) of->run();
  host_fail_at = host_fail_from = 0;
  if (here.backend > 0) tn_synchronize(here);
  if (there.backend > 0) tn_synchronize(there);
  tn_empty_cache(here);
  tn_empty_cache(there);
  tn_empty_host_cache();
  return is_there;
}
