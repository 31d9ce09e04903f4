/* The files of a new backend's project, with "@NAME@" where its name goes.
 * Generated from backends/template. */
#ifndef TN_TOOLS_PROJECT_H
#define TN_TOOLS_PROJECT_H

typedef struct tn_project_file {
  const char *name; /* may have @NAME@, too */
  const char *text;
} tn_project_file;

extern const tn_project_file tn_project_files[]; /* up to one without a name */

#endif
