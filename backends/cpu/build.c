#include "backends/cpu/build.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/cpu/compiler.h"
#include "backends/cpu/host.h"
#include "backends/cpu/language_text.h"
#include "backends/cpu/level.h"
#include "backends/cpu/settings.h"

#define CACHE_KIND "cpu"

/* Understood by gcc and clang alike. The same bits come out as of the
 * built-in kernels: see TN_KERNEL_CFLAGS in m4/tn_cpu_levels.m4. */
static const char *const flags[] = {
  "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden",
  "-Werror=implicit-function-declaration", "-Wl,-z,defs", "-O3",
  "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
};

/* The files of one compilation, in a folder of their own. */
typedef struct tn_cpu_build {
  const tn_module_desc *desc;
  tn_cpu_compiler compiler;
  char folder[PATH_MAX - 64];
  char source[PATH_MAX], library[PATH_MAX], messages[PATH_MAX];
} tn_cpu_build;

/* --- the cache's key --- */

typedef struct tn_cpu_key {
  char *start;
  size_t size;
} tn_cpu_key;

static void key_print(FILE *out, const tn_cpu_build *build)
{
  const tn_module_desc *desc = build->desc;
  size_t count;
  tn_cpu_level level = tn_cpu_settings_get()->level;
  const char *const *words = tn_cpu_level_flags(level, &count);
  fprintf(out, "tenon-cpu %s language %slevel %s\ncompiler %s %s\nflags",
          TN_CPU_VERSION, tn_cpu_language_sum, tn_cpu_level_name(level),
          build->compiler.path, build->compiler.identity);
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    fprintf(out, " %s", flags[i]);
  for (size_t i = 0; i < count; i++) fprintf(out, " %s", words[i]);
  for (uint64_t i = 0; i < desc->define_count; i++)
    fprintf(out, "%c-D%s", 0, desc->defines[i]);
  fprintf(out, "%csource\n", 0);
  fwrite(desc->data, 1, desc->size, out);
}

static tn_status key_make(const tn_cpu_build *build, tn_cpu_key *key)
{
  *key = (tn_cpu_key){ NULL, 0 };
  FILE *out = open_memstream(&key->start, &key->size);
  if (out) key_print(out, build);
  bool failed = !out || ferror(out);
  if (out && fclose(out)) failed = true;
  if (!failed) return TN_OK;
  free(key->start);
  return tn_cpu_host->error(TN_OUT_OF_MEMORY,
                            "no memory for the key of module \"%s\"",
                            build->desc->name);
}

/* --- the files --- */

static tn_status file_problem(const char *path)
{
  return tn_cpu_host->error(TN_COMPILE_FAILED, "cannot write %s: %s", path,
                            strerror(errno));
}

static tn_status file_write(const char *path, const char *content)
{
  FILE *file = fopen(path, "we");
  if (!file) return file_problem(path);
  bool failed = fputs(content, file) < 0;
  if (fclose(file) || failed) return file_problem(path);
  return TN_OK;
}

/* Messages name the module, so its name is put where a file's would be. */
static void line_mark(FILE *file, const char *name)
{
  fputs("\n#line 1 \"", file);
  for (; *name; name++)
    fputc(strchr("\"\\\n\r?", *name) ? '_' : *name, file);
  fputs("\"\n", file);
}

static tn_status source_write(const tn_cpu_build *build)
{
  const tn_module_desc *desc = build->desc;
  FILE *file = fopen(build->source, "we");
  if (!file) return file_problem(build->source);
  fputs("#include <tenon/kernel_lang.h>", file);
  line_mark(file, desc->name);
  fwrite(desc->data, 1, desc->size, file);
  line_mark(file, "the end of the module");
  fputs("TN_IMAGE\n", file);
  bool failed = ferror(file);
  if (fclose(file) || failed) return file_problem(build->source);
  return TN_OK;
}

static const struct {
  const char *name, *content;
} headers[] = {
  { "tenon/kernel_lang.h", tn_cpu_kernel_lang_text },
  { "tenon/kernel_math.h", tn_cpu_kernel_math_text },
};

#define HEADERS (sizeof headers / sizeof *headers)

