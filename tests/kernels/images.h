/* The images of the built-in kernels, as the cpu plugin has them. */
#ifndef TN_TESTS_KERNELS_IMAGES_H
#define TN_TESTS_KERNELS_IMAGES_H

#include "tenon/kernel_lang.h"

/* The image of a level ("baseline", "v3", "v4"); NULL if it is not built or
 * this machine cannot run it. */
__attribute__((visibility("default"))) const tn_cpu_image *
kernel_image(const char *level);

#endif
