#include "backends/cpu/fma.h"

#include <dlfcn.h>
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* The names that compilers give the call of an fma that is no instruction;
 * seen by this plugin's kernels alone. */
HIDDEN float fmaf(float a, float b, float c);
HIDDEN double fma(double a, double b, double c);

static float (*library_fmaf)(float, float, float);
static double (*library_fma)(double, double, double);

float fmaf(float a, float b, float c)
{
  return library_fmaf(a, b, c);
}

double fma(double a, double b, double c)
{
  return library_fma(a, b, c);
}

bool tn_cpu_fma_setup(void)
{
  union {
    void *object;
    float (*f32)(float, float, float);
    double (*f64)(double, double, double);
  } found;
  void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  if (!library) library = dlopen(NULL, RTLD_NOW); /* where it is part of libc */
  if (!library) return false;
  found.object = dlsym(library, "fmaf");
  library_fmaf = found.f32;
  found.object = dlsym(library, "fma");
  library_fma = found.f64;
  return library_fmaf && library_fma;
}