static tn_status headers_write(const tn_cpu_build *build)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/tenon", build->folder);
  if (mkdir(path, 0700) != 0) return file_problem(path);
  tn_status status = TN_OK;
  for (size_t i = 0; i < HEADERS && !status; i++) {
    snprintf(path, sizeof path, "%s/%s", build->folder, headers[i].name);
    status = file_write(path, headers[i].content);
  }
  return status;
}

static tn_status folder_make(tn_cpu_build *build)
{
  const char *place = tn_cpu_host->environment("TMPDIR");
  if (!place || *place != '/') place = "/tmp";
  int length = snprintf(build->folder, sizeof build->folder,
                        "%s/tenon-XXXXXX", place);
  if (length >= (int)sizeof build->folder || !mkdtemp(build->folder))
    return tn_cpu_host->error(TN_COMPILE_FAILED,
                              "cannot make a folder in %s: %s", place,
                              length >= (int)sizeof build->folder
                                ? "its name is too long"
                                : strerror(errno));
  snprintf(build->source, PATH_MAX, "%s/module.c", build->folder);
  snprintf(build->library, PATH_MAX, "%s/module.so", build->folder);
  snprintf(build->messages, PATH_MAX, "%s/messages", build->folder);
  return TN_OK;
}

static void folder_remove(const tn_cpu_build *build)
{
  char path[PATH_MAX];
  unlink(build->source);
  unlink(build->library);
  unlink(build->messages);
  for (size_t i = 0; i < HEADERS; i++) {
    snprintf(path, sizeof path, "%s/%s", build->folder, headers[i].name);
    unlink(path);
  }
  snprintf(path, sizeof path, "%s/tenon", build->folder);
  rmdir(path);
  rmdir(build->folder);
}

/* The whole of a file, and a 0 after it; NULL with errno. */
static char *file_read(const char *path, size_t *size)
{
  char *content = NULL;
  struct stat facts;
  FILE *file = fopen(path, "re");
  if (!file) return NULL;
  if (fstat(fileno(file), &facts) == 0)
    content = malloc((size_t)facts.st_size + 1);
  if (content) {
    *size = fread(content, 1, (size_t)facts.st_size, file);
    content[*size] = 0;
  }
  fclose(file);
  return content;
}

/* --- what the compiler says --- */

static bool is_error(const char *line)
{
  return strstr(line, "error:") || strstr(line, "undefined reference");
}

/* Sends each line to the log and returns the first that tells an error, or
 * else the first; NULL if there is none. Cuts the text into lines. */
static const char *messages_log(char *text, tn_log_level level)
{
  const char *first = NULL, *error = NULL;
  char *rest = NULL;
  for (char *line = strtok_r(text, "\n", &rest); line;
       line = strtok_r(NULL, "\n", &rest)) {
    tn_cpu_host->log(level, "%s", line);
    if (!first) first = line;
    if (!error && is_error(line)) error = line;
  }
  return error ? error : first;
}

static tn_status outcome_check(const tn_cpu_build *build, int outcome)
{
  size_t size = 0;
  struct stat facts;
  bool is_made = stat(build->library, &facts) == 0 && facts.st_size > 0;
  bool failed = outcome > 0 || !is_made;
  char *text = file_read(build->messages, &size);
  const char *message =
    text ? messages_log(text, failed ? TN_LOG_ERROR : TN_LOG_WARNING) : NULL;
  tn_status status = TN_OK;
  if (failed && message)
    status = tn_cpu_host->error(TN_COMPILE_FAILED,
                                "module \"%s\" does not compile: %s",
                                build->desc->name, message);
  else if (failed)
    status = tn_cpu_host->error(
      TN_COMPILE_FAILED, "module \"%s\": %s says nothing and ends with %s %d",
      build->desc->name, build->compiler.path,
      outcome >= 256 ? "signal" : "status",
      outcome >= 256 ? outcome - 256 : outcome);
  free(text);
  return status;
}

/* --- compiling --- */

/* Takes the const away: the arguments of a program are not written to. */
static char *argument(const char *word)
{
  union {
    const char *in;
    char *out;
  } either = { word };
  return either.out;
}

