/* Launches: one block after another, in an order that nobody promised. */
#include "tests/cudaemu/ptx/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xa5, LARGEST_BLOCK = 1024 };

static uint32_t round_up(uint32_t bytes)
{
  return (bytes + 63) / 64 * 64;
}

static bool refuse(ptx_fault *fault, const ptx_entry *entry,
                   ptx_fault_kind kind, const char *reason)
{
  fault->kind = kind;
  fault->place.kernel = entry->name;
  snprintf(fault->text, sizeof fault->text, "kernel %s: %s", entry->name,
           reason);
  return false;
}

static bool check_extents(const ptx_entry *entry,
                          const ptx_launch_config *config, ptx_fault *fault)
{
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    if (!config->grid[i] || !config->block[i] ||
        config->block[i] > LARGEST_BLOCK)
      return refuse(fault, entry, PTX_BAD_LAUNCH,
                    "an extent of the grid or block is 0 or too large");
    threads *= config->block[i];
    if (entry->required_threads[0] &&
        config->block[i] != entry->required_threads[i])
      return refuse(fault, entry, PTX_BAD_LAUNCH,
                    "the block is not what .reqntid says");
  }
  uint64_t most = (uint64_t)entry->max_threads[0] * entry->max_threads[1] *
                  entry->max_threads[2];
  if (threads > LARGEST_BLOCK || (most && threads > most))
    return refuse(fault, entry, PTX_BAD_LAUNCH,
                  "the block has more threads than it may");
  if (config->dynamic_shared > PTX_SHARED_AREA)
    return refuse(fault, entry, PTX_BAD_LAUNCH,
                  "too much dynamic shared memory");
  return true;
}

/* Shared memory of the three areas, with room between them. */
static bool make_shared(ptx_run *run)
{
  uint32_t at = 0;
  run->shared_bytes[0] = run->function->shared_bytes;
  run->shared_bytes[1] = run->module->shared_bytes;
  run->shared_bytes[2] = run->config->dynamic_shared;
  for (int i = 0; i < 3; i++)
    at += round_up(run->shared_bytes[i]);
  run->shared[0] = aligned_alloc(64, at ? at : 64);
  if (!run->shared[0])
    return false;
  run->shared[1] = run->shared[0] + round_up(run->shared_bytes[0]);
  run->shared[2] = run->shared[1] + round_up(run->shared_bytes[1]);
  if (at && !run->config->ignore_races) {
    run->race = ptx_race_make(at);
    return run->race != NULL;
  }
  return true;
}

static void set_lanes(ptx_warp *w, ptx_special special, uint32_t value)
{
  uint32_t *to = (uint32_t *)(void *)w->bank[PTX_BANK_SPECIAL] +
                 (size_t)special * PTX_LANES;
  for (int l = 0; l < PTX_LANES; l++)
    to[l] = value;
}

static void set_lane(ptx_warp *w, ptx_special special, int lane,
                     uint32_t value)
{
  uint32_t *to = (uint32_t *)(void *)w->bank[PTX_BANK_SPECIAL];
  to[(size_t)special * PTX_LANES + (size_t)lane] = value;
}

static void fill_lane(const ptx_run *run, ptx_warp *w, int lane)
{
  uint32_t thread[3], bit = UINT32_C(1) << lane;
  ptx_thread_of(run, w, lane, thread);
  set_lane(w, PTX_SPECIAL_tid_x, lane, thread[0]);
  set_lane(w, PTX_SPECIAL_tid_y, lane, thread[1]);
  set_lane(w, PTX_SPECIAL_tid_z, lane, thread[2]);
  set_lane(w, PTX_SPECIAL_laneid, lane, (uint32_t)lane);
  set_lane(w, PTX_SPECIAL_lanemask_eq, lane, bit);
  set_lane(w, PTX_SPECIAL_lanemask_lt, lane, bit - 1);
  set_lane(w, PTX_SPECIAL_lanemask_le, lane, bit | (bit - 1));
  set_lane(w, PTX_SPECIAL_lanemask_ge, lane, ~(bit - 1));
  set_lane(w, PTX_SPECIAL_lanemask_gt, lane, ~(bit | (bit - 1)));
}

