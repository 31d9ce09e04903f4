/* The next table, worked: launch, for the device of template.c. Portable
 * kernels are compiled by the host's C compiler, as tenon/kernel_lang.h makes
 * it, and run on the device's own memory. To use it, put
 *
 *     #include "launch.c"
 *
 * before "the backend" in NAME.c, and ".launch = &launch_table," into its api.
 * The library's own families and programs' kernels both come through here.
 * "Yours" marks the places of a device's compiler and queue. */
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/kernel_lang.h>

extern char **environ;

struct tn_backend_module {
  void *library;
  const tn_cpu_image *image; /* its kernels */
};

#define CACHE "worked" /* the ending of names in the cache of kernels */
enum { KEPT = 4096 };  /* of a path */

/* ---- from source to a library ---- */

static bool write_source(const tn_module_desc *desc, const char *path)
{
  FILE *file = fopen(path, "w");
  if (!file) return false;
  fputs("#include <tenon/kernel_lang.h>\n#line 1 \"module\"\n", file);
  fwrite(desc->data, 1, desc->size, file);
  fputs("\nTN_IMAGE\n", file);
  return fclose(file) == 0;
}

/* False if the compiler complains, which is then in `messages`. Nothing is
 * contracted or reassociated: the bits are those of every other device. */
static bool run_compiler(const tn_module_desc *desc, const char *source,
                         const char *library, const char *messages)
{
  char *words[80] = {
    "cc", "-std=c11", "-shared", "-fPIC", "-O2", "-ffp-contract=off",
    "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden",
    "-Werror=implicit-function-declaration", "-Wl,-z,defs",
    "-I" LANGUAGE_FOLDER, "-o", (char *)library, (char *)source, "-lm",
  };
  size_t count = 16;
  for (uint64_t i = 0; i < desc->define_count && count + 2 < 80; i++) {
    words[count++] = "-D";
    words[count++] = (char *)desc->defines[i];
  }
  pid_t child;
  int status = -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, messages,
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (posix_spawnp(&child, words[0], &actions, NULL, words, environ) == 0)
    waitpid(child, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  return status == 0;
}

/* The first message of the compiler becomes the error's text. */
static tn_status refuse_source(const char *messages)
{
  char line[400] = "the compiler cannot be run", next[400];
  FILE *file = fopen(messages, "r");
  while (file && fgets(next, sizeof next, file)) {
    next[strcspn(next, "\n")] = 0;
    host->log(TN_LOG_ERROR, "%s", next);
    if (strstr(next, "error:") && !strstr(line, "error:"))
      memcpy(line, next, sizeof line);
  }
  if (file) fclose(file);
  return host->error(TN_COMPILE_FAILED, "%s", line);
}

/* All that the result depends on. A real compiler's version is part of it. */
static char *make_key(const tn_module_desc *desc, size_t *size)
{
  char *key = NULL;
  FILE *file = open_memstream(&key, size);
  if (!file) return NULL;
  for (uint64_t i = 0; i < desc->define_count; i++)
    fprintf(file, "%s%c", desc->defines[i], 0);
  fwrite(desc->data, 1, desc->size, file);
  return fclose(file) == 0 ? key : NULL;
}

/* Puts the library into the cache, and gives its path there. */
static tn_status keep(const tn_module_desc *desc, const char *library,
                      char *kept)
{
  size_t key_size, size = 0;
  char *key = make_key(desc, &key_size), *bytes = NULL, piece[4096];
  FILE *in = fopen(library, "r"), *out = open_memstream(&bytes, &size);
  for (size_t n; in && out && (n = fread(piece, 1, sizeof piece, in)) > 0; )
    fwrite(piece, 1, n, out);
  if (in) fclose(in);
  bool is_read = out && fclose(out) == 0 && key && size > 0;
  tn_status status =
      is_read ? host->cache_store(CACHE, key, key_size, bytes, size, kept,
                                  KEPT)
              : host->error(TN_OUT_OF_MEMORY, "no memory for a library");
  free(bytes);
  free(key);
  return status;
}

static tn_status open_library(const char *path, tn_backend_module **out)
{
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const tn_cpu_image *const *image =
      library ? dlsym(library, "tn_cpu_image_of_module") : NULL;
  tn_backend_module *module = image ? malloc(sizeof *module) : NULL;
  if (!module)
    return host->error(TN_COMPILE_FAILED, "%s", image ? "no memory"
                                                      : dlerror());
  *module = (tn_backend_module){ library, *image };
  *out = module;
  return TN_OK;
}

/* Yours: the device's compiler. */
static tn_status compile(const tn_module_desc *desc, char *kept)
{
  char folder[] = "/tmp/tenon-XXXXXX", source[64], library[64], messages[64];
  if (!mkdtemp(folder))
    return host->error(TN_COMPILE_FAILED, "cannot make a folder in /tmp");
  snprintf(source, sizeof source, "%s/module.c", folder);
  snprintf(library, sizeof library, "%s/module.so", folder);
  snprintf(messages, sizeof messages, "%s/messages", folder);
  bool is_made = write_source(desc, source) &&
                 run_compiler(desc, source, library, messages);
  tn_status status = is_made ? keep(desc, library, kept)
                             : refuse_source(messages);
  unlink(source);
  unlink(library);
  unlink(messages);
  rmdir(folder);
  return status;
}

/* The cache is looked at first: it is of all processes. */
static tn_status find_or_compile(const tn_module_desc *desc, char *kept)
{
  uint64_t bytes;
  size_t size;
  char *key = make_key(desc, &size);
  if (!key) return host->error(TN_OUT_OF_MEMORY, "no memory for a key");
  tn_status status = host->cache_find(CACHE, key, size, kept, KEPT, &bytes);
  free(key);
  return status == TN_NOT_READY ? compile(desc, kept) : status;
}

static tn_status module_load(tn_backend_device *device,
                             const tn_module_desc *desc,
                             tn_backend_module **module)
{
  (void)device;
  if (desc->flags)
    return host->error(TN_INVALID_ARGUMENT, "module flags 0x%x: none are "
                       "known", desc->flags);
  if (desc->kind == TN_MODULE_BUILTIN && !desc->data) /* asked again with it */
    return host->error(TN_UNSUPPORTED, "no image of \"%s\"", desc->name);
  if (desc->kind != TN_MODULE_BUILTIN && desc->kind != TN_MODULE_PORTABLE)
    return host->error(TN_UNSUPPORTED, "portable source only");
  char kept[KEPT];
  tn_status status = find_or_compile(desc, kept);
  return status == TN_OK ? open_library(kept, module) : status;
}

static void module_unload(tn_backend_module *module)
{
  dlclose(module->library);
  free(module);
}

/* ---- kernels ---- */

static tn_status kernel_get(tn_backend_module *module, const char *name,
                            tn_backend_kernel **kernel)
{
  const tn_cpu_kernel *const *at = module->image->begin;
  while (at < module->image->end && strcmp((*at)->name, name) != 0) at++;
  if (at == module->image->end)
    return host->error(TN_INVALID_ARGUMENT, "no kernel \"%s\" in the module",
                       name);
  *kernel = (tn_backend_kernel *)(uintptr_t)*at;
  return TN_OK;
}

static tn_status kernel_info(tn_backend_kernel *kernel, tn_kernel_info *info)
{
  info->signature = ((const tn_cpu_kernel *)(uintptr_t)kernel)->signature;
  info->max_group_size = info->preferred_group_size = 1;
  return TN_OK;
}

/* The kernel's own bounds decide what is computed; one thread does it all.
 * Addresses of the device become those that its processor, the host, uses. */
static tn_status launch(tn_backend_stream *stream, tn_backend_kernel *kernel,
                        const tn_backend_launch_desc *desc,
                        const uint64_t *slots)
{
  const tn_cpu_kernel *code = (const tn_cpu_kernel *)(uintptr_t)kernel;
  uint64_t own[32];
  const char *sign = code->signature;
  (void)stream;
  if (desc->flags)
    return host->error(TN_INVALID_ARGUMENT, "launch flags 0x%x: none are "
                       "known", desc->flags);
  for (unsigned i = 0; (sign = strchr(sign, '(')) != NULL; i++, sign++)
    own[i] = slots[i] && strncmp(sign, "(VAL", 4) != 0
                 ? (uint64_t)(uintptr_t)at(slots[i]) : slots[i];
  code->run((tn_range){ 0, INT64_MAX }, own); /* Yours: queue it. */
  return TN_OK;
}

static const tn_backend_launch_table launch_table = {
  .struct_size = sizeof(tn_backend_launch_table),
  .module_load = module_load,
  .module_unload = module_unload,
  .kernel_get = kernel_get,
  .kernel_info = kernel_info,
  .launch = launch,
};
