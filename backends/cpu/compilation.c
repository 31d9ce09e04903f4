#include "backends/cpu/compilation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/cpu/host.h"
#include "backends/cpu/language_text.h"
#include "backends/cpu/level.h"
#include "backends/cpu/settings.h"

/* Understood by gcc and clang alike. The same bits come out as of the
 * built-in kernels: see TN_KERNEL_CFLAGS in m4/tn_cpu_levels.m4. */
static const char *const flags[] = {
  "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden",
  "-Werror=implicit-function-declaration", "-Wl,-z,defs", "-O3",
  "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
};

#define FLAGS (sizeof flags / sizeof *flags)

void tn_cpu_compilation_describe(const tn_cpu_compilation *unit, FILE *out)
{
  const tn_module_desc *desc = unit->desc;
  size_t count;
  tn_cpu_level level = tn_cpu_settings_get()->level;
  const char *const *words = tn_cpu_level_flags(level, &count);
  fprintf(out, "level %s\ncompiler %s %s\nflags", tn_cpu_level_name(level),
          unit->compiler.path, unit->compiler.identity);
  for (size_t i = 0; i < FLAGS; i++) fprintf(out, " %s", flags[i]);
  for (size_t i = 0; i < count; i++) fprintf(out, " %s", words[i]);
  for (uint64_t i = 0; i < desc->define_count; i++)
    fprintf(out, "%c-D%s", 0, desc->defines[i]);
  fprintf(out, "%csource\n", 0);
  fwrite(desc->data, 1, desc->size, out);
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

static tn_status source_write(const tn_cpu_compilation *unit)
{
  const tn_module_desc *desc = unit->desc;
  FILE *file = fopen(unit->source, "we");
  if (!file) return file_problem(unit->source);
  fputs("#include <tenon/kernel_lang.h>", file);
  line_mark(file, desc->name);
  fwrite(desc->data, 1, desc->size, file);
  line_mark(file, "the end of the module");
  fputs("TN_IMAGE\n", file);
  bool failed = ferror(file);
  if (fclose(file) || failed) return file_problem(unit->source);
  return TN_OK;
}

static const struct {
  const char *name, *content;
} headers[] = {
  { "tenon/kernel_lang.h", tn_cpu_kernel_lang_text },
  { "tenon/kernel_math.h", tn_cpu_kernel_math_text },
  { "tenon/kernel_math_f64.h", tn_cpu_kernel_math_f64_text },
};

#define HEADERS (sizeof headers / sizeof *headers)

static tn_status headers_write(const tn_cpu_compilation *unit)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/tenon", unit->folder);
  if (mkdir(path, 0700) != 0) return file_problem(path);
  tn_status status = TN_OK;
  for (size_t i = 0; i < HEADERS && !status; i++) {
    snprintf(path, sizeof path, "%s/%s", unit->folder, headers[i].name);
    status = file_write(path, headers[i].content);
  }
  return status;
}

static tn_status folder_make(tn_cpu_compilation *unit)
{
  const char *place = tn_cpu_host->environment("TMPDIR");
  if (!place || *place != '/') place = "/tmp";
  int length = snprintf(unit->folder, sizeof unit->folder, "%s/tenon-XXXXXX",
                        place);
  bool is_long = length >= (int)sizeof unit->folder;
  if (is_long || !mkdtemp(unit->folder)) {
    unit->folder[0] = 0;
    return tn_cpu_host->error(TN_COMPILE_FAILED,
                              "cannot make a folder in %s: %s", place,
                              is_long ? "its name is too long"
                                      : strerror(errno));
  }
  snprintf(unit->source, PATH_MAX, "%s/module.c", unit->folder);
  snprintf(unit->library, PATH_MAX, "%s/module.so", unit->folder);
  snprintf(unit->messages, PATH_MAX, "%s/messages", unit->folder);
  return TN_OK;
}

void tn_cpu_compilation_clean(const tn_cpu_compilation *unit)
{
  char path[PATH_MAX];
  if (!unit->folder[0]) return;
  unlink(unit->source);
  unlink(unit->library);
  unlink(unit->messages);
  for (size_t i = 0; i < HEADERS; i++) {
    snprintf(path, sizeof path, "%s/%s", unit->folder, headers[i].name);
    unlink(path);
  }
  snprintf(path, sizeof path, "%s/tenon", unit->folder);
  rmdir(path);
  rmdir(unit->folder);
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
  if (content && ferror(file)) {
    free(content);
    content = NULL;
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

static tn_status outcome_check(const tn_cpu_compilation *unit,
                               int outcome)
{
  size_t size = 0;
  struct stat facts;
  bool is_made = stat(unit->library, &facts) == 0 && facts.st_size > 0;
  bool failed = outcome > 0 || !is_made;
  char *text = file_read(unit->messages, &size);
  const char *message =
    text ? messages_log(text, failed ? TN_LOG_ERROR : TN_LOG_WARNING) : NULL;
  tn_status status = TN_OK;
  if (failed && message)
    status = tn_cpu_host->error(TN_COMPILE_FAILED,
                                "module \"%s\" does not compile: %s",
                                unit->desc->name, message);
  else if (failed)
    status = tn_cpu_host->error(
      TN_COMPILE_FAILED, "module \"%s\": %s says nothing and ends with %s %d",
      unit->desc->name, unit->compiler.path,
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

static tn_status compiler_call(const tn_cpu_compilation *unit,
                               char **defines)
{
  size_t count, at = 0, defined = unit->desc->define_count;
  const char *const *words =
    tn_cpu_level_flags(tn_cpu_settings_get()->level, &count);
  size_t most = FLAGS + count + defined + 9;
  char **arguments = calloc(most, sizeof *arguments);
  if (!arguments)
    return tn_cpu_host->error(TN_OUT_OF_MEMORY, "no memory to run %s",
                              unit->compiler.path);
  arguments[at++] = argument(unit->compiler.path);
  for (size_t i = 0; i < FLAGS; i++) arguments[at++] = argument(flags[i]);
  for (size_t i = 0; i < count; i++) arguments[at++] = argument(words[i]);
  for (size_t i = 0; i < defined; i++) arguments[at++] = defines[i];
  arguments[at++] = argument("-I");
  arguments[at++] = argument(unit->folder);
  arguments[at++] = argument("-o");
  arguments[at++] = argument(unit->library);
  arguments[at++] = argument(unit->source);
  arguments[at++] = argument("-Wl,--as-needed");
  arguments[at++] = argument("-lm");
  int outcome;
  tn_status status = tn_cpu_compiler_run(&unit->compiler, arguments,
                                         unit->messages, &outcome);
  free(arguments);
  return status ? status : outcome_check(unit, outcome);
}

tn_status tn_cpu_compilation_run(tn_cpu_compilation *unit)
{
  tn_status status = folder_make(unit);
  if (status) return status;
  char **defines = defines_make(unit->desc);
  if (!defines)
    return tn_cpu_host->error(TN_OUT_OF_MEMORY, "no memory for definitions");
  status = headers_write(unit);
  if (!status) status = source_write(unit);
  if (!status) status = compiler_call(unit, defines);
  for (char **define = defines; *define; define++) free(*define);
  free(defines);
  return status;
}

void *tn_cpu_compilation_read(const tn_cpu_compilation *unit, size_t *size)
{
  void *library = file_read(unit->library, size);
  if (!library)
    tn_cpu_host->error(TN_COMPILE_FAILED, "cannot read %s: %s", unit->library,
                       strerror(errno));
  return library;
}
