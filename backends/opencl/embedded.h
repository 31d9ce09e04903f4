/* The kernel language and the built-in kernels, as text in this plugin. */
#ifndef TN_OPENCL_EMBEDDED_H
#define TN_OPENCL_EMBEDDED_H

#include <stddef.h>

typedef struct tn_opencl_family {
  const char *name; /* "elementwise" */
  const char *text; /* needs nothing else */
  size_t size;
} tn_opencl_family;

/* Ends with a family without a name. */
extern const tn_opencl_family tn_opencl_families[];

/* What a portable source may use; the second if it asks for it, for devices
 * that have f64. */
extern const tn_opencl_family tn_opencl_language, tn_opencl_language_f64;

#endif
