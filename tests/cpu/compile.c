/* Modules that the cpu backend compiles at run time. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cpu/host.h"
#include "tests/tap.h"

#define KERNEL(body) \
  "TN_KERNEL(twice, TN_OUT(float, y), TN_IN(float, x), TN_VAL(int64, n))\n" \
  "{\n" \
  "  TN_PARALLEL_FOR(i, n)\n" \
  "    y[i] = " body ";\n" \
  "}\n"
#define FACTOR "#ifndef FACTOR\n#define FACTOR 2\n#endif\n"
#define MATH "#include <tenon/kernel_math.h>\n"

static const char twice[] = FACTOR KERNEL("FACTOR * x[i]");
static const char with_math[] =
  "#include <tenon/kernel_lang.h>\n" MATH KERNEL("x[i] + tn_exp(0.0f)");

static char folder[] = "/tmp/tenon-test-XXXXXX";
static tn_backend_device *device;
static tn_backend_stream *stream;

static tn_status load(tn_module_desc desc, tn_backend_module **module)
{
  desc.struct_size = sizeof desc;
  *module = NULL;
  plugin_forget();
  return plugin->launch->module_load(device, &desc, module);
}

static tn_module_desc portable(const char *source)
{
  return (tn_module_desc){ .kind = TN_MODULE_PORTABLE, .name = "doubling",
                           .data = source, .size = strlen(source) };
}

/* The module's kernel applied to 3, or -1. */
static float result_of(tn_backend_module *module)
{
  float x = 3, y = -1;
  uint64_t slots[] = { PLUGIN_POINTER(&y), PLUGIN_POINTER(&x), 1 };
  tn_backend_kernel *kernel = plugin_kernel(module, "twice");
  if (kernel) plugin_launch(stream, kernel, 1, slots);
  return y;
}

static void check(tn_module_desc desc, float wanted, const char *what)
{
  tn_backend_module *module;
  tn_status status = load(desc, &module);
  if (!tap_ok(!status, "%s: compiles", what)) {
    tap_note("%s", plugin_error());
    return;
  }
  tap_ok(result_of(module) == wanted, "%s: gives %g", what, (double)wanted);
  plugin->launch->module_unload(module);
}

static void fails(tn_module_desc desc, tn_status wanted, const char *part,
                  const char *what)
{
  tn_backend_module *module;
  tap_is_int(load(desc, &module), wanted, "%s: is refused", what);
  tap_has(plugin_error(), part, "%s: with the reason", what);
}

static void test_sources(void)
{
  check(portable(twice), 6, "plain source");
  check(portable(with_math), 4, "source that includes the language");
  tn_module_desc desc = portable(twice);
  desc.kind = TN_MODULE_VENDOR;
  check(desc, 6, "C as the backend's own language");
  desc.kind = TN_MODULE_BUILTIN;
  desc.name = "unknown to this plugin";
  check(desc, 6, "a built-in family given as source");
  desc = portable(twice);
  desc.name = "odd \"name\\\n?";
  check(desc, 6, "an odd name");
  desc.kind = TN_MODULE_BINARY;
  fails(desc, TN_UNSUPPORTED, "no binaries", "a binary");
  desc.kind = 99;
  fails(desc, TN_UNSUPPORTED, "kind 99", "an unknown kind");
  desc = portable(twice);
  desc.flags = 1;
  fails(desc, TN_INVALID_ARGUMENT, "unknown flags", "unknown flags");
}

static void test_cache(void)
{
  static const char *const defines[] = { "FACTOR=5", "OTHER" };
  plugin_cache_counts before = plugin_cache();
  check(portable(twice), 6, "the same source again");
  tap_ok(plugin_cache().found == before.found + 1 &&
           plugin_cache().stored == before.stored,
         "the cache has it");
  tn_module_desc desc = portable(twice);
  desc.defines = defines;
  desc.define_count = 2;
  check(desc, 15, "other definitions");
  tap_is_int(plugin_cache().stored, before.stored + 1,
             "they are another entry");
  plugin_cache_damage();
  check(desc, 15, "a damaged entry");
  tap_is_int(plugin_cache().stored, before.stored + 2,
             "it is compiled again");
}

static void test_errors(void)
{
  fails(portable(KERNEL("x[i] +")), TN_COMPILE_FAILED,
        "module \"doubling\" does not compile: doubling:4:", "an error");
  tap_has(plugin_log(), "0: doubling:4:", "the log has the whole text");
  fails(portable(KERNEL("unheard_of(x[i])")), TN_COMPILE_FAILED,
        "unheard_of", "a function that was not declared");
  fails(portable("float elsewhere(float);\n" KERNEL("elsewhere(x[i])")),
        TN_COMPILE_FAILED, "elsewhere", "a function that is nowhere");
  fails(portable("int nothing;\n"), TN_COMPILE_FAILED, "no kernel",
        "source without a kernel");
}

/* --- compilers --- */