/* Special registers that stay for the launch. */
static void fill_specials(const ptx_run *run, ptx_warp *w)
{
  const ptx_launch_config *config = run->config;
  memset(w->bank[PTX_BANK_SPECIAL], 0, PTX_SPECIAL_BYTES);
  for (int lane = 0; lane < PTX_LANES; lane++)
    fill_lane(run, w, lane);
  for (int i = 0; i < 3; i++) {
    set_lanes(w, (ptx_special)(PTX_SPECIAL_ntid_x + i), config->block[i]);
    set_lanes(w, (ptx_special)(PTX_SPECIAL_nctaid_x + i), config->grid[i]);
  }
  set_lanes(w, PTX_SPECIAL_warpid, w->number);
  set_lanes(w, PTX_SPECIAL_nwarpid, run->warp_count);
  set_lanes(w, PTX_SPECIAL_nsmid, 1);
  set_lanes(w, PTX_SPECIAL_dynamic_smem_size, config->dynamic_shared);
  set_lanes(w, PTX_SPECIAL_total_smem_size,
            run->shared_bytes[0] + run->shared_bytes[1] +
              run->shared_bytes[2]);
  memset(w->bank[PTX_BANK_SPECIAL] + PTX_TRUE_OFFSET, 0xff, 4);
}

/* A warp and all its banks in one allocation each. */
static bool make_warp(ptx_run *run, unsigned number)
{
  ptx_warp *w = &run->warps[number];
  size_t own = round_up(run->function->register_bytes);
  size_t functions = round_up(run->module->function_register_bytes);
  size_t local = ((size_t)run->local_entry_bytes + run->local_function_bytes) *
                 PTX_LANES;
  size_t total = own + functions + PTX_SPECIAL_BYTES + local;
  unsigned char *bytes = aligned_alloc(64, (total + 63) / 64 * 64);
  if (!bytes)
    return false;
  memset(bytes, POISON, total);
  w->number = number;
  w->bank[PTX_BANK_ENTRY] = bytes;
  w->bank[PTX_BANK_FUNCTION] = bytes + own;
  w->bank[PTX_BANK_SPECIAL] = bytes + own + functions;
  w->bank[PTX_BANK_CONSTANT] = run->module->constants;
  w->local = bytes + own + functions + PTX_SPECIAL_BYTES;
  uint32_t rest = run->threads - number * PTX_LANES;
  w->members = rest < PTX_LANES ? (UINT32_C(1) << rest) - 1 : UINT32_MAX;
  fill_specials(run, w);
  return true;
}

static bool make_warps(ptx_run *run)
{
  run->warp_count = (run->threads + PTX_LANES - 1) / PTX_LANES;
  run->local_entry_bytes = round_up(run->function->local_bytes);
  run->local_function_bytes = round_up(run->module->function_local_bytes);
  run->warps = calloc(run->warp_count, sizeof *run->warps);
  for (unsigned i = 0; run->warps && i < run->warp_count; i++)
    if (!make_warp(run, i))
      return false;
  return run->warps != NULL;
}

static void free_run(ptx_run *run)
{
  for (unsigned i = 0; run->warps && i < run->warp_count; i++)
    free(run->warps[i].bank[PTX_BANK_ENTRY]);
  free(run->warps);
  free(run->shared[0]);
  ptx_race_free(run->race);
}

