/* tenon new-backend: a project of one's own to begin with. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tenon/backend.h"
#include "tools/command.h"
#include "tools/project.h"

/* As the library says: see tenon/backend.h. */
static bool is_name(const char *name)
{
  size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
  return length > 0 && length < TN_BACKEND_NAME_SIZE && !name[length];
}

/* Those of the library's own plugins, and what device strings mean else. */
static bool is_taken(const char *name)
{
  static const char *const taken[] = { "auto", "none", "invalid", "cpu",
                                       "cuda", "opencl" };
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
    if (strcmp(taken[i], name) == 0) return true;
  return false;
}

static bool check_name(const char *name)
{
  if (!is_name(name))
    tn_complain("new-backend: \"%s\": a name is lower-case letters and "
                "underscores, at most %d", name, TN_BACKEND_NAME_SIZE - 1);
  else if (is_taken(name))
    tn_complain("new-backend: \"%s\": the name is taken: auto, none, invalid, "
                "cpu, cuda and opencl are", name);
  else
    return true;
  return false;
}

/* Writes a text with the name put in. */
static void put(const char *text, const char *name, FILE *file)
{
  static const char mark[] = "@NAME@";
  for (const char *at; (at = strstr(text, mark)); ) {
    fwrite(text, 1, (size_t)(at - text), file);
    fputs(name, file);
    text = at + sizeof mark - 1;
  }
  fputs(text, file);
}

/* FOLDER/FILE with the name put in; false if it is too long. */
static bool make_path(const char *folder, const tn_project_file *project,
                      const char *name, char *path, size_t size)
{
  FILE *out = fmemopen(path, size, "w");
  if (!out) return false;
  fprintf(out, "%s/", folder);
  put(project->name, name, out);
  fputc(0, out);
  bool is_whole = !ferror(out);
  return fclose(out) == 0 && is_whole;
}

static bool is_script(const char *path)
{
  size_t length = strlen(path);
  return length > 3 && strcmp(path + length - 3, ".sh") == 0;
}

/* False after a complaint. */
static bool write_file(const char *path, const char *text, const char *name)
{
  FILE *file = fopen(path, "wx");
  bool is_written = false;
  if (file) {
    put(text, name, file);
    is_written = !ferror(file);
    if (is_script(path) && fchmod(fileno(file), 0755) != 0)
      is_written = false;
    if (fclose(file) != 0) is_written = false;
  }
  if (!is_written)
    tn_complain("new-backend: %s: %s", path, strerror(errno));
  return is_written;
}

/* Undoes a project that could not be written to its end. */
static void remove_files(const char *folder, const char *name)
{
  char path[PATH_MAX];
  for (const tn_project_file *p = tn_project_files; p->name; p++)
    if (make_path(folder, p, name, path, sizeof path)) unlink(path);
  rmdir(folder);
}

static bool write_files(const char *folder, const char *name)
{
  char path[PATH_MAX];
  for (const tn_project_file *p = tn_project_files; p->name; p++) {
    if (make_path(folder, p, name, path, sizeof path)) {
      if (write_file(path, p->text, name)) continue;
    } else {
      tn_complain("new-backend: %s: the path is too long", folder);
    }
    remove_files(folder, name);
    return false;
  }
  return true;
}

static tn_exit run(const char *const *values)
{
  const char *name = values[TN_OPTIONS_MAX];
  const char *folder = values[TN_OPTIONS_MAX + 1];
  char own[TN_BACKEND_NAME_SIZE + 8];
  if (!check_name(name)) return TN_EXIT_USAGE;
  snprintf(own, sizeof own, "tenon-%.*s", TN_BACKEND_NAME_SIZE, name);
  if (!folder) folder = own;
  if (mkdir(folder, 0777) != 0) {
    tn_complain("new-backend: %s: %s", folder, strerror(errno));
    return TN_EXIT_FOUND;
  }
  if (!write_files(folder, name)) return TN_EXIT_FOUND;
  printf("%s is a backend that holds and copies memory. Next:\n\n"
         "    cd %s\n"
         "    autoreconf --install && ./configure && make check\n\n"
         "Its README.md tells more.\n", folder, folder);
  return TN_EXIT_OK;
}

const tn_command tn_new_backend_command = {
  .name = "new-backend",
  .summary = "write a project for a backend of your own",
  .text = "Writes a project that builds, installs and tries a plugin\n"
          "tenon-NAME.so outside of Tenon's sources: configure.ac,\n"
          "Makefile.am, NAME.c with the tables that every backend has, its\n"
          "conformance test and a README.md. The folder is made, and must\n"
          "not be there: DIR, or tenon-NAME.",
  .operand = "NAME",
  .second = "DIR",
  .run = run,
};
