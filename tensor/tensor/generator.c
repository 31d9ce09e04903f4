#include "config.h"

#include "tensor/tensor/generator.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "tensor/tensor/random_source.h"
#include "tensor/tensor/refcount.h"

struct tn_generator {
  tn_refs refs;
  tn_place *place;
  tn_generator *next; /* of the default ones */
  bool is_default;
  uint64_t initial, seed, offset;
};

/* For all generators: what they do under it is short. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tn_generator *defaults;
static uint64_t default_seed;

static void set_seed(tn_generator *generator, uint64_t seed)
{
  generator->initial = generator->seed = seed;
  generator->offset = 0;
}

static tn_generator *make(tn_place *place)
{
  tn_generator *generator = calloc(1, sizeof *generator);
  if (!generator) {
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for a generator");
    return NULL;
  }
  tn_refs_init(&generator->refs);
  generator->place = place;
  return generator;
}

tn_generator *tn_generator_new(tn_device device)
{
  tn_place *place = tn_place_of(device);
  tn_generator *generator = place ? make(place) : NULL;
  if (!generator) return NULL;
  pthread_mutex_lock(&lock);
  set_seed(generator, default_seed);
  pthread_mutex_unlock(&lock);
  return generator;
}

/* Under the lock. */
static tn_generator *default_of(tn_place *place)
{
  tn_generator *generator = defaults;
  while (generator && generator->place != place) generator = generator->next;
  if (generator) return generator;
  generator = make(place);
  if (!generator) return NULL;
  set_seed(generator, default_seed);
  generator->is_default = true;
  generator->next = defaults;
  return defaults = generator;
}

tn_generator *tn_generator_default(tn_device device)
{
  tn_place *place = tn_place_of(device);
  if (!place) return NULL;
  pthread_mutex_lock(&lock);
  tn_generator *generator = default_of(place);
  pthread_mutex_unlock(&lock);
  return generator;
}

void tn_manual_seed(uint64_t seed)
{
  pthread_mutex_lock(&lock);
  default_seed = seed;
  for (tn_generator *g = defaults; g; g = g->next) set_seed(g, seed);
  pthread_mutex_unlock(&lock);
}

tn_generator *tn_generator_retain(tn_generator *generator)
{
  if (generator) tn_refs_retain(&generator->refs);
  return generator;
}

/* Default ones stay: their list holds the first reference. */
void tn_generator_release(tn_generator *generator)
{
  if (!generator || generator->is_default) return;
  if (tn_refs_release(&generator->refs)) free(generator);
}

static tn_status refuse_null(void)
{
  return tn_set_error(TN_INVALID_ARGUMENT, "the generator is NULL");
}

tn_status tn_generator_seed(tn_generator *generator, uint64_t seed)
{
  if (!generator) return refuse_null();
  if (seed != tn_generator_initial_seed(generator) &&
      tn_random_source_is_drawn(generator))
    return tn_set_error(TN_CAPTURE_VIOLATION, "seed %" PRIu64 ": a capture "
                        "that goes on has drawn from the generator with "
                        "another seed", seed);
  pthread_mutex_lock(&lock);
  set_seed(generator, seed);
  pthread_mutex_unlock(&lock);
  return TN_OK;
}

uint64_t tn_generator_initial_seed(const tn_generator *generator)
{
  if (!generator) {
    refuse_null();
    return 0;
  }
  pthread_mutex_lock(&lock);
  uint64_t seed = generator->initial;
  pthread_mutex_unlock(&lock);
  return seed;
}

tn_status tn_generator_state(const tn_generator *generator, uint64_t *seed,
                             uint64_t *offset)
{
  if (!generator) return refuse_null();
  pthread_mutex_lock(&lock);
  if (seed) *seed = generator->seed;
  if (offset) *offset = generator->offset;
  pthread_mutex_unlock(&lock);
  return TN_OK;
}

tn_status tn_generator_set_state(tn_generator *generator, uint64_t seed,
                                 uint64_t offset)
{
  if (!generator) return refuse_null();
  pthread_mutex_lock(&lock);
  generator->initial = generator->seed = seed;
  generator->offset = offset;
  pthread_mutex_unlock(&lock);
  return TN_OK;
}

tn_status tn_generator_take(tn_generator *generator, tn_place *place,
                            uint64_t blocks, const char *operation,
                            tn_random_piece *piece)
{
  if (generator && generator->place != place)
    return tn_set_error(TN_DEVICE_MISMATCH, "%s: a generator of %s for a "
                        "tensor on %s", operation, generator->place->name,
                        place->name);
  pthread_mutex_lock(&lock);
  if (!generator) generator = default_of(place);
  pthread_mutex_unlock(&lock);
  if (!generator) return tn_last_status();
  tn_graph *graph = tn_capturing_graph(place->device);
  if (graph) return tn_random_source_draw(graph, generator, blocks, piece);
  *piece = tn_generator_advance(generator, blocks);
  return TN_OK;
}

tn_random_piece tn_generator_advance(tn_generator *generator, uint64_t blocks)
{
  pthread_mutex_lock(&lock);
  tn_random_piece piece = { .seed = generator->seed,
                            .offset = generator->offset };
  generator->offset += blocks;
  pthread_mutex_unlock(&lock);
  return piece;
}

tn_device tn_generator_device(const tn_generator *generator)
{
  return generator->place->device;
}