static uint64_t draw(const ptx_run *run, uint64_t number)
{
  uint64_t z = run->config->seed + (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* Which warp is first, and how long each has its turn: now and then so short
 * that warps overtake each other in the midst of what they do. */
static void order_warps(ptx_run *run, uint64_t block)
{
  uint64_t random = draw(run, block);
  run->turn = PTX_WARP_TURN;
  if (!run->config->seed)
    return;
  run->first_warp = (unsigned)(random >> 32) % run->warp_count;
  run->backwards = random & 1;
  if (draw(run, UINT64_MAX) % 8 == 0)
    run->turn = 8 + (uint32_t)(random >> 8) % 120;
}

static void begin_block(ptx_run *run)
{
  uint32_t bytes = round_up(run->shared_bytes[0]) +
                   round_up(run->shared_bytes[1]) + run->shared_bytes[2];
  memset(run->shared[0], POISON, bytes);
  memset(run->barriers, 0, sizeof run->barriers);
  if (run->race)
    ptx_race_order(run->race);
  for (unsigned i = 0; i < run->warp_count; i++) {
    ptx_warp *w = &run->warps[i];
    w->live = w->members;
    w->at_barrier = w->syncing = w->carry = w->epoch = 0;
    memset(w->depth, 0, sizeof w->depth);
    for (int l = 0; l < PTX_LANES; l++)
      w->pc[l] = run->function->begin;
    for (int d = 0; d < 3; d++)
      set_lanes(w, (ptx_special)(PTX_SPECIAL_ctaid_x + d), run->block[d]);
  }
}

static bool run_block(ptx_run *run)
{
  begin_block(run);
  for (;;) {
    uint64_t before = run->warp_steps;
    bool alive = false;
    for (unsigned i = 0; i < run->warp_count; i++) {
      unsigned at = run->backwards ? run->warp_count - i : i;
      ptx_warp *w = &run->warps[(run->first_warp + at) % run->warp_count];
      if (!ptx_warp_run(run, w))
        return false;
      alive |= w->live != 0;
    }
    if (!alive)
      return true;
    if (run->warp_steps == before)
      return ptx_run_stuck(run);
  }
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* From one block to the next: a step that comes past all of them. */
static uint64_t draw_stride(const ptx_run *run, uint64_t total)
{
  if (!run->config->seed || total < 3)
    return 1;
  uint64_t stride = 1 + draw(run, 1) % (total - 1);
  while (common_divisor(stride, total) != 1)
    stride = stride % (total - 1) + 1;
  return stride;
}

static bool run_blocks(ptx_run *run)
{
  const uint32_t *grid = run->config->grid;
  uint64_t total = (uint64_t)grid[0] * grid[1] * grid[2];
  uint64_t stride = draw_stride(run, total);
  uint64_t at = run->config->seed ? draw(run, 0) % total : 0;
  for (uint64_t count = 0; count < total; count++) {
    run->block[0] = (uint32_t)(at % grid[0]);
    run->block[1] = (uint32_t)(at / grid[0] % grid[1]);
    run->block[2] = (uint32_t)(at / grid[0] / grid[1]);
    order_warps(run, at);
    if (!run_block(run))
      return false;
    at = at < total - stride ? at + stride : at - (total - stride);
  }
  return true;
}

bool ptx_launch(const ptx_module *module, const ptx_entry *entry,
                const ptx_launch_config *config, ptx_fault *fault,
                ptx_counts *counts)
{
  memset(fault, 0, sizeof *fault);
  if (!check_extents(entry, config, fault))
    return false;
  ptx_run run = {
    .module = module, .config = config, .fault = fault,
    /* An entry is the first member of its function. */
    .function = (const ptx_function *)(const void *)entry,
    .threads = config->block[0] * config->block[1] * config->block[2],
  };
  bool done = make_shared(&run) && make_warps(&run);
  if (!done)
    refuse(fault, entry, PTX_LAUNCH_NO_MEMORY, "no memory on the host");
  else
    done = run_blocks(&run);
  if (counts)
    *counts = (ptx_counts) { run.warp_steps, run.lane_steps };
  free_run(&run);
  return done;
}
