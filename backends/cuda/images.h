/* The built-in kernels in this plugin. */
#ifndef TN_CUDA_IMAGES_H
#define TN_CUDA_IMAGES_H

#include <stddef.h>

typedef struct tn_cuda_image {
  const char *name;   /* the family: "elementwise" */
  const char *ptx;    /* text that ends with 0 */
  const void *fatbin; /* code for some devices, NULL: none was built in */
} tn_cuda_image;

/* All families, ending with one without a name; made by local.mk, as is the
 * text "bytes, elementwise, ...". */
extern const tn_cuda_image tn_cuda_images[];
extern const char tn_cuda_image_names[];

/* NULL for a family that is not here. */
const tn_cuda_image *tn_cuda_image_find(const char *name);

/* Takes a file in by the assembler, behind `symbol` and with a 0 at its end. */
#define TN_CUDA_TAKE(symbol, path) \
  __asm__(".pushsection .rodata\n" \
          ".balign 64\n" \
          ".globl " #symbol "\n" \
          ".hidden " #symbol "\n" \
          #symbol ":\n" \
          ".incbin \"" path "\"\n" \
          ".byte 0\n" \
          ".popsection\n"); \
  extern const char symbol[] __attribute__((visibility("hidden")));

#endif
