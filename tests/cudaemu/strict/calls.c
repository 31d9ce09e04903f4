/* Initialisation, contexts, threads, peers. */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cudaemu/strict/strict.h"

static int count_early(void)
{
  int count;
  return (int)cu.DeviceGetCount(&count);
}

static int init_flags(void) { return (int)cu.Init(1); }
static int init(void) { return (int)cu.Init(0); }

static int init_twice(void)
{
  return (int)cu.Init(0);
}

static int newer_version(void)
{
  void *function;
  int status;
  return (int)get_address("cuMemAlloc", &function, 99000, &status);
}

/* NULL with success. */
static int older_version(void)
{
  void *function = &function;
  int status = 0;
  if (get_address("cuMemcpyHtoDAsync", &function, 2000, &status)) return -1;
  return function ? 0 : 100 + status;
}

static int unknown_name(void)
{
  void *function = &function;
  int status = 0;
  if (get_address("cuNothing", &function, 12000, &status)) return -1;
  return function ? 0 : 100 + status;
}

static int device_nine(void)
{
  CUdevice device;
  return (int)cu.DeviceGet(&device, 99);
}

static int peer_self(void)
{
  int possible = 1;
  return (int)cu.DeviceCanAccessPeer(&possible, 0, 0) + possible;
}

static int on_fresh_thread(void *(*body)(void *))
{
  pthread_t thread;
  void *answer;
  pthread_create(&thread, NULL, body, NULL);
  pthread_join(thread, &answer);
  return (int)(intptr_t)answer;
}

static void *alloc_body(void *unused)
{
  CUdeviceptr address;
  (void)unused;
  return (void *)(intptr_t)cu.MemAlloc(&address, 4);
}

static int fresh_alloc(void) { return on_fresh_thread(alloc_body); }

static CUfunction nothing;

static void *launch_body(void *unused)
{
  (void)unused;
  return (void *)(intptr_t)launch(nothing, 1, 1, streams[0], 0, 0);
}

static int fresh_launch(void)
{
  nothing = take_function("nothing");
  return on_fresh_thread(launch_body);
}

static void *release_body(void *unused)
{
  (void)unused;
  return (void *)(intptr_t)cu.DevicePrimaryCtxRelease(0);
}

/* Another thread ends the context that is current here. */
static int ended_context(void)
{
  size_t now, total;
  int code = on_fresh_thread(release_body);
  return code ? -code : (int)cu.MemGetInfo(&now, &total);
}

static int set_ended(void)
{
  int code = on_fresh_thread(release_body);
  return code ? -code : (int)cu.CtxSetCurrent(contexts[0]);
}

static int release_twice(void)
{
  cu.DevicePrimaryCtxRelease(0);
  return (int)cu.DevicePrimaryCtxRelease(0);
}

/* Counted: the second release ends it. */
static int retained_twice(void)
{
  size_t now, total;
  CUcontext again;
  cu.DevicePrimaryCtxRetain(&again, 0);
  if (again != contexts[0]) return -1;
  cu.DevicePrimaryCtxRelease(0);
  return (int)cu.MemGetInfo(&now, &total);
}

