/* The two hardware queues of a device, and the threads that run them. */
#include "tests/plugins/remote/remote.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t remote_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t remote_changed = PTHREAD_COND_INITIALIZER;

void remote_list_init(remote_list *list)
{
  list->head = NULL;
  list->tail = &list->head;
}

static void append(remote_list *list, remote_command *command)
{
  command->next = NULL;
  *list->tail = command;
  list->tail = &command->next;
}

static remote_command *pop(remote_list *list)
{
  remote_command *command = list->head;
  list->head = command->next;
  if (!list->head) list->tail = &list->head;
  return command;
}

remote_command *remote_command_new(tn_backend_stream *stream,
                                   remote_kind kind, tn_tag tag)
{
  remote_command *command = calloc(1, sizeof *command);
  if (!command) {
    remote_host->error(TN_OUT_OF_MEMORY, "no memory for a command");
    return NULL;
  }
  command->stream = stream;
  command->kind = kind;
  command->tag = tag;
  command->latency = remote_latency();
  return command;
}

void remote_command_free(remote_command *command)
{
  if (command->kind == REMOTE_COPY) free(command->as.copy.captured);
  if (command->kind == REMOTE_LAUNCH) free(command->as.launch.slots);
  if (command->kind == REMOTE_WAIT) free(command->as.wait.points);
  if (command->kind == REMOTE_GRAPH) remote_run_free(command->as.run);
  free(command);
}

void remote_command_queue(remote_command *command)
{
  tn_backend_stream *stream = command->stream;
  pthread_mutex_lock(&remote_lock);
  if (stream->capture) remote_capture_add(stream->capture, command);
  else append(&stream->pending, command);
  pthread_mutex_unlock(&remote_lock);
}

void remote_stream_submit(tn_backend_stream *stream)
{
  while (stream->pending.head) {
    remote_command *command = pop(&stream->pending);
    if (command->kind == REMOTE_MARK)
      remote_point_submitted(command->as.mark);
    stream->in_flight++;
    append(&stream->queue->commands, command);
  }
  pthread_cond_broadcast(&remote_changed);
}

void remote_stream_drain(tn_backend_stream *stream)
{
  pthread_mutex_lock(&remote_lock);
  remote_stream_submit(stream);
  while (stream->in_flight)
    pthread_cond_wait(&remote_changed, &remote_lock);
  pthread_mutex_unlock(&remote_lock);
}

/* Blocks the queue, and so every stream mapped onto it. */
static void wait_for_points(const remote_command *command)
{
  for (size_t i = 0; i < command->as.wait.count; i++) {
    remote_point *point = command->as.wait.points[i];
    while (!remote_point_is_complete(point))
      pthread_cond_wait(&remote_changed, &remote_lock);
    remote_point_release(point);
  }
}

/* Lock not held. */
static tn_status work(const remote_command *command, char *text)
{
  snprintf(text, TN_BACKEND_TEXT_SIZE, "failed as TENON_REMOTE_FAIL asks");
  if (command->fault == FAULT_LOST) return TN_DEVICE_LOST;
  if (command->fault == FAULT_WORK) return TN_LAUNCH_FAILED;
  switch (command->kind) {
  case REMOTE_COPY: return remote_copy_run(command, text);
  case REMOTE_FILL: return remote_fill_run(command, text);
  default: return remote_launch_run(command, text);
  }
}

/* Keeps the first failure of the stream. Lock held. */
static void note_failure(const remote_command *command, tn_status status,
                         const char *text)
{
  tn_backend_stream *stream = command->stream;
  if (status == TN_DEVICE_LOST) stream->device->lost = true;
  if (stream->error.status) return;
  stream->error.status = status;
  stream->error.tag = command->tag;
  snprintf(stream->error.text, sizeof stream->error.text, "%s", text);
}

void remote_command_run(const remote_command *command)
{
  char text[TN_BACKEND_TEXT_SIZE];
  bool skip = command->stream->device->lost;
  pthread_mutex_unlock(&remote_lock);
  for (unsigned step = 0; step < command->latency; step++) sched_yield();
  tn_status status = skip ? TN_OK : work(command, text);
  pthread_mutex_lock(&remote_lock);
  if (status) note_failure(command, status, text);
  if (command->kind == REMOTE_LAUNCH)
    remote_launch_end(command->as.launch.kernel);
}

static void finish(remote_command *command)
{
  if (command->kind == REMOTE_WAIT)
    wait_for_points(command);
  else if (command->kind == REMOTE_MARK)
    remote_point_complete(command->as.mark);
  else if (command->kind == REMOTE_GRAPH)
    remote_run_finish(command);
  else
    remote_command_run(command);
  command->stream->in_flight--;
  pthread_cond_broadcast(&remote_changed);
  remote_command_free(command);
}

static void *serve(void *argument)
{
  remote_queue *queue = argument;
  pthread_mutex_lock(&remote_lock);
  for (;;) {
    if (queue->commands.head)
      finish(pop(&queue->commands));
    else if (queue->stopping)
      break;
    else
      pthread_cond_wait(&remote_changed, &remote_lock);
  }
  pthread_mutex_unlock(&remote_lock);
  return NULL;
}

/* Signals are the program's, not the other side's; but a fault of its own may
 * be one that a layer waits for. */
static int start(remote_queue *queue)
{
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);
  remote_list_init(&queue->commands);
  queue->stopping = false;
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&queue->thread, NULL, serve, queue);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

static void stop(remote_queue *queue)
{
  pthread_mutex_lock(&remote_lock);
  queue->stopping = true;
  pthread_cond_broadcast(&remote_changed);
  pthread_mutex_unlock(&remote_lock);
  pthread_join(queue->thread, NULL);
}

tn_status remote_queues_start(tn_backend_device *device)
{
  for (int i = 0; i < REMOTE_QUEUES; i++) {
    int error = start(&device->queues[i]);
    if (!error) continue;
    while (i--) stop(&device->queues[i]);
    return remote_host->error(TN_DEVICE_UNAVAILABLE, "no thread: %s",
                              strerror(error));
  }
  return TN_OK;
}

void remote_queues_stop(tn_backend_device *device)
{
  for (int i = 0; i < REMOTE_QUEUES; i++) stop(&device->queues[i]);
}
