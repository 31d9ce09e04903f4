/* Races in shared memory: two threads access the same bytes, one of them
 * writes, and no barrier lies between.
 *
 * For every word there is a cell that remembers the last write and the reads
 * since.  Words that were accessed by halves or bytes have a cell a byte.
 * Cells say when: the era, which a barrier of the block ends, and within it
 * the warp's epoch, which bar.warp.sync ends for the lanes of that warp.
 * Storing the value that is there already, or that another thread stores, is
 * no race: threads often agree. */
#include "tests/cudaemu/ptx/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEVERAL = 0xffff }; /* threads; of one warp when its number is told */

typedef struct mark {
  uint32_t era, epoch;
  uint16_t thread, warp; /* or SEVERAL */
  bool strong, known;
  uint32_t value; /* that was written, if known */
  const ptx_insn *insn;
} mark;

typedef struct cell {
  mark write, read;
} cell;

typedef struct ptx_race {
  uint32_t bytes, era;
  cell *words, *single; /* of words, of bytes */
  uint32_t *split;      /* era in which a word was accessed in parts */
} ptx_race;

struct ptx_race *ptx_race_make(uint32_t bytes)
{
  ptx_race *race = calloc(1, sizeof *race);
  if (!race)
    return NULL;
  size_t words = bytes / 4 + 1;
  race->bytes = bytes;
  race->era = 1;
  race->words = calloc(words, sizeof *race->words);
  race->single = calloc(words * 4, sizeof *race->single);
  race->split = calloc(words, sizeof *race->split);
  if (race->words && race->single && race->split)
    return race;
  ptx_race_free(race);
  return NULL;
}

void ptx_race_free(struct ptx_race *race)
{
  if (!race)
    return;
  free(race->words);
  free(race->single);
  free(race->split);
  free(race);
}

void ptx_race_order(struct ptx_race *race)
{
  race->era++;
}

typedef struct event {
  ptx_run *run;
  ptx_warp *w;
  const ptx_insn *insn;
  int lane;
  uint16_t thread;
  uint32_t offset;
  bool write, strong, known;
  uint32_t value; /* written to the cell visited, if known */
  bool same;      /* writes what is there */
} event;

/* Whether what the mark tells of is not ordered before the event. */
static bool conflicts(const mark *m, const event *e)
{
  if (m->era != e->run->race->era || m->thread == e->thread)
    return false;
  if (m->strong && e->strong)
    return false;
  return m->warp != e->w->number || m->epoch == e->w->epoch;
}

static bool report(const event *e, const mark *m, const char *what)
{
  char who[64] = "several threads";
  if (m->thread != SEVERAL) {
    ptx_warp other = *e->w;
    uint32_t thread[3];
    other.number = m->thread / PTX_LANES;
    ptx_thread_of(e->run, &other, m->thread % PTX_LANES, thread);
    snprintf(who, sizeof who, "thread (%u,%u,%u)", thread[0], thread[1],
             thread[2]);
  }
  return ptx_run_fault(e->run, e->w, e->lane, e->insn, PTX_RACE, e->offset,
                       "race: %s byte %u of shared memory, which %s %s in "
                       "line %u (%s) with no barrier between",
                       e->write ? "writes" : "reads", e->offset, who, what,
                       m->insn->line, m->insn->name->text);
}

static mark mark_of(const event *e)
{
  return (mark) {
    e->run->race->era, e->w->epoch, e->thread, (uint16_t)e->w->number,
    e->strong, e->known, e->value, e->insn
  };
}

static void remember_read(mark *m, const event *e)
{
  mark now = mark_of(e);
  if (m->era == now.era && m->thread != now.thread) {
    bool same_warp = m->warp == now.warp;
    if (!same_warp || m->epoch == now.epoch) {
      now.thread = SEVERAL;
      now.warp = same_warp ? now.warp : SEVERAL;
      now.strong &= m->strong;
    }
  }
  *m = now;
}

static bool visit(cell *c, const event *e)
{
  bool agree = e->known && c->write.known && e->value == c->write.value;
  if (conflicts(&c->write, e) && !agree)
    return report(e, &c->write, "wrote");
  if (e->write && conflicts(&c->read, e) && !e->same)
    return report(e, &c->read, "read");
  if (e->write)
    c->write = mark_of(e);
  else
    remember_read(&c->read, e);
  return true;
}

/* From a word's cell to one for each of its bytes. */
static void split_word(ptx_race *race, uint32_t word)
{
  if (race->split[word] == race->era)
    return;
  race->split[word] = race->era;
  for (uint32_t i = 0; i < 4; i++) {
    cell *single = &race->single[4 * word + i];
    *single = race->words[word];
    single->write.value = single->write.value >> 8 * i & 255;
  }
}

bool ptx_race_check(ptx_run *run, ptx_warp *w, int lane, const ptx_insn *insn,
                    uint32_t offset, uint32_t size, ptx_race_access access,
                    const void *value)
{
  ptx_race *race = run->race;
  event e = {
    .run = run, .w = w, .insn = insn, .lane = lane,
    .thread = (uint16_t)(w->number * PTX_LANES + (uint32_t)lane),
    .offset = offset,
    .write = access == PTX_RACE_WRITE || access == PTX_RACE_STRONG_WRITE,
    .strong = access == PTX_RACE_STRONG_READ ||
              access == PTX_RACE_STRONG_WRITE,
    .known = value != NULL,
  };
  e.same = value && memcmp(run->shared[0] + offset, value, size) == 0;
  for (uint32_t end = offset + size; e.offset < end;) {
    uint32_t word = e.offset / 4;
    bool whole = e.offset % 4 == 0 && end - e.offset >= 4 &&
                 race->split[word] != race->era;
    e.value = 0;
    if (value)
      memcpy(&e.value, (const char *)value + (e.offset - offset),
             whole ? 4 : 1);
    if (whole) {
      if (!visit(&race->words[word], &e))
        return false;
      e.offset += 4;
      continue;
    }
    split_word(race, word);
    if (!visit(&race->single[e.offset], &e))
      return false;
    e.offset++;
  }
  return true;
}
