/* Each function is a round of a pattern. What only the right form does is under
 * `if (l->is_right)`; nothing else tells the forms apart. */
#include "patterns.h"

/* A stream's work takes what another stream makes. */
static bool side(lab *l)
{
  bool ok = lab_fill(l, l->one, l->x, l->value);
  if (l->is_right)
    ok = ok && tn_stream_wait_stream(l->two, l->one) == TN_OK;
  return ok && lab_add(l, l->two, l->y, l->x, l->x) &&
         tn_stream_synchronize(l->two) == TN_OK &&
         lab_expect(l, l->device, l->y, 2 * l->value) &&
         tn_stream_synchronize(l->one) == TN_OK;
}

/* The default stream takes what a side stream made: it waits for no other by
 * itself. */
static bool join(lab *l)
{
  tn_stream *standard = tn_default_stream(l->device);
  bool ok = tn_stream_wait_stream(l->two, standard) == TN_OK &&
            lab_fill(l, l->two, l->x, l->value);
  if (l->is_right)
    ok = ok && tn_stream_wait_stream(standard, l->two) == TN_OK;
  return ok && lab_add(l, standard, l->y, l->x, l->x) &&
         lab_expect(l, l->device, l->y, 2 * l->value) &&
         tn_stream_synchronize(l->two) == TN_OK;
}

/* An event means what was queued before it was recorded. */
static bool event(lab *l)
{
  tn_event *made = l->done[0];
  bool ok = true;
  if (!l->is_right) ok = tn_event_record(made, l->one) == TN_OK;
  ok = ok && lab_fill(l, l->one, l->x, l->value);
  if (l->is_right) ok = ok && tn_event_record(made, l->one) == TN_OK;
  return ok && tn_stream_wait_event(l->two, made) == TN_OK &&
         lab_add(l, l->two, l->y, l->x, l->x) &&
         tn_stream_synchronize(l->two) == TN_OK &&
         lab_expect(l, l->device, l->y, 2 * l->value) &&
         tn_stream_synchronize(l->one) == TN_OK;
}

/* What is read on one stream is written again on another. */
static bool rewrite(lab *l)
{
  bool ok = lab_fill(l, l->one, l->x, l->value) &&
            tn_stream_wait_stream(l->two, l->one) == TN_OK &&
            lab_add(l, l->two, l->y, l->x, l->x);
  if (l->is_right)
    ok = ok && tn_stream_wait_stream(l->one, l->two) == TN_OK;
  return ok && lab_fill(l, l->one, l->x, -l->value) &&
         tn_stream_synchronize(l->one) == TN_OK &&
         tn_stream_synchronize(l->two) == TN_OK &&
         lab_expect(l, l->device, l->y, 2 * l->value);
}

/* The other memory takes the place of what was given back, if it may. */
static bool give_back(lab *l, float *memory)
{
  tn_free(memory);
  float *other = NULL;
  tn_with_stream(l->one) other = tn_malloc(l->device, BYTES);
  bool ok = other && lab_fill(l, l->one, other, -l->value) &&
            tn_stream_synchronize(l->one) == TN_OK;
  tn_free(other);
  return ok;
}

/* Memory of one stream is given back while another uses it. */
static bool record(lab *l)
{
  float *memory = NULL;
  tn_with_stream(l->one) memory = tn_malloc(l->device, BYTES);
  bool ok = memory && lab_fill(l, l->one, memory, l->value) &&
            tn_stream_wait_stream(l->two, l->one) == TN_OK &&
            lab_add(l, l->two, l->y, memory, memory);
  if (l->is_right)
    ok = ok && tn_memory_record_stream(memory, l->two) == TN_OK;
  return give_back(l, memory) && ok &&
         tn_stream_synchronize(l->two) == TN_OK &&
         lab_expect(l, l->device, l->y, 2 * l->value);
}

static void host_fill(float *pinned, float value)
{
  for (int i = 0; i < COUNT; i++) pinned[i] = value;
}