/* The definitions as one array of "-DNAME=VALUE", NULL at its end. */
static char **defines_make(const tn_module_desc *desc)
{
  size_t count = desc->define_count, i = 0;
  char **made = calloc(count + 1, sizeof *made);
  for (; made && i < count; i++)
    if (asprintf(&made[i], "-D%s", desc->defines[i]) < 0) break;
  if (!made || i == count) return made;
  while (i) free(made[--i]);
  free(made);
  return NULL;
}

static tn_status compiler_call(const tn_cpu_build *build, char **defines)
{
  size_t count, at = 0, defined = build->desc->define_count;
  const char *const *words =
    tn_cpu_level_flags(tn_cpu_settings_get()->level, &count);
  size_t most = sizeof flags / sizeof *flags + count + defined + 8;
  char **arguments = calloc(most, sizeof *arguments);
  if (!arguments)
    return tn_cpu_host->error(TN_OUT_OF_MEMORY, "no memory to run %s",
                              build->compiler.path);
  arguments[at++] = argument(build->compiler.path);
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    arguments[at++] = argument(flags[i]);
  for (size_t i = 0; i < count; i++) arguments[at++] = argument(words[i]);
  for (size_t i = 0; i < defined; i++) arguments[at++] = defines[i];
  arguments[at++] = argument("-I");
  arguments[at++] = argument(build->folder);
  arguments[at++] = argument("-o");
  arguments[at++] = argument(build->library);
  arguments[at++] = argument(build->source);
  arguments[at++] = argument("-lm");
  int outcome;
  tn_status status = tn_cpu_compiler_run(&build->compiler, arguments,
                                         build->messages, &outcome);
  free(arguments);
  return status ? status : outcome_check(build, outcome);
}

static tn_status compile(tn_cpu_build *build)
{
  char **defines = defines_make(build->desc);
  if (!defines)
    return tn_cpu_host->error(TN_OUT_OF_MEMORY, "no memory for definitions");
  tn_status status = headers_write(build);
  if (!status) status = source_write(build);
  if (!status) status = compiler_call(build, defines);
  for (char **define = defines; *define; define++) free(*define);
  free(defines);
  return status;
}

/* Puts the library made into the cache. */
static tn_status store(const tn_cpu_build *build, const tn_cpu_key *key,
                       char *path)
{
  size_t size = 0;
  char *library = file_read(build->library, &size);
  if (!library)
    return tn_cpu_host->error(TN_COMPILE_FAILED, "cannot read %s: %s",
                              build->library, strerror(errno));
  tn_status status =
    tn_cpu_host->cache_store(CACHE_KIND, key->start, key->size, library, size,
                             path, PATH_MAX);
  free(library);
  return status;
}

static tn_status compile_and_store(tn_cpu_build *build,
                                   const tn_cpu_key *key, char *path)
{
  tn_status status = folder_make(build);
  if (status) return status;
  status = compile(build);
  if (!status) status = store(build, key, path);
  folder_remove(build);
  return status;
}

static tn_status load(tn_cpu_build *build, const tn_cpu_key *key,
                      void **library)
{
  char path[PATH_MAX];
  uint64_t size;
  tn_status status = tn_cpu_host->cache_find(CACHE_KIND, key->start, key->size,
                                             path, sizeof path, &size);
  if (status && status != TN_NOT_READY) return status;
  if (!status && (*library = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
    return TN_OK;
  status = compile_and_store(build, key, path);
  if (status) return status;
  if ((*library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) return TN_OK;
  return tn_cpu_host->error(TN_COMPILE_FAILED,
                            "module \"%s\" is compiled but cannot be loaded: "
                            "%s",
                            build->desc->name, dlerror());
}

tn_status tn_cpu_build_load(const tn_module_desc *desc, void **library)
{
  tn_cpu_key key;
  tn_cpu_build *build = malloc(sizeof *build);
  if (!build)
    return tn_cpu_host->error(TN_OUT_OF_MEMORY, "no memory to compile");
  build->desc = desc;
  tn_status status = tn_cpu_compiler_find(&build->compiler);
  if (!status) status = key_make(build, &key);
  if (!status) {
    status = load(build, &key, library);
    free(key.start);
  }
  free(build);
  return status;
}
