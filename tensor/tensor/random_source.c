#include "config.h"

#include "tensor/tensor/random_source.h"

#include <pthread.h>
#include <stdlib.h>

#include "tensor/tensor/refcount.h"

struct tn_random_source {
  tn_refs refs;
  tn_graph *graph; /* only compared; NULL once it dropped its capture */
  tn_generator *generator;
  uint64_t total;  /* blocks drawn in the capture */
  tn_random_piece now; /* of the last replay */
  tn_random_source *next;
};

/* A kernel's two arguments that say which numbers it gets. */
typedef struct source_use {
  tn_random_source *source;
  uint64_t offset; /* from where the source's blocks begin */
  size_t node, argument; /* the seed; the offset is the next one */
} source_use;

/* For all sources: graphs are few, and captured and replayed seldom. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tn_random_source *sources; /* of graphs that are there */

static tn_status out_of_memory(void)
{
  return tn_set_error(TN_OUT_OF_MEMORY, "no host memory for a graph's random "
                      "numbers");
}

static void release(tn_random_source *source)
{
  if (!source || !tn_refs_release(&source->refs)) return;
  tn_generator_release(source->generator);
  free(source);
}

/* Before each replay of the graph. */
static tn_status advance(tn_graph *graph, void *argument)
{
  tn_random_source *source = argument;
  (void)graph;
  pthread_mutex_lock(&lock);
  source->now = tn_generator_advance(source->generator, source->total);
  pthread_mutex_unlock(&lock);
  return TN_OK;
}

static void forget(void *argument)
{
  tn_random_source *source = argument;
  pthread_mutex_lock(&lock);
  tn_random_source **link = &sources;
  while (*link && *link != source) link = &(*link)->next;
  if (*link) *link = source->next;
  source->graph = NULL;
  pthread_mutex_unlock(&lock);
  release(source);
}

/* Under the lock. */
static tn_random_source *find(const tn_graph *graph,
                              const tn_generator *generator)
{
  tn_random_source *source = sources;
  while (source && (source->graph != graph ||
                    source->generator != generator))
    source = source->next;
  return source;
}

static tn_random_source *add(tn_graph *graph, tn_generator *generator)
{
  tn_random_source *source = calloc(1, sizeof *source);
  if (!source) {
    out_of_memory();
    return NULL;
  }
  tn_refs_init(&source->refs);
  source->generator = tn_generator_retain(generator);
  if (tn_graph_on_replay(graph, advance, source, forget) != TN_OK) {
    release(source);
    return NULL;
  }
  source->graph = graph;
  pthread_mutex_lock(&lock);
  source->next = sources;
  sources = source;
  pthread_mutex_unlock(&lock);
  return source;
}

tn_status tn_random_source_draw(tn_graph *graph, tn_generator *generator,
                                uint64_t blocks, tn_random_piece *piece)
{
  pthread_mutex_lock(&lock);
  tn_random_source *source = find(graph, generator);
  pthread_mutex_unlock(&lock);
  if (!source) source = add(graph, generator);
  if (!source) return tn_last_status();
  pthread_mutex_lock(&lock);
  *piece = (tn_random_piece){ .offset = source->total, .source = source };
  tn_refs_retain(&source->refs);
  source->total += blocks;
  pthread_mutex_unlock(&lock);
  return TN_OK;
}

bool tn_random_source_is_drawn(const tn_generator *generator)
{
  bool is_drawn = false;
  pthread_mutex_lock(&lock);
  for (tn_random_source *s = sources; s && !is_drawn; s = s->next)
    is_drawn = s->generator == generator &&
               tn_capturing_graph(tn_generator_device(generator)) == s->graph;
  pthread_mutex_unlock(&lock);
  return is_drawn;
}

/* ---- pieces ---- */

tn_random_piece tn_random_piece_retain(tn_random_piece piece)
{
  if (piece.source) tn_refs_retain(&piece.source->refs);
  return piece;
}

void tn_random_piece_release(tn_random_piece piece)
{
  release(piece.source);
}

tn_random_piece tn_random_piece_now(tn_random_piece piece)
{
  if (!piece.source) return piece;
  pthread_mutex_lock(&lock);
  piece.seed = piece.source->now.seed;
  piece.offset += piece.source->now.offset;
  pthread_mutex_unlock(&lock);
  return piece;
}

static tn_status set_arguments(tn_graph *graph, void *argument)
{
  const source_use *use = argument;
  tn_random_piece now = tn_random_piece_now(
      (tn_random_piece){ .offset = use->offset, .source = use->source });
  tn_arg seed = TN_ARG_I64((int64_t)now.seed);
  tn_arg offset = TN_ARG_I64((int64_t)now.offset);
  tn_status status = tn_graph_set_argument(graph, use->node, use->argument,
                                           seed);
  return status == TN_OK ? tn_graph_set_argument(graph, use->node,
                                                 use->argument + 1, offset)
                         : status;
}

static void forget_use(void *argument)
{
  source_use *use = argument;
  release(use->source);
  free(use);
}

tn_status tn_random_piece_use(tn_random_piece piece, tn_device device,
                              size_t argument)
{
  tn_graph *graph = piece.source ? tn_capturing_graph(device) : NULL;
  if (!graph) return TN_OK;
  source_use *use = malloc(sizeof *use);
  if (!use) return out_of_memory();
  *use = (source_use){ tn_random_piece_retain(piece).source, piece.offset, 0,
                       argument };
  tn_status status = tn_capturing_node(device, &use->node);
  if (status == TN_OK)
    status = tn_graph_on_replay(graph, set_arguments, use, forget_use);
  if (status != TN_OK) forget_use(use);
  return status;
}
