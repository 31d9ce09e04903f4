/* A launch while it runs. */
#ifndef TN_TESTS_CUDAEMU_RUN_H
#define TN_TESTS_CUDAEMU_RUN_H

#include "tests/cudaemu/ptx/code.h"

enum {
  PTX_SPANS = 64,
  PTX_BARRIERS = 16,
  PTX_WARP_TURN = 20000, /* steps until another warp has a turn, at most */
  PTX_LANES_TURN = 4000, /* or other lanes, while not all run together */
};

/* 32 threads.  Each has its own counter; those with the lowest run together,
 * which brings lanes together again after a branch. */
typedef struct ptx_warp {
  unsigned char *bank[4];
  unsigned char *local;
  unsigned number;
  uint32_t members;    /* lanes that are threads */
  uint32_t live;       /* that have not exited */
  uint32_t at_barrier; /* that wait for a barrier of the block */
  uint32_t syncing;    /* that wait for other lanes at a .sync instruction */
  uint32_t carry;      /* the condition code */
  uint32_t epoch;      /* bar.warp.sync so far, for the race detector */
  uint32_t pc[PTX_LANES];
  uint8_t barrier[PTX_LANES], depth[PTX_LANES];
  uint32_t returns[PTX_CALL_DEPTH][PTX_LANES]; /* calls to return to */
} ptx_warp;

typedef struct ptx_barrier {
  uint32_t expected, arrived, set, voters; /* set: how many said yes */
} ptx_barrier;

typedef struct ptx_run {
  const ptx_module *module;
  const ptx_function *function;
  const ptx_launch_config *config;
  ptx_fault *fault;
  ptx_warp *warps;
  unsigned warp_count;
  unsigned first_warp; /* whose turn is first in this block */
  bool backwards;      /* then the others, downwards */
  uint32_t turn;       /* PTX_WARP_TURN or less */
  uint32_t threads; /* of a block */
  uint32_t block[3];
  unsigned char *shared[3]; /* entry's, module's, dynamic */
  uint32_t shared_bytes[3];
  uint32_t local_entry_bytes, local_function_bytes;
  struct ptx_race *race; /* NULL when not wanted */
  ptx_barrier barriers[PTX_BARRIERS];
  ptx_span spans[3][PTX_SPANS]; /* what ptx_memory.find gave, by access */
  uint64_t warp_steps, lane_steps;
} ptx_run;

static inline void *ptx_at(const ptx_warp *w, ptx_operand operand)
{
  return w->bank[operand >> 30] + (operand & (PTX_BANK_BYTES - 1));
}

/* A predicate operand as a mask; `index` tells whether it is negated. */
static inline uint32_t ptx_predicate(const ptx_warp *w, const ptx_insn *insn,
                                     int index)
{
  uint32_t mask = *(const uint32_t *)ptx_at(w, insn->operand[index]);
  return insn->inverted >> index & 1 ? ~mask : mask;
}

static inline void ptx_set_predicate(const ptx_warp *w, ptx_operand operand,
                                     uint32_t value, uint32_t mask)
{
  uint32_t *to = ptx_at(w, operand);
  *to = (*to & ~mask) | (value & mask);
}

static inline const ptx_insn *ptx_insn_at(const ptx_run *run, uint32_t pc)
{
  return &run->module->code[pc];
}

/* Keeps the lanes of mask: d = t there.  size is 2, 4 or 8 bytes. */
void ptx_keep(void *d, const void *t, unsigned size, uint32_t mask);

/* Describes what a thread did wrong; returns false. */
bool ptx_run_fault(ptx_run *run, const ptx_warp *w, int lane,
                   const ptx_insn *insn, ptx_fault_kind kind, uint64_t address,
                   const char *format, ...)
    __attribute__((format(printf, 7, 8)));
void ptx_run_place(const ptx_run *run, const ptx_warp *w, int lane,
                   const ptx_insn *insn, ptx_place *place);
void ptx_thread_of(const ptx_run *run, const ptx_warp *w, int lane,
                   uint32_t thread[3]);