/* TENON_CC or PATH set to a value for one module. */
static void with(const char *variable, const char *value, const char *part)
{
  const char *now = getenv(variable);
  char *saved = now ? strdup(now) : NULL;
  setenv(variable, value, 1);
  fails(portable(twice), TN_COMPILE_FAILED, part, part);
  if (saved)
    setenv(variable, saved, 1);
  else
    unsetenv(variable);
  free(saved);
}

/* A program for TENON_CC that does as a shell script says. */
static void script(const char *body, const char *part)
{
  char path[64];
  snprintf(path, sizeof path, "%s/compiler", folder);
  FILE *file = fopen(path, "w");
  if (!file) return;
  fprintf(file, "#!/bin/sh\n%s\n", body);
  fclose(file);
  chmod(path, 0700);
  with("TENON_CC", path, part);
  unlink(path);
}

static void test_no_compiler(void)
{
  with("TENON_CC", "/nowhere/cc", "TENON_CC=\"/nowhere/cc\" is no program");
  with("TENON_CC", "no-such-compiler",
       "TENON_CC=\"no-such-compiler\" is no program in PATH \"");
  with("PATH", "", "looked for cc, gcc and clang in PATH \"\"");
  with("PATH", "/nowhere::/nor/here", "in PATH \"/nowhere::/nor/here\"");
  with("TENON_CC", "/etc", "TENON_CC=\"/etc\" is no program");
  script("exit 3", "says nothing and ends with status 3");
  script("kill -9 $$", "says nothing and ends with signal 9");
  script("exit 0", "says nothing and ends with status 0");
  script("echo 'error: too hot' >&2; exit 1", "does not compile: error: too");
}

static void test_compilers(void)
{
  static const char *const names[] = { "gcc", "clang" };
  for (int i = 0; i < 2; i++) {
    char command[64];
    snprintf(command, sizeof command, "command -v %s >/dev/null", names[i]);
    if (system(command) != 0) {
      tap_skip("there is no %s", names[i]);
      continue;
    }
    setenv("TENON_CC", names[i], 1);
    check(portable(with_math), 4, names[i]);
    fails(portable(KERNEL("x[i] +")), TN_COMPILE_FAILED, "doubling:4:",
          names[i]);
    unsetenv("TENON_CC");
  }
}

static void test_no_child_signal(void)
{
  static const char *const defines[] = { "FACTOR=7" };
  tn_module_desc desc = portable(twice);
  desc.defines = defines;
  desc.define_count = 1;
  signal(SIGCHLD, SIG_IGN);
  check(desc, 21, "in a program that ignores SIGCHLD");
  fails(portable(KERNEL("x[i] *")), TN_COMPILE_FAILED, "doubling:4:",
        "an error in such a program");
  signal(SIGCHLD, SIG_DFL);
}

/* Returns its argument if all is well. */
static void *thread_load(void *argument)
{
  tn_backend_module *module;
  tn_status status = load(*(const tn_module_desc *)argument, &module);
  if (status) return NULL;
  plugin->launch->module_unload(module);
  return argument;
}

static void test_threads(void)
{
  static const char *const defines[] = { "FACTOR=11" };
  tn_module_desc desc = portable(twice);
  desc.defines = defines;
  desc.define_count = 1;
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, thread_load, &desc);
  for (int i = 0; i < 4; i++) {
    void *loaded = NULL;
    pthread_join(threads[i], &loaded);
    tap_ok(loaded, "thread %d of 4 compiles the same", i);
  }
}

static void test_levels(void)
{
  static const char *const levels[] = { "baseline", "v3", "v4" };
  for (int i = 0; i < 3; i++) {
    setenv("TENON_CPU_ISA", levels[i], 1);
    plugin_load();
    int devices;
    if (plugin->device->count(plugin->self, &devices)) {
      tap_skip("this processor has no level %s", levels[i]);
    } else {
      device = plugin_device();
      stream = plugin_stream(device, TN_STREAM_DEFAULT, 0);
      check(portable(with_math), 4, levels[i]);
      plugin->stream->destroy(stream);
      plugin->device->close(device);
    }
    plugin_unload();
    unsetenv("TENON_CPU_ISA");
  }
}

static int files_left(void)
{
  int left = 0;
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));)
    left += entry->d_name[0] != '.';
  if (entries) closedir(entries);
  return left;
}

int main(void)
{
  unsetenv("TENON_CC");
  unsetenv("TENON_CPU_ISA");
  if (!mkdtemp(folder)) return 1;
  setenv("TMPDIR", folder, 1);
  plugin_load();
  device = plugin_device();
  stream = plugin_stream(device, TN_STREAM_DEFAULT, 0);
  test_sources();
  test_cache();
  test_errors();
  test_no_compiler();
  test_compilers();
  test_no_child_signal();
  test_threads();
  plugin->stream->destroy(stream);
  plugin->device->close(device);
  plugin_unload();
  test_levels();
  tap_is_int(files_left(), 0, "no file is left in TMPDIR");
  rmdir(folder);
  return tap_done();
}
