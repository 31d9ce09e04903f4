/* Tensors of given shape, device and dtype. */
#include "config.h"

#include "tensor/ops/factory.h"

#include "tenon/autograd.h"
#include "tensor/tensor/scope.h"

tn_tensor *tn_factory_new(tn_shape shape, tn_tensor_options options,
                          const char *operation)
{
  tn_dtype dtype = options.dtype ? options.dtype : TN_F32;
  tn_place *place = tn_place_of(options.device);
  if (!place) return NULL;
  if (!options.pin_memory)
    return tn_tensor_new(place, dtype, shape, operation);
  if (place->is_cpu) return tn_tensor_new_pinned(place, dtype, shape);
  tn_set_error(TN_INVALID_ARGUMENT, "%s: pin_memory on %s: cpu memory can be "
               "pinned", operation, place->name);
  return NULL;
}

tn_tensor *tn_factory_finish(tn_tensor *t, tn_tensor_options options)
{
  if (!t) return NULL;
  if (options.requires_grad && !tn_requires_grad_(t, true)) {
    tn_release(t);
    return NULL;
  }
  return tn_scope_give(t);
}

tn_tensor *tn_empty_with(tn_shape shape, tn_tensor_options options)
{
  return tn_factory_finish(tn_factory_new(shape, options, "empty"), options);
}

/* From host memory: it is not needed once the call returns. */
tn_tensor *tn_from_data_with(const void *data, tn_shape shape,
                             tn_tensor_options options)
{
  tn_tensor *t = tn_factory_new(shape, options, "from_data");
  if (!t) return NULL;
  size_t bytes = t->storage->bytes;
  tn_status status = TN_OK;
  if (bytes && !data)
    status = tn_set_error(TN_INVALID_ARGUMENT, "from_data: the data is NULL");
  else if (bytes)
    status = tn_copy(t->storage->address, tn_tensor_place(t)->device, data,
                     (tn_device){ 0, 0 }, bytes, false);
  if (status == TN_OK) return tn_factory_finish(t, options);
  tn_release(t);
  return NULL;
}

static tn_tensor_options like_options(const tn_tensor *like,
                                      tn_tensor_options options)
{
  if (options.device.backend == 0 && options.device.index == 0)
    options.device = tn_tensor_place(like)->device;
  if (!options.dtype) options.dtype = (tn_dtype)like->dtype;
  return options;
}

#define NEW_LIKE(name, ...)                                                 \
  return like ? tn_##name##_with(__VA_ARGS__, like_options(like, options))  \
              : NULL

tn_tensor *tn_new_empty_with(const tn_tensor *like, tn_shape shape,
                             tn_tensor_options options)
{
  NEW_LIKE(empty, shape);
}

tn_tensor *tn_new_zeros_with(const tn_tensor *like, tn_shape shape,
                             tn_tensor_options options)
{
  NEW_LIKE(zeros, shape);
}

tn_tensor *tn_new_ones_with(const tn_tensor *like, tn_shape shape,
                            tn_tensor_options options)
{
  NEW_LIKE(ones, shape);
}

tn_tensor *tn_new_full_with(const tn_tensor *like, tn_shape shape,
                            double value, tn_tensor_options options)
{
  NEW_LIKE(full, shape, value);
}

tn_tensor *tn_empty_like_with(const tn_tensor *like,
                              tn_tensor_options options)
{
  NEW_LIKE(empty, tn_tensor_shape(like));
}

tn_tensor *tn_zeros_like_with(const tn_tensor *like,
                              tn_tensor_options options)
{
  NEW_LIKE(zeros, tn_tensor_shape(like));
}

tn_tensor *tn_ones_like_with(const tn_tensor *like, tn_tensor_options options)
{
  NEW_LIKE(ones, tn_tensor_shape(like));
}

tn_tensor *tn_full_like_with(const tn_tensor *like, double value,
                             tn_tensor_options options)
{
  NEW_LIKE(full, tn_tensor_shape(like), value);
}

tn_tensor *tn_rand_like_with(const tn_tensor *like, tn_tensor_options options)
{
  NEW_LIKE(rand, tn_tensor_shape(like));
}

tn_tensor *tn_randn_like_with(const tn_tensor *like,
                              tn_tensor_options options)
{
  NEW_LIKE(randn, tn_tensor_shape(like));
}
