/* Statistics of a file, computed on whatever device is named: how often each
 * byte and each pair of neighbours occurs, the entropy of both, and a hash of
 * the content. The output is the same on every device.
 *
 * The file is read in pieces. Two pieces are on their way at any time, each
 * with a pinned buffer and a stream of its own, so that reading, copying and
 * counting overlap.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <tenon/tenon.h>

enum {
  PIECE = 4 << 20, /* bytes */
  BYTES = 256,
  PAIRS = 65536,
  GROUPS_MAX = 64, /* more tables of pairs would not pay */
  FREQUENT = 20
};

/* One line on stderr; returns false for the callers to pass on. */
__attribute__((format(printf, 1, 2))) static bool
complain(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fputs("textstats: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return false;
}

/* ------------------------------------------------------------------------
 * On the device
 * --------------------------------------------------------------------- */

/* What a piece passes through. */
typedef struct lane {
  tn_stream *stream;
  tn_event *done; /* the last piece is counted, its buffer free */
  unsigned char *host;
  tn_block *piece, *byte_part, *pair_part, *hash_part;
} lane;

typedef struct counter {
  tn_device device;
  int64_t groups; /* that share the counting of a piece */
  tn_module *bytes, *reduce;
  tn_kernel *count_bytes, *count_pairs, *add_counts, *count_hash, *add_hash;
  tn_kernel *entropy_terms, *sum;
  tn_block *byte_total, *pair_total, *hash_total;
  tn_block *terms, *sums, *entropy;
  lane lanes[2];
  uint64_t size; /* bytes counted so far */
  int32_t last;  /* the last of them, -1 at first */
} counter;

/* What was counted. */
typedef struct statistics {
  uint64_t size, hash;
  uint64_t bytes[BYTES], pairs[PAIRS];
  float byte_entropy, pair_entropy; /* bits */
} statistics;

static tn_arg pointer(const tn_block *block)
{
  return (tn_arg)TN_ARG_PTR(tn_block_address(block));
}

static bool find_kernels(counter *c)
{
  c->bytes = tn_module_builtin(c->device, "bytes");
  c->reduce = c->bytes ? tn_module_builtin(c->device, "reduce") : NULL;
  if (!c->reduce) return false;
  return (c->count_bytes = tn_kernel_get(c->bytes, "bytes_count")) &&
         (c->count_pairs = tn_kernel_get(c->bytes, "pairs_count")) &&
         (c->add_counts = tn_kernel_get(c->bytes, "counts_add")) &&
         (c->count_hash = tn_kernel_get(c->bytes, "hash_count")) &&
         (c->add_hash = tn_kernel_get(c->bytes, "hash_add")) &&
         (c->entropy_terms = tn_kernel_get(c->bytes, "entropy_terms")) &&
         (c->sum = tn_kernel_get(c->reduce, "sum_f32"));
}

/* Memory belongs to the stream on which it was allocated. */
static bool make_lane(counter *c, lane *l)
{
  size_t groups = (size_t)c->groups;
  if (!(l->stream = tn_stream_new(c->device, 0)) ||
      !(l->done = tn_event_new(0)) || !(l->host = tn_malloc_pinned(PIECE)))
    return false;
  tn_with_stream(l->stream) {
    l->piece = tn_block_new(c->device, PIECE);
    l->byte_part = tn_block_new(c->device, groups * BYTES * sizeof(uint32_t));
    l->pair_part = tn_block_new(c->device, groups * PAIRS * sizeof(uint32_t));
    l->hash_part = tn_block_new(c->device, groups * sizeof(uint64_t));
  }
  return l->piece && l->byte_part && l->pair_part && l->hash_part;
}

static tn_block *make_zeros(tn_device device, size_t bytes)
{
  tn_block *block = tn_block_new(device, bytes);
  if (block &&
      tn_fill_bytes(tn_block_address(block), device, 0, bytes) != TN_OK) {
    tn_block_release(block);
    return NULL;
  }
  return block;
}

static bool make_totals(counter *c)
{
  tn_with_stream(c->lanes[0].stream) {
    c->byte_total = make_zeros(c->device, BYTES * sizeof(uint64_t));
    c->pair_total = make_zeros(c->device, PAIRS * sizeof(uint64_t));
    c->hash_total = make_zeros(c->device, sizeof(uint64_t));
    c->terms = tn_block_new(c->device, PAIRS * sizeof(float));
    c->sums = tn_block_new(c->device, PAIRS / 4096 * sizeof(float));
    c->entropy = tn_block_new(c->device, sizeof(float));
  }
  return c->byte_total && c->pair_total && c->hash_total && c->terms &&
         c->sums && c->entropy &&
         tn_stream_wait_stream(c->lanes[1].stream, c->lanes[0].stream) ==
             TN_OK;
}

static bool counter_open(counter *c, tn_device device)
{
  *c = (counter){ .device = device, .last = -1 };
  tn_device_info info;
  if (tn_set_default_device(device) != TN_OK || /* for pinned memory */
      tn_device_get_info(device, &info) != TN_OK)
    return false;
  c->groups = info.compute_units < 1            ? 1
              : info.compute_units > GROUPS_MAX ? GROUPS_MAX
                                                : info.compute_units;
  return find_kernels(c) && make_lane(c, &c->lanes[0]) &&
         make_lane(c, &c->lanes[1]) && make_totals(c);
}

static void lane_close(lane *l)
{
  tn_block_release(l->piece);
  tn_block_release(l->byte_part);
  tn_block_release(l->pair_part);
  tn_block_release(l->hash_part);
  tn_free(l->host);
  tn_event_release(l->done);
  tn_stream_release(l->stream);
}

static void counter_close(counter *c)
{
  tn_kernel *kernels[] = { c->count_bytes, c->count_pairs, c->add_counts,
                           c->count_hash, c->add_hash, c->entropy_terms,
                           c->sum };
  tn_block *blocks[] = { c->byte_total, c->pair_total, c->hash_total,
                         c->terms, c->sums, c->entropy };
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    tn_kernel_release(kernels[i]);
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    tn_block_release(blocks[i]);
  lane_close(&c->lanes[0]);
  lane_close(&c->lanes[1]);
  tn_module_release(c->bytes);
  tn_module_release(c->reduce);
}

/* Queues the counting of `n` bytes in the lane's device buffer. */
static bool queue_counting(counter *c, lane *l, int64_t n)
{
  tn_arg piece = pointer(l->piece), size = TN_ARG_I64(n);
  tn_arg groups = TN_ARG_I64(c->groups);
  tn_arg byte_part = pointer(l->byte_part), pair_part = pointer(l->pair_part);
  tn_arg hash_part = pointer(l->hash_part);
  return tn_launch_groups(c->count_bytes, c->groups,
                          TN_ARGS(byte_part, piece, size, groups)) == TN_OK &&
         tn_launch_groups(c->count_pairs, c->groups,
                          TN_ARGS(pair_part, piece, size,
                                  TN_ARG_I32(c->last), groups)) == TN_OK &&
         tn_launch_groups(c->count_hash, c->groups,
                          TN_ARGS(hash_part, piece, size,
                                  TN_ARG_I64((int64_t)c->size), groups)) ==
             TN_OK;
}

static bool queue_adding(counter *c, lane *l)
{
  tn_arg groups = TN_ARG_I64(c->groups);
  return tn_launch(c->add_counts, BYTES,
                   TN_ARGS(pointer(c->byte_total), pointer(l->byte_part),
                           TN_ARG_I64(BYTES), groups)) == TN_OK &&
         tn_launch(c->add_counts, PAIRS,
                   TN_ARGS(pointer(c->pair_total), pointer(l->pair_part),
                           TN_ARG_I64(PAIRS), groups)) == TN_OK &&
         tn_launch(c->add_hash, 1,
                   TN_ARGS(pointer(c->hash_total), pointer(l->hash_part),
                           groups)) == TN_OK;
}

/* Queues all work on the piece in the lane's host buffer. Only the adding
 * waits for the piece before, which is in the other lane. */
static bool queue_piece(counter *c, lane *l, const lane *other, size_t n)
{
  bool queued = false;
  tn_with_stream(l->stream)
    queued = tn_copy(tn_block_address(l->piece), c->device, l->host,
                     (tn_device){ 0 }, n, true) == TN_OK &&
             queue_counting(c, l, (int64_t)n) &&
             tn_stream_wait_event(l->stream, other->done) == TN_OK &&
             queue_adding(c, l) &&
             tn_event_record(l->done, l->stream) == TN_OK;
  c->last = l->host[n - 1];
  c->size += n;
  return queued;
}

/* -sum of p log2 p over the counts: sums of 4096 terms each, then of those. */
static bool find_entropy(counter *c, const tn_block *counts, int64_t bins,
                         uint64_t total, float *entropy)
{
  int64_t blocks = (bins + 4095) / 4096;
  tn_arg one = TN_ARG_I64(1), none = TN_ARG_I64(0);
  bool queued =
      tn_launch(c->entropy_terms, bins,
                TN_ARGS(pointer(c->terms), pointer(counts), TN_ARG_I64(bins),
                        TN_ARG_I64((int64_t)total))) == TN_OK &&
      tn_launch_groups(c->sum, blocks,
                       TN_ARGS(pointer(c->sums), pointer(c->terms), one,
                               TN_ARG_I64(bins), none,
                               TN_ARG_I64(blocks))) == TN_OK &&
      tn_launch_groups(c->sum, 1,
                       TN_ARGS(pointer(c->entropy), pointer(c->sums), one,
                               TN_ARG_I64(blocks), none, one)) == TN_OK;
  return queued && tn_copy(entropy, (tn_device){ 0 },
                           tn_block_address(c->entropy), c->device,
                           sizeof *entropy, false) == TN_OK;
}

static bool fetch(const counter *c, void *to, const tn_block *from)
{
  return tn_copy(to, (tn_device){ 0 }, tn_block_address(from), c->device,
                 tn_block_size(from), false) == TN_OK;
}

/* Waits for all pieces and reads the results. */
static bool counter_finish(counter *c, statistics *s)
{
  if (tn_synchronize(c->device) != TN_OK) return false;
  s->size = c->size;
  return fetch(c, s->bytes, c->byte_total) &&
         fetch(c, s->pairs, c->pair_total) &&
         fetch(c, &s->hash, c->hash_total) &&
         find_entropy(c, c->byte_total, BYTES, c->size, &s->byte_entropy) &&
         find_entropy(c, c->pair_total, PAIRS, c->size - 1,
                      &s->pair_entropy);
}

/* ------------------------------------------------------------------------
 * The file
 * --------------------------------------------------------------------- */

typedef struct source {
  const char *name;
  int file;
  uint64_t size; /* 0: not known, as of a pipe */
  double start, shown; /* when reading began and progress was last shown */
} source;

static double seconds_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool source_open(source *s, const char *name)
{
  *s = (source){ .name = name, .file = STDIN_FILENO };
  if (strcmp(name, "-") != 0) s->file = open(name, O_RDONLY | O_CLOEXEC);
  else s->name = "standard input";
  struct stat facts;
  if (s->file < 0 || fstat(s->file, &facts) != 0)
    return complain("%s: %s", s->name, strerror(errno));
  if (S_ISREG(facts.st_mode)) s->size = (uint64_t)facts.st_size;
  s->start = s->shown = seconds_now();
  return true;
}

/* A whole piece, or less at the end of the file; -1 after a complaint. */
static ssize_t source_read(const source *s, unsigned char *piece)
{
  ssize_t size = 0;
  while (size < PIECE) {
    ssize_t got = read(s->file, piece + size, (size_t)(PIECE - size));
    if (got == 0) break;
    if (got > 0) size += got;
    else if (errno != EINTR) {
      complain("%s: %s", s->name, strerror(errno));
      return -1;
    }
  }
  return size;
}

/* A line that overwrites itself, on a terminal, for work of some length. */
static void show_progress(source *s, uint64_t done, bool last)
{
  double now = seconds_now();
  bool shown = s->shown > s->start;
  if (!isatty(STDERR_FILENO) || (last ? !shown : now - s->start < 2)) return;
  if (!last && shown && now - s->shown < 0.2) return;
  s->shown = now;
  if (last) fputs("\r\033[K", stderr);
  else if (done < s->size)
    fprintf(stderr, "\r\033[Ktextstats: %.0f %% of %.1f MiB, %.0f MiB/s",
            100.0 * (double)done / (double)s->size,
            (double)s->size / 1048576,
            (double)done / 1048576 / (now - s->start));
  else
    fprintf(stderr, "\r\033[Ktextstats: %.1f MiB, %.0f MiB/s",
            (double)done / 1048576,
            (double)done / 1048576 / (now - s->start));
}

static bool refuse_device(void)
{
  return complain("%s", tn_error_message());
}

/* Reads and queues every piece, in turn through the two lanes. */
static bool count_pieces(source *from, counter *c)
{
  for (int turn = 0;; turn = !turn) {
    lane *l = &c->lanes[turn];
    if (tn_event_synchronize(l->done) != TN_OK) return refuse_device();
    ssize_t size = source_read(from, l->host);
    if (size < 0) return false;
    if (size == 0) break;
    if (!queue_piece(c, l, &c->lanes[!turn], (size_t)size))
      return refuse_device();
    show_progress(from, c->size, false);
    if (size < PIECE) break;
  }
  return c->size > 0 || complain("%s: is empty", from->name);
}

static bool count_file(source *from, tn_device device, statistics *s)
{
  counter c;
  bool done = counter_open(&c, device) || refuse_device();
  done = done && count_pieces(from, &c);
  done = done && (counter_finish(&c, s) || refuse_device());
  show_progress(from, c.size, true);
  counter_close(&c);
  return done;
}

/* ------------------------------------------------------------------------
 * The report
 * --------------------------------------------------------------------- */

static int distinct(const uint64_t *counts, int bins)
{
  int found = 0;
  for (int i = 0; i < bins; i++) found += counts[i] != 0;
  return found;
}

static void print_byte(int byte)
{
  if (byte > ' ' && byte < 0x7f) printf("   %c", byte);
  else printf("\\x%02x", (unsigned)byte);
}

static void print_count(uint64_t count, uint64_t total)
{
  printf("  %14" PRIu64 "  %8.4f %%\n", count,
         100.0 * (double)count / (double)total);
}

/* The most frequent first; among equals, the lower value. */
static void print_frequent_pairs(const statistics *s)
{
  static bool printed[PAIRS];
  int wanted = distinct(s->pairs, PAIRS);
  if (wanted > FREQUENT) wanted = FREQUENT;
  printf("\nthe %d most frequent pairs\n", wanted);
  for (int rank = 0; rank < wanted; rank++) {
    int best = -1;
    for (int i = 0; i < PAIRS; i++)
      if (!printed[i] && (best < 0 || s->pairs[i] > s->pairs[best])) best = i;
    printed[best] = true;
    print_byte(best / BYTES);
    putchar(' ');
    print_byte(best % BYTES);
    print_count(s->pairs[best], s->size - 1);
  }
}

static void print_statistics(const statistics *s)
{
  printf("size            %" PRIu64 " bytes\n", s->size);
  printf("hash            %016" PRIx64 "\n", s->hash);
  printf("distinct bytes  %d\n", distinct(s->bytes, BYTES));
  printf("distinct pairs  %d\n", distinct(s->pairs, PAIRS));
  printf("byte entropy    %.4f bits\n", (double)s->byte_entropy);
  printf("pair entropy    %.4f bits\n", (double)s->pair_entropy);
  if (s->size > 1) print_frequent_pairs(s);
  printf("\nbytes\n");
  for (int i = 0; i < BYTES; i++) {
    if (!s->bytes[i]) continue;
    print_byte(i);
    print_count(s->bytes[i], s->size);
  }
}

/* ------------------------------------------------------------------------
 * The command line
 * --------------------------------------------------------------------- */

typedef struct options {
  const char *file, *device; /* NULL: not given */
  bool help;
} options;

static bool read_options(char **arguments, options *o)
{
  *o = (options){ 0 };
  for (char **a = arguments + 1; *a; a++) {
    if (strcmp(*a, "--help") == 0) o->help = true;
    else if (strcmp(*a, "--device") == 0) {
      if (!a[1]) return complain("--device needs a device string");
      o->device = *++a;
    } else if (a[0][0] == '-' && a[0][1])
      return complain("unknown option \"%s\": options are --device, --help",
                      *a);
    else if (o->file) return complain("one file at a time, not \"%s\"", *a);
    else o->file = *a;
  }
  return o->file || o->help ||
         complain("a file is needed (- for standard input), or --help");
}

static bool choose_device(const char *text, tn_device *device)
{
  if (text) return tn_device_parse(text, device) == TN_OK;
  *device = tn_default_device();
  return !tn_device_equal(*device, (tn_device){ -1, -1 });
}

static bool flush_output(void)
{
  return (fflush(stdout) == 0 && !ferror(stdout)) ||
         complain("cannot write to standard output");
}

int main(int argc, char **argv)
{
  (void)argc;
  options o;
  if (!read_options(argv, &o)) return 2;
  if (o.help) {
    puts("Usage: textstats FILE [--device STRING]\n"
         "Prints statistics of a file's bytes, computed on a device: cpu,\n"
         "opencl:0 and so on (see tenon devices). FILE - is standard input.\n"
         "Without --device: TENON_DEVICE, or else cpu.\n"
         "Exit status: 0, 1 if something failed, 2 for a wrong command line.");
    return !flush_output();
  }
  tn_device device;
  if (!choose_device(o.device, &device)) return refuse_device(), 1;
  source from;
  if (!source_open(&from, o.file)) return 1;
  static statistics s;
  if (!count_file(&from, device, &s)) return 1;
  print_statistics(&s);
  return !flush_output();
}
