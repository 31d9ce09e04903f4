#include "config.h"

#include "backends/cuda/images.h"

#include <string.h>

const tn_cuda_image *tn_cuda_image_find(const char *name)
{
  const tn_cuda_image *image = tn_cuda_images;
  while (image->name && strcmp(image->name, name) != 0) image++;
  return image->name ? image : NULL;
}
