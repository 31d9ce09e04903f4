#include "tests/cudaemu/strict/strict.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

strict_driver cu;
CUcontext contexts[2];
CUstream streams[2];

static void *library;

/* put(to, offset): thread i writes its number to to + offset + 4 * i.
 * copy(to, from): thread i copies word i. */
static const char text[] =
  ".version 6.3\n.target sm_75\n.address_size 64\n"
  ".global .u32 known = 7;\n"
  ".visible .entry put(.param .u64 to, .param .u64 offset)\n{\n"
  ".reg .b64 %a<4>; .reg .b32 %i;\n"
  "ld.param.u64 %a0, [to]; ld.param.u64 %a1, [offset];\n"
  "mov.u32 %i, %tid.x; mul.wide.u32 %a2, %i, 4;\n"
  "add.u64 %a0, %a0, %a1; add.u64 %a0, %a0, %a2;\n"
  "st.global.u32 [%a0], %i; ret;\n}\n"
  ".visible .entry copy(.param .u64 to, .param .u64 from)\n{\n"
  ".reg .b64 %a<4>; .reg .b32 %i, %v;\n"
  "ld.param.u64 %a0, [to]; ld.param.u64 %a1, [from];\n"
  "mov.u32 %i, %tid.x; mul.wide.u32 %a2, %i, 4;\n"
  "add.u64 %a0, %a0, %a2; add.u64 %a1, %a1, %a2;\n"
  "ld.global.u32 %v, [%a1]; st.global.u32 [%a0], %v; ret;\n}\n"
  ".visible .entry racy()\n{\n"
  ".reg .b32 %i; .shared .align 4 .b8 s[4];\n"
  "mov.u32 %i, %tid.x; st.shared.u32 [s], %i; ret;\n}\n"
  ".visible .entry half()\n{\n"
  ".reg .b32 %i; .reg .pred %p;\n"
  "mov.u32 %i, %tid.x; setp.lt.u32 %p, %i, 32; @%p bar.sync 0; ret;\n}\n"
  ".visible .entry last(.param .u64 to)\n{\n" /* block, warp: who was last */
  ".reg .b64 %a; .reg .b32 %i, %w, %l; .reg .pred %p;\n"
  "ld.param.u64 %a, [to]; mov.u32 %i, %tid.x; and.b32 %l, %i, 31;\n"
  "setp.ne.u32 %p, %l, 0; @%p ret; shr.u32 %w, %i, 5;\n"
  "mov.u32 %l, %ctaid.x; st.global.u32 [%a], %l;\n"
  "st.global.u32 [%a+4], %w; ret;\n}\n"
  /* Counts up without an atomic operation. */
  ".visible .entry count(.param .u64 to)\n{\n"
  ".reg .b64 %a; .reg .b32 %i, %n, %l; .reg .pred %p;\n"
  "ld.param.u64 %a, [to]; mov.u32 %i, %tid.x; and.b32 %l, %i, 31;\n"
  "setp.ne.u32 %p, %l, 0; @%p ret; mov.u32 %n, 0;\n"
  "again: ld.global.u32 %l, [%a]; add.u32 %l, %l, 1;\n"
  "st.global.u32 [%a], %l; add.u32 %n, %n, 1;\n"
  "setp.lt.u32 %p, %n, 100; @%p bra again; ret;\n}\n"
  ".visible .entry stop()\n{ trap; }\n"
  ".visible .entry small() .maxntid 32, 1, 1\n{ ret; }\n"
  ".visible .entry nothing()\n{ ret; }\n";

CUresult get_address(const char *name, void **function, int version,
                     int *status)
{
  CUresult (*ask)(const char *, void **, int, uint64_t, int *);
  *(void **)&ask = dlsym(library, "cuGetProcAddress_v2");
  return ask(name, function, version, 1, status);
}

static bool load(void)
{
  static const struct {
    const char *name;
    int version;
    void *slot;
  } entries[] = {
#define ENTRY(name, version, parameters) { "cu" #name, version, &cu.name },
#define MORE(function, name, version, parameters) \
    { "cu" #name, version, &cu.function },
    TN_CUDA_REQUIRED(ENTRY)
    TN_CUDA_GRAPHS(ENTRY)
    EMU_CALLS_MORE(MORE)
#undef ENTRY
#undef MORE
  };
  int driver = 0;
  library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  CUresult (*ask)(int *);
  *(void **)&ask = dlsym(library, "cuDriverGetVersion");
  if (!ask || ask(&driver)) return false;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    int status = 0;
    if (entries[i].version > driver) continue;
    if (get_address(entries[i].name, entries[i].slot, entries[i].version,
                    &status))
      return false;
  }
  return true;
}

void need(CUresult code, const char *what)
{
  if (!code) return;
  fprintf(stderr, "%s answered %d\n", what, (int)code);
  _exit(99);
}

CUdeviceptr take(size_t bytes)
{
  CUdeviceptr address = 0;
  need(cu.MemAlloc(&address, bytes), "cuMemAlloc");
  return address;
}

uint32_t *take_pinned(size_t bytes)
{
  void *memory = NULL;
  need(cu.MemHostAlloc(&memory, bytes, 1), "cuMemHostAlloc");
  memset(memory, 0, bytes);
  return memory;
}

