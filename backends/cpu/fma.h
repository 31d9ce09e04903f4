/* fma for baseline kernels, whose processor may have no such instruction: they
 * call the C library's. Its libm is opened only when they are used, since that
 * alone takes longer than the rest of loading this plugin. */
#ifndef TN_BACKENDS_CPU_FMA_H
#define TN_BACKENDS_CPU_FMA_H

#include <stdbool.h>

/* Finds the library's functions; before any baseline kernel runs. False if
 * there are none. */
bool tn_cpu_fma_setup(void);

#endif