/* Runs a warp until it can go no further, or for one turn.  False: fault. */
bool ptx_warp_run(ptx_run *run, ptx_warp *w);

/* The families of instructions; each does one for the lanes of mask. */
bool ptx_do_load(ptx_run *run, ptx_warp *w, const ptx_insn *insn,
                 uint32_t mask);
bool ptx_do_store(ptx_run *run, ptx_warp *w, const ptx_insn *insn,
                  uint32_t mask);
bool ptx_do_atomic(ptx_run *run, ptx_warp *w, const ptx_insn *insn,
                   uint32_t mask);
void ptx_do_address(ptx_warp *w, const ptx_insn *insn, uint32_t mask);
void ptx_do_is_space(ptx_warp *w, const ptx_insn *insn, uint32_t mask);
void ptx_do_carry(ptx_warp *w, const ptx_insn *insn, uint32_t mask);
void ptx_do_test(ptx_warp *w, const ptx_insn *insn, uint32_t mask);
void ptx_do_compare(ptx_warp *w, const ptx_insn *insn, uint32_t mask);
void ptx_do_set(ptx_warp *w, const ptx_insn *insn, uint32_t mask);
void ptx_do_select(ptx_warp *w, const ptx_insn *insn, uint32_t mask);
void ptx_do_lookup(ptx_warp *w, const ptx_insn *insn, uint32_t mask);
void ptx_do_logic(ptx_warp *w, const ptx_insn *insn, uint32_t mask);
void ptx_do_pack(ptx_warp *w, const ptx_insn *insn, uint32_t mask);
void ptx_do_unpack(ptx_warp *w, const ptx_insn *insn, uint32_t mask);
void ptx_do_pack_halves(ptx_warp *w, const ptx_insn *insn, uint32_t mask);
void ptx_do_convert(ptx_warp *w, const ptx_insn *insn, uint32_t mask);
void ptx_do_float(ptx_warp *w, const ptx_insn *insn, uint32_t mask);

/* Lanes arrive at a .sync instruction; *done are those that got past it,
 * perhaps with some that had been waiting. */
bool ptx_sync_arrive(ptx_run *run, ptx_warp *w, uint32_t pc, uint32_t mask,
                     uint32_t *done);
/* Tries again for all that wait; *done are those that need wait no more. */
bool ptx_sync_retry(ptx_run *run, ptx_warp *w, uint32_t *done);

/* Lanes arrive at a barrier of the block; they wait unless it opens. */
bool ptx_barrier_arrive(ptx_run *run, ptx_warp *w, uint32_t pc, uint32_t mask);
/* Says why nobody can go on. */
bool ptx_run_stuck(ptx_run *run);

/* Where the bytes of a lane are in shared or local memory, or NULL. */
unsigned char *ptx_shared_bytes(const ptx_run *run, uint64_t address,
                                uint64_t size);
unsigned char *ptx_local_bytes(const ptx_run *run, const ptx_warp *w, int lane,
                               uint64_t address, uint64_t size);
/* Where the bytes of an atomic access are, checked; NULL after a fault.
 * *space becomes what a generic address turned out to be. */
unsigned char *ptx_atomic_bytes(ptx_run *run, ptx_warp *w, int lane,
                                const ptx_insn *insn, ptx_space *space,
                                uint64_t *address);

/* The race detector of shared memory, race.c. */
struct ptx_race *ptx_race_make(uint32_t bytes);
void ptx_race_free(struct ptx_race *race);
/* All that came before is ordered before all that comes. */
void ptx_race_order(struct ptx_race *race);
typedef enum ptx_race_access {
  PTX_RACE_READ,
  PTX_RACE_WRITE,
  PTX_RACE_STRONG_READ, /* volatile or atomic */
  PTX_RACE_STRONG_WRITE,
} ptx_race_access;
/* One lane's access to size bytes of the block's shared memory at offset.
 * value is what a write writes, or NULL when that is not known. */
bool ptx_race_check(ptx_run *run, ptx_warp *w, int lane, const ptx_insn *insn,
                    uint32_t offset, uint32_t size, ptx_race_access access,
                    const void *value);

#endif