/* The host writes to pinned memory that a copy is still to read. */
static bool source(lab *l)
{
  host_fill(l->in[0], l->value);
  bool ok = lab_send(l, l->one, l->x, l->in[0]) &&
            tn_event_record(l->done[0], l->one) == TN_OK;
  if (l->is_right) ok = ok && tn_event_synchronize(l->done[0]) == TN_OK;
  host_fill(l->in[0], -l->value);
  return ok && tn_stream_synchronize(l->one) == TN_OK &&
         lab_expect(l, l->device, l->x, l->value);
}

/* The host fills one of two buffers while the other is copied. */
static bool twofold(lab *l)
{
  enum { PIECES = 6 };
  float total = 0;
  bool ok = lab_fill(l, l->one, l->sum, 0);
  for (int i = 0; i < PIECES && ok; i++) {
    tn_event *done = l->done[i % 2];
    float *in = l->in[i % 2];
    if (l->is_right) ok = tn_event_synchronize(done) == TN_OK;
    host_fill(in, l->value + (float)i);
    total += l->value + (float)i;
    ok = ok && lab_send(l, l->one, l->x, in) &&
         tn_event_record(done, l->one) == TN_OK &&
         lab_add(l, l->one, l->sum, l->sum, l->x);
  }
  return ok && tn_stream_synchronize(l->one) == TN_OK &&
         lab_expect(l, l->device, l->sum, total);
}

/* The host reads what a copy is still to bring. */
static bool early(lab *l)
{
  host_fill(l->out, 0);
  bool ok = lab_fill(l, l->one, l->x, l->value) &&
            lab_fetch(l, l->one, l->out, l->x) &&
            tn_event_record(l->done[0], l->one) == TN_OK;
  if (l->is_right) ok = ok && tn_event_synchronize(l->done[0]) == TN_OK;
  lab_expect_host(l, l->out, l->value);
  return ok && tn_stream_synchronize(l->one) == TN_OK;
}

/* One device makes, another uses: a copy between devices is ordered with the
 * current streams of both, and with no other stream. */
static bool consume(lab *l, lab *other)
{
  tn_status status = TN_INVALID_ARGUMENT;
  bool ok = lab_fill(l, l->one, l->x, l->value);
  tn_with_stream(l->one)
    tn_with_stream(other->one)
      status = tn_copy(other->x, other->device, l->x, l->device, BYTES, true);
  ok = ok && status == TN_OK;
  if (l->is_right)
    ok = ok && tn_stream_wait_stream(other->two, other->one) == TN_OK;
  return ok && lab_add(other, other->two, other->y, other->x, other->x) &&
         tn_stream_synchronize(other->two) == TN_OK &&
         lab_expect(l, other->device, other->y, 2 * l->value) &&
         tn_stream_synchronize(other->one) == TN_OK &&
         tn_stream_synchronize(l->one) == TN_OK;
}

static bool devices(lab *l)
{
  static lab other;
  tn_device device = l->device;
  device.index = device.index == 0;
  return (other.one || lab_open(&other, device)) && consume(l, &other);
}

const pattern patterns[] = {
  { "side", "a stream waits for the one that makes what it takes",
    "it does not wait", side },
  { "join", "the default stream waits for a side stream's result",
    "it takes the result at once", join },
  { "event", "an event is recorded after the work that it stands for",
    "it is recorded before", event },
  { "rewrite", "a stream waits for a reader before it writes again",
    "it writes at once", rewrite },
  { "record", "record_stream tells of a use before memory is given back",
    "memory is given back while another stream uses it", record },
  { "source", "the host waits for a copy before it writes to its source",
    "it writes at once", source },
  { "double", "each of two buffers is filled when its last copy is done",
    "they are filled in turn without looking", twofold },
  { "early", "the host waits for a copy before it reads what it brings",
    "it reads at once", early },
  { "devices", "a stream of another device waits for the one that copies",
    "it takes what the copy is still to bring", devices },
};
const int pattern_count = sizeof patterns / sizeof *patterns;