CUfunction take_function(const char *name)
{
  CUmodule module = NULL;
  CUfunction function = NULL;
  need(cu.ModuleLoadDataEx(&module, text, 0, NULL, NULL), "cuModuleLoadData");
  need(cu.ModuleGetFunction(&function, module, name), "cuModuleGetFunction");
  return function;
}

CUevent new_event(void)
{
  CUevent event = NULL;
  need(cu.EventCreate(&event, TN_CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  return event;
}

CUresult launch(CUfunction function, unsigned grid, unsigned block,
                CUstream stream, uint64_t first, uint64_t second)
{
  void *parameters[] = { &first, &second };
  return cu.LaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream,
                         parameters, NULL);
}

static void *be_thread(void *argument)
{
  int (**body)(void) = argument;
  need(cu.CtxSetCurrent(contexts[0]), "cuCtxSetCurrent");
  return (void *)(intptr_t)(*body)();
}

int on_thread(int (*body)(void))
{
  pthread_t thread;
  void *answer = NULL;
  if (pthread_create(&thread, NULL, be_thread, &body) ||
      pthread_join(thread, &answer))
    abort();
  return (int)(intptr_t)answer;
}

int finish(CUstream stream) { return (int)cu.StreamSynchronize(stream); }

uint32_t *shut(CUstream stream)
{
  uint32_t *gate = take_pinned(4);
  need(cu.StreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)gate, 1, 0),
       "cuStreamWaitValue32");
  return gate;
}

int reported(void)
{
  unsigned (*take_reports)(void);
  *(void **)&take_reports = dlsym(library, "cudaemu_take_reports");
  return take_reports && take_reports() > 0;
}

/* In the child. */
static void set_up(const strict_case *c)
{
  if (c->is_before_init) return;
  need(cu.Init(0), "cuInit");
  int count = 0;
  need(cu.DeviceGetCount(&count), "cuDeviceGetCount");
  if (count < c->devices) _exit(77);
  for (int i = 1; i >= 0; i--)
    if (i < (c->devices ? c->devices : 1)) {
      need(cu.DevicePrimaryCtxRetain(contexts + i, i), "retaining");
      need(cu.CtxSetCurrent(contexts[i]), "cuCtxSetCurrent");
    }
  for (int i = 0; i < 2; i++)
    need(cu.StreamCreateWithPriority(streams + i, TN_CU_STREAM_NON_BLOCKING,
                                     0), "cuStreamCreateWithPriority");
}

static _Noreturn void be_child(const strict_case *c, int out)
{
  char settings[128] = "";
  dup2(out, 2);
  alarm(60); /* a driver may wait where the double does not */
  if (c->settings) {
    snprintf(settings, sizeof settings, "%s", c->settings);
    char *value = strchr(settings, '=');
    *value++ = '\0';
    setenv(settings, value, 1);
  }
  if (!load()) _exit(99);
  set_up(c);
  int got = c->run();
  fprintf(stderr, "\nanswer %d\n", got);
  _exit(0);
}

static void read_all(int from, char *into, size_t size)
{
  size_t length = 0;
  ssize_t got = 1;
  char rest[512];
  while (got > 0) {
    got = length + 1 < size ? read(from, into + length, size - 1 - length)
                            : read(from, rest, sizeof rest);
    if (got > 0 && length + 1 < size) length += (size_t)got;
  }
  into[length] = '\0';
}

static const char *const sources[] = { "documented", "assumed", "ours" };

static bool is_real(void)
{
  const char *real = getenv("TN_STRICT_REAL");
  return real && *real;
}

static void judge(const strict_case *c, int status, char *output)
{
  const char *answer = strstr(output, "\nanswer ");
  int got = -1000;
  if (WIFSIGNALED(status)) got = -WTERMSIG(status);
  else if (answer) got = atoi(answer + 8);
  bool is_right = got == c->wanted;
  bool is_said = !c->says || is_real() || strstr(output, c->says);
  tap_ok(is_right && is_said, "%s: [%s] %s: %d", is_right ? "MATCH" : "DIFFER",
         sources[c->source], c->text, got);
  if (is_right && is_said) return;
  tap_note("wanted %d%s%s", c->wanted, c->says ? " and " : "",
           c->says ? c->says : "");
  for (char *line = strtok(output, "\n"); line; line = strtok(NULL, "\n"))
    tap_note("%s", line);
}

static void run_one(const strict_case *c)
{
  int ends[2], status = 0;
  char output[4096];
  if (c->source == OURS && is_real()) {
    tap_skip("%s: the double alone says this", c->text);
    return;
  }
  fflush(NULL);
  if (pipe(ends)) abort();
  pid_t child = fork();
  if (child == 0) be_child(c, ends[1]);
  close(ends[1]);
  read_all(ends[0], output, sizeof output);
  close(ends[0]);
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
    tap_skip("%s: too few devices, or too old a driver", c->text);
  else
    judge(c, status, output);
}

void strict_run(const strict_case *cases, size_t count)
{
  for (size_t i = 0; i < count; i++) run_one(cases + i);
}