static int fork_after(void)
{
  int status = 0, count;
  pid_t child = fork();
  if (child == 0) _exit((int)cu.DeviceGetCount(&count));
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

static int capture_mode(void)
{
  CUstreamCaptureMode mode = 3;
  return (int)cu.ThreadExchangeStreamCaptureMode(&mode);
}

static int peer_twice(void)
{
  cu.CtxEnablePeerAccess(contexts[1], 0);
  return (int)cu.CtxEnablePeerAccess(contexts[1], 0);
}

static int peer_flags(void)
{
  return (int)cu.CtxEnablePeerAccess(contexts[1], 1);
}

static int peer_off(void)
{
  return (int)cu.CtxDisablePeerAccess(contexts[1]);
}

static int peer_once(void)
{
  return (int)cu.CtxEnablePeerAccess(contexts[1], 0);
}

static int possible(int from, int to)
{
  int answer = 9;
  cu.DeviceCanAccessPeer(&answer, from, to);
  return answer;
}

static int peer_forth(void) { return possible(0, 1) * 10 + possible(1, 0); }

static int peer_back(void)
{
  cu.CtxSetCurrent(contexts[1]);
  return (int)cu.CtxEnablePeerAccess(contexts[0], 0);
}

static int second_alloc(void)
{
  CUdeviceptr address;
  take(4);
  return (int)cu.MemAlloc(&address, 4);
}

static int late_failure(void)
{
  CUdeviceptr memory = take(16);
  int code = (int)cu.MemsetD8Async(memory, 1, 16, streams[0]);
  return code ? -code : finish(streams[0]);
}

static int version(void)
{
  int number = 0;
  cu.DriverGetVersion(&number);
  return number;
}

static int visible(void)
{
  int count = 0;
  CUuuid uuid;
  if (cu.Init(0) || cu.DeviceGetCount(&count)) return -1;
  cu.DeviceGetUuid(&uuid, 0);
  return 100 * count + uuid.bytes[15];
}

static const strict_case cases[] = {
  { "a call before cuInit", DOCUMENTED, 3,
    .run = count_early, .is_before_init = 1 },
  { "cuInit with flags", DOCUMENTED, 1,
    .run = init_flags, .is_before_init = 1 },
  { "cuInit a second time", ASSUMED, 0, .run = init_twice },
  { "no device is shown", ASSUMED, 100, .run = init, .is_before_init = 1,
    .settings = "CUDA_VISIBLE_DEVICES=" },
  { "devices are shown in the order asked for", OURS, 201, .run = visible,
    .is_before_init = 1, .settings = "CUDA_VISIBLE_DEVICES=1,0,9,1" },
  { "a device twice is none", ASSUMED, 100, .run = init, .is_before_init = 1,
    .settings = "CUDA_VISIBLE_DEVICES=0,0" },
  { "a function of a newer version than the driver's", DOCUMENTED, 1,
    .run = newer_version },
  { "a form before the first is NULL with success, and told by the status",
    ASSUMED, 102, .run = older_version },
  { "so is a name that is not there", ASSUMED, 101, .run = unknown_name },
  { "a device beyond the last", DOCUMENTED, 101, .run = device_nine },
  { "a device is no peer of itself", ASSUMED, 0, .run = peer_self },
  { "an allocation on a thread without a context", DOCUMENTED, 201,
    .run = fresh_alloc },
  { "a launch from a thread without a context", DOCUMENTED, 201,
    .run = fresh_launch },
  { "the current context was ended by another thread", ASSUMED, 709,
    .run = ended_context },
  { "a context that was ended becomes current", ASSUMED, 201,
    .run = set_ended },
  { "a primary context is released once too often", DOCUMENTED, 201,
    .run = release_twice },
  { "retained twice, it survives one release", DOCUMENTED, 0,
    .run = retained_twice },
  { "a child that was forked after cuInit", ASSUMED, 3, .run = fork_after },
  { "an unknown capture mode", ASSUMED, 1, .run = capture_mode },
  { "peer access", DOCUMENTED, 0, .run = peer_once, .devices = 2 },
  { "peer access is enabled twice", DOCUMENTED, 704, .run = peer_twice,
    .devices = 2 },
  { "peer access with flags", DOCUMENTED, 1, .run = peer_flags, .devices = 2 },
  { "peer access is disabled that was not enabled", DOCUMENTED, 705,
    .run = peer_off,
    .devices = 2 },
  { "peer access between devices that have none", OURS, 217, .run = peer_once,
    .devices = 2, .settings = "TENON_CUDAEMU_PEERS=none" },
  { "access in one direction", OURS, 10, .run = peer_forth, .devices = 2,
    .settings = "TENON_CUDAEMU_PEERS=0>1" },
  { "it is enabled", OURS, 0, .run = peer_once, .devices = 2,
    .settings = "TENON_CUDAEMU_PEERS=0>1" },
  { "the other direction is not", OURS, 217, .run = peer_back, .devices = 2,
    .settings = "TENON_CUDAEMU_PEERS=0>1" },
  { "the second call of a name fails on demand", OURS, 2, .run = second_alloc,
    .settings = "TENON_CUDAEMU_FAIL=cuMemAlloc:2=2" },
  { "what a call queues fails on demand", OURS, 719, .run = late_failure,
    .settings = "TENON_CUDAEMU_FAIL=cuMemAlloc:9=2,cuMemsetD8Async:1~719" },
  { "the driver's version is as asked for", OURS, 13000, .run = version,
    .settings = "TENON_CUDAEMU_DRIVER=13.0" },
  { "12.4 is one too", OURS, 12040, .run = version,
    .settings = "TENON_CUDAEMU_DRIVER=12.4" },
};

void strict_calls(void) { STRICT_RUN(cases); }
