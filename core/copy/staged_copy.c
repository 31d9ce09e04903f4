/* Copies between devices that do not reach each other, through pinned host
 * memory. */
#include "config.h"

#include "core/copy/copy_job.h"
#include "core/memory/pinned.h"

/* Bytes of one piece, and pieces on their way at once: enough for both copies
 * of a piece to run beside those of others. */
#define PIECE ((uint64_t)4 << 20)
enum { ON_THE_WAY = 4 };

typedef struct relay {
  const tn_copy_job *job;
  tn_moment *moments[ON_THE_WAY]; /* of the last piece's arrival; a ring */
  unsigned next;
} relay;

/* Where the next piece begins: whole rows if they fit, parts of one if not. */
typedef struct cursor {
  uint64_t plane, row, column;
} cursor;

static bool next_piece(const tn_copy_shape *s, cursor *at, tn_copy_shape *piece,
                       uint64_t *dst_offset, uint64_t *src_offset)
{
  if (at->plane == s->depth) return false;
  *piece = *s;
  piece->depth = 1;
  *dst_offset = at->plane * s->dst_plane_pitch + at->row * s->dst_row_pitch +
                at->column;
  *src_offset = at->plane * s->src_plane_pitch + at->row * s->src_row_pitch +
                at->column;
  if (s->row_bytes > PIECE) {
    uint64_t rest = s->row_bytes - at->column;
    piece->rows = 1;
    piece->row_bytes = rest < PIECE ? rest : PIECE;
    at->column += piece->row_bytes;
    if (at->column < s->row_bytes) return true;
    at->column = 0;
    at->row++;
  } else {
    uint64_t rows = PIECE / s->row_bytes, rest = s->rows - at->row;
    piece->rows = rest < rows ? rest : rows;
    at->row += piece->rows;
  }
  if (at->row == s->rows) {
    at->row = 0;
    at->plane++;
  }
  return true;
}

/* Both halves of one piece. The memory is in use until the second one ran. */
static tn_status queue_piece(const tn_copy_job *job, void *memory,
                             const tn_copy_shape *piece, uint64_t dst_offset,
                             uint64_t src_offset)
{
  tn_copy_shape in, out;
  tn_copy_pack(piece, &in, &out);
  tn_copy_side stage = { .address = (tn_address)(uintptr_t)memory };
  tn_copy_side dst = job->dst, src = job->src;
  dst.address += dst_offset;
  src.address += src_offset;
  tn_status status = tn_copy_queue(src.stream, &stage, &src, &in,
                                   TN_COPY_PINNED);
  tn_status used = tn_pinned_use(memory, src.stream);
  if (status == TN_OK) status = used;
  if (status == TN_OK) status = tn_copy_order(dst.stream, src.stream);
  if (status == TN_OK)
    status = tn_copy_queue(dst.stream, &dst, &stage, &out, TN_COPY_PINNED);
  if (status == TN_OK) status = tn_pinned_use(memory, dst.stream);
  return status;
}

/* Waits for the piece that was in this place of the ring. */
static tn_status make_place(relay *through)
{
  tn_moment **place = &through->moments[through->next];
  tn_status status = tn_moment_wait(*place, TN_NO_LIMIT);
  tn_moment_release(*place);
  *place = NULL;
  return status;
}

static tn_status send(relay *through, const tn_copy_shape *piece,
                      uint64_t dst_offset, uint64_t src_offset)
{
  const tn_copy_job *job = through->job;
  tn_status status = make_place(through);
  if (status != TN_OK) return status;
  void *memory = tn_pinned_alloc(job->src.state,
                                 piece->row_bytes * piece->rows);
  if (!memory) return tn_last_status();
  status = queue_piece(job, memory, piece, dst_offset, src_offset);
  if (status == TN_OK)
    status = tn_stream_moment(job->dst.stream, TN_MOMENT_FLUSH,
                              &through->moments[through->next]);
  through->next = (through->next + 1) % ON_THE_WAY;
  tn_pinned_free(memory);
  return status;
}

tn_status tn_copy_staged(const tn_copy_job *job)
{
  relay through = { .job = job };
  tn_stream *dst = job->dst.stream, *src = job->src.stream;
  tn_copy_shape piece;
  uint64_t dst_offset, src_offset;
  tn_status status = tn_copy_order(src, dst);
  cursor at = { 0 };
  while (status == TN_OK &&
         next_piece(&job->shape, &at, &piece, &dst_offset, &src_offset))
    status = send(&through, &piece, dst_offset, src_offset);
  for (int i = 0; i < ON_THE_WAY; i++) tn_moment_release(through.moments[i]);
  if (status == TN_OK) status = tn_copy_order(src, dst);
  if (status == TN_OK) status = tn_stream_settle(src, status);
  return status == TN_OK ? tn_stream_settle(dst, status) : status;
}
