#include "config.h"

#include "core/device/layer_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/device/backend_name.h"
#include "tenon/device.h"

typedef struct name_list {
  char text[256];
  size_t length;
} name_list;

static void add_name(const tn_search_row *row, void *argument)
{
  name_list *list = argument;
  size_t length;
  if (!row->file) return;
  const char *name = tn_backend_name_in(row->file->path, &length);
  if (!name) return;
  name += sizeof TN_LAYER_PREFIX - 1;
  length -= sizeof TN_LAYER_PREFIX - 1;
  if (list->length + length + 3 > sizeof list->text) return;
  list->length += (size_t)snprintf(
      list->text + list->length, sizeof list->text - list->length, "%s%.*s",
      list->length ? ", " : "", (int)length, name);
}

static tn_status refuse_unknown(const char *name, int length)
{
  name_list installed = { "", 0 };
  char places[768];
  tn_search_visit_layers(add_name, &installed);
  tn_search_describe_layers(places, sizeof places);
  return tn_error(TN_INVALID_ARGUMENT, "TENON_LAYERS: unknown layer "
                  "\"%.*s\": installed %s%s; looked for in %s",
                  length < 40 ? length : 40, name,
                  installed.length ? "are " : "is none", installed.text,
                  places);
}

static tn_status begin_layer(const char *piece, size_t length,
                             tn_layer *layer)
{
  const char *colon = memchr(piece, ':', length);
  size_t name = colon ? (size_t)(colon - piece) : length;
  if (!tn_backend_name_is_legal(piece, name) ||
      !tn_search_find_layer(piece, name, &layer->file))
    return refuse_unknown(piece, (int)name);
  size_t rest = colon ? length - name - 1 : 0;
  if (rest >= sizeof layer->options)
    return tn_error(TN_INVALID_ARGUMENT, "TENON_LAYERS: layer \"%.*s\" has "
                    "an option of %zu bytes: at most %zu are accepted",
                    (int)name, piece, rest, sizeof layer->options - 1);
  memcpy(layer->name, piece, name);
  layer->name[name] = 0;
  if (rest) memcpy(layer->options, colon + 1, rest);
  layer->options[rest] = 0;
  return TN_OK;
}

static tn_status add_option(const char *piece, size_t length,
                            tn_layer *layer)
{
  size_t used = strlen(layer->options);
  if (used + length + 2 > sizeof layer->options)
    return tn_error(TN_INVALID_ARGUMENT, "TENON_LAYERS: the options of layer "
                    "\"%s\" have over %zu bytes", layer->name,
                    sizeof layer->options - 1);
  if (used) layer->options[used++] = ',';
  memcpy(layer->options + used, piece, length);
  layer->options[used + length] = 0;
  return TN_OK;
}

static bool is_option(const char *piece, size_t length)
{
  size_t at = strcspn(piece, ":=");
  return at < length && piece[at] == '=';
}

static tn_status read_piece(const char *piece, size_t length,
                            tn_layer *layers, int *count)
{
  if (!length)
    return tn_error(TN_INVALID_ARGUMENT, "TENON_LAYERS: an empty name; "
                    "NAME:OPTION=VALUE,...,NAME2,... is accepted");
  if (!is_option(piece, length))
    return begin_layer(piece, length, layers + (*count)++);
  if (*count) return add_option(piece, length, layers + *count - 1);
  return tn_error(TN_INVALID_ARGUMENT, "TENON_LAYERS: the option \"%.*s\" "
                  "comes before any layer's name",
                  (int)(length < 40 ? length : 40), piece);
}

static size_t count_pieces(const char *text)
{
  size_t count = 1;
  for (; *text; text++) count += *text == ',';
  return count;
}

tn_status tn_layers_read(const char *text, tn_layer **out, int *count)
{
  enum { LAYERS_MAX = 16 };
  *count = 0;
  *out = NULL;
  size_t pieces = count_pieces(text);
  if (pieces > 8 * LAYERS_MAX)
    return tn_error(TN_INVALID_ARGUMENT, "TENON_LAYERS has %zu pieces: at "
                    "most %d are accepted", pieces, 8 * LAYERS_MAX);
  tn_layer *layers = calloc(pieces, sizeof *layers);
  if (!layers)
    return tn_error(TN_OUT_OF_MEMORY, "no memory for the list of layers");
  tn_status status = TN_OK;
  for (const char *piece = text; status == TN_OK;) {
    size_t length = strcspn(piece, ",");
    status = read_piece(piece, length, layers, count);
    if (!piece[length]) break;
    piece += length + 1;
  }
  if (status == TN_OK) *out = layers;
  else free(layers);
  return status;
}

tn_status tn_layer_visit(void (*visit)(const tn_layer_info *layer,
                                       void *argument),
                         void *argument)
{
  if (!visit)
    return tn_error(TN_INVALID_ARGUMENT, "tn_layer_visit: visit is NULL");
  const char *text = tn_environment("TENON_LAYERS");
  tn_layer *layers;
  int count;
  if (!text || !*text) return TN_OK;
  tn_status status = tn_layers_read(text, &layers, &count);
  for (int i = 0; status == TN_OK && i < count; i++)
    visit(&(tn_layer_info){ layers[i].name, layers[i].options,
                            layers[i].file.path }, argument);
  free(layers);
  return status;
}
