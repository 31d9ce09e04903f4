/* Loads and stores. */
#include "tests/cudaemu/ptx/run.h"

#include <inttypes.h>
#include <string.h>

/* An access of all lanes of mask to `bytes` bytes each. */
typedef struct access {
  ptx_run *run;
  ptx_warp *w;
  const ptx_insn *insn;
  uint32_t mask;
  unsigned bytes;
  ptx_access kind;
  uint64_t address[PTX_LANES];
  unsigned char *host[PTX_LANES];
  bool contiguous; /* host[l] is host[0] + l * bytes, for all lanes */
} access;

unsigned char *ptx_shared_bytes(const ptx_run *run, uint64_t address,
                                uint64_t size)
{
  uint64_t area = address / PTX_SHARED_AREA, at = address % PTX_SHARED_AREA;
  if (area > 2 || at + size > run->shared_bytes[area])
    return NULL;
  return run->shared[area] + at;
}

unsigned char *ptx_local_bytes(const ptx_run *run, const ptx_warp *w, int lane,
                               uint64_t address, uint64_t size)
{
  uint64_t entry = run->local_entry_bytes, more = run->local_function_bytes;
  unsigned char *base = w->local + (size_t)lane * (entry + more);
  if (address < PTX_LOCAL_FUNCTION)
    return address + size <= entry ? base + address : NULL;
  address -= PTX_LOCAL_FUNCTION;
  return address <= more && address + size <= more ? base + entry + address
                                                   : NULL;
}

static unsigned char *param_bytes(const ptx_run *run, uint64_t address,
                                  uint64_t size)
{
  uint32_t bytes = run->function->entry.parameter_bytes;
  if (address > bytes || address + size > bytes)
    return NULL;
  return (unsigned char *)(uintptr_t)run->config->parameters + address;
}

static const char *const verbs[] = { "load", "store", "atomic access" };

static unsigned char *fail(access *a, int lane, ptx_fault_kind kind,
                           uint64_t address, const char *reason)
{
  ptx_run_fault(a->run, a->w, lane, a->insn, kind, address,
                "%s of %u bytes at 0x%" PRIx64 ": %s", verbs[a->kind],
                a->bytes, address, reason);
  return NULL;
}

/* Device memory: what ptx_memory.find gave is remembered by instruction. */
static unsigned char *find_global(access *a, int lane, uint64_t address,
                                  uint64_t size, bool probe)
{
  ptx_run *run = a->run;
  size_t site = (size_t)(a->insn - run->module->code) % PTX_SPANS;
  ptx_span *span = &run->spans[a->kind][site];
  if (address >= span->begin && address < span->end &&
      size <= span->end - address)
    return span->host + (address - span->begin);
  char reason[256] = "";
  ptx_place place;
  const ptx_memory *memory = run->config->memory;
  ptx_run_place(run, a->w, lane, a->insn, &place);
  ptx_span found = { 0, 0, NULL };
  if (!memory->find(memory->context, address, size, a->kind, &place, &found,
                    reason, sizeof reason))
    return probe ? NULL : fail(a, lane, PTX_OUT_OF_BOUNDS, address, reason);
  *span = found;
  return found.host + (address - found.begin);
}

/* What a generic address points to; *address becomes that space's own. */
static ptx_space split_generic(uint64_t *address)
{
  uint64_t window = *address & (UINT64_C(255) << 56);
  *address &= UINT64_MAX >> 8;
  if (window == PTX_SHARED_WINDOW)
    return PTX_SPACE_SHARED;
  if (window == PTX_LOCAL_WINDOW)
    return PTX_SPACE_LOCAL;
  if (window == PTX_PARAM_WINDOW)
    return PTX_SPACE_PARAM;
  *address |= window;
  return PTX_SPACE_GLOBAL;
}

static unsigned char *find_lane(access *a, int lane, ptx_space *space,
                                uint64_t *at)
{
  uint64_t address = *at;
  unsigned char *host;
  if (*space == PTX_SPACE_GENERIC)
    *space = split_generic(&address);
  *at = address;
  switch (*space) {
  case PTX_SPACE_SHARED:
    host = ptx_shared_bytes(a->run, address, a->bytes);
    return host ? host : fail(a, lane, PTX_OUT_OF_BOUNDS, address,
                              "outside the block's shared memory");
  case PTX_SPACE_LOCAL:
    host = ptx_local_bytes(a->run, a->w, lane, address, a->bytes);
    return host ? host : fail(a, lane, PTX_OUT_OF_BOUNDS, address,
                              "outside the thread's local memory");
  case PTX_SPACE_PARAM:
    host = NULL;
    if (a->kind == PTX_LOAD)
      host = param_bytes(a->run, address, a->bytes);
    return host ? host : fail(a, lane, PTX_OUT_OF_BOUNDS, address,
                              a->kind == PTX_LOAD
                                ? "outside the kernel's parameters"
                                : "the kernel's parameters are read only");
  default:
    return find_global(a, lane, address, a->bytes, false);
  }
}

/* Addresses of all lanes, from a register of 32 or 64 bits or none. */
static void compute_addresses(access *a)
{
  const ptx_insn *insn = a->insn;
  uint64_t offset = (uint64_t)insn->offset;
  if (insn->operand[5] == PTX_NONE)
    for (int l = 0; l < PTX_LANES; l++)
      a->address[l] = offset;
  else if (insn->wide_address) {
    uint64_t base[PTX_LANES];
    memcpy(base, ptx_at(a->w, insn->operand[5]), sizeof base);
    for (int l = 0; l < PTX_LANES; l++)
      a->address[l] = base[l] + offset;
  } else {
    uint32_t base[PTX_LANES];
    memcpy(base, ptx_at(a->w, insn->operand[5]), sizeof base);
    for (int l = 0; l < PTX_LANES; l++)
      a->address[l] = (uint32_t)(base[l] + offset);
  }
}

static bool check_alignment(access *a)
{
  uint64_t together = 0, low = a->bytes - 1;
  for (int l = 0; l < PTX_LANES; l++)
    together |= a->mask >> l & 1 ? a->address[l] : 0;
  if (!(together & low))
    return true;
  for (int l = 0; l < PTX_LANES; l++)
    if (a->mask >> l & 1 && a->address[l] & low)
      return fail(a, l, PTX_MISALIGNED, a->address[l], "misaligned") != NULL;
  return true;
}

/* Whether all lanes' addresses are address[0] + l * step. */
static bool have_step(const access *a, uint64_t step)
{
  uint64_t differ = 0;
  for (int l = 0; l < PTX_LANES; l++)
    differ |= a->address[l] ^ (a->address[0] + (uint64_t)l * step);
  return !differ;
}

/* All lanes at once, when they read one place or one after another. */
static bool find_together(access *a, ptx_space space)
{
  if (a->mask != UINT32_MAX ||
      (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_SHARED &&
       space != PTX_SPACE_PARAM))
    return false;
  uint64_t step = a->address[0] == a->address[31] ? 0 : a->bytes;
  uint64_t size = a->bytes + 31 * step, first = a->address[0];
  if (first + size < first || !have_step(a, step))
    return false;
  unsigned char *host = NULL;
  if (space == PTX_SPACE_GLOBAL)
    host = find_global(a, 0, first, size, true);
  else if (space == PTX_SPACE_SHARED)
    host = ptx_shared_bytes(a->run, first, size);
  else if (a->kind == PTX_LOAD)
    host = param_bytes(a->run, first, size);
  if (!host)
    return false;
  for (int l = 0; l < PTX_LANES; l++)
    a->host[l] = host + (size_t)l * step;
  a->contiguous = step != 0;
  return true;
}

static const ptx_race_access plain[] = { PTX_RACE_READ, PTX_RACE_WRITE };
static const ptx_race_access strong[] = {
  PTX_RACE_STRONG_READ, PTX_RACE_STRONG_WRITE
};

static uint32_t shared_offset(const ptx_run *run, const unsigned char *host)
{
  return (uint32_t)(host - run->shared[0]);
}

/* The race detector wants to see what is written, element by element. */
static bool check_race(access *a, int l)
{
  const ptx_insn *insn = a->insn;
  ptx_race_access kind = (insn->strong ? strong : plain)[a->kind];
  for (unsigned i = 0; i < insn->count; i++) {
    const char *value = NULL;
    if (a->kind == PTX_STORE && insn->sizes[0] >= insn->size)
      value = (const char *)ptx_at(a->w, insn->operand[i]) +
              (size_t)l * insn->sizes[0];
    if (!ptx_race_check(a->run, a->w, l, insn,
                        shared_offset(a->run, a->host[l]) + i * insn->size,
                        insn->size, kind, value))
      return false;
  }
  return true;
}

/* Fills in where every lane's bytes are, or faults. */
static bool find_all(access *a)
{
  ptx_space space = (ptx_space)a->insn->space;
  bool watched = a->run->race != NULL;
  compute_addresses(a);
  if (!check_alignment(a))
    return false;
  if (find_together(a, space)) {
    if (watched && space == PTX_SPACE_SHARED)
      for (int l = 0; l < PTX_LANES; l++)
        if (!check_race(a, l))
          return false;
    return true;
  }
  for (uint32_t m = a->mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    ptx_space found = space;
    uint64_t address = a->address[l];
    a->host[l] = find_lane(a, l, &found, &address);
    if (!a->host[l] ||
        (watched && found == PTX_SPACE_SHARED && !check_race(a, l)))
      return false;
  }
  return true;
}

/* Reads one element of T into a register of R for each lane. */
#define READ(R, T)                                             \
  do {                                                         \
    R *to = d;                                                 \
    for (uint32_t m = a->mask; m; m &= m - 1) {                \
      int l = __builtin_ctz(m);                                \
      T value;                                                 \
      memcpy(&value, a->host[l] + at, sizeof value);           \
      to[l] = (R)value;                                        \
    }                                                          \
  } while (0)
#define READ_ALL(R)                                            \
  do {                                                         \
    R *to = d;                                                 \
    for (int l = 0; l < PTX_LANES; l++)                        \
      memcpy(&to[l], a->host[l] + at, sizeof(R));              \
  } while (0)
#define READ_INTO(R)                                           \
  switch (a->insn->size * 2 + is_signed) {                     \
  case 2: READ(R, uint8_t); break;                             \
  case 3: READ(R, int8_t); break;                              \
  case 4: READ(R, uint16_t); break;                            \
  case 5: READ(R, int16_t); break;                             \
  case 8: READ(R, uint32_t); break;                            \
  case 9: READ(R, int32_t); break;                             \
  default: READ(R, uint64_t);                                  \
  }

static void read_element(const access *a, void *d, size_t at)
{
  unsigned size = a->insn->sizes[0];
  bool is_signed = ptx_type_class((ptx_type)a->insn->type) == PTX_CLASS_SIGNED;
  if (a->contiguous && size == a->bytes)
    memcpy(d, a->host[0], size * PTX_LANES);
  else if (size == a->insn->size && a->mask == UINT32_MAX) {
    switch (size) {
    case 2: READ_ALL(uint16_t); break;
    case 4: READ_ALL(uint32_t); break;
    default: READ_ALL(uint64_t);
    }
  } else if (size == 2)
    READ_INTO(uint16_t)
  else if (size == 4)
    READ_INTO(uint32_t)
  else
    READ_INTO(uint64_t)
}

bool ptx_do_load(ptx_run *run, ptx_warp *w, const ptx_insn *insn,
                 uint32_t mask)
{
  access a;
  a.run = run, a.w = w, a.insn = insn, a.mask = mask;
  a.bytes = (unsigned)insn->size * insn->count;
  a.kind = PTX_LOAD;
  a.contiguous = false;
  if (!mask)
    return true;
  if (!find_all(&a))
    return false;
  for (size_t i = 0; i < insn->count; i++)
    read_element(&a, ptx_at(w, insn->operand[i]), i * insn->size);
  return true;
}

static void write_element(const access *a, const unsigned char *from,
                          size_t at)
{
  size_t register_bytes = a->insn->sizes[0], size = a->insn->size;
  if (a->contiguous && register_bytes == a->bytes) {
    memcpy(a->host[0], from, size * PTX_LANES);
    return;
  }
  for (uint32_t m = a->mask; m; m &= m - 1) {
    size_t l = (size_t)__builtin_ctz(m);
    unsigned char *to = a->host[l] + at;
    const unsigned char *value = from + l * register_bytes;
    switch (size) {
    case 1: memcpy(to, value, 1); break;
    case 2: memcpy(to, value, 2); break;
    case 4: memcpy(to, value, 4); break;
    default: memcpy(to, value, 8);
    }
  }
}

bool ptx_do_store(ptx_run *run, ptx_warp *w, const ptx_insn *insn,
                  uint32_t mask)
{
  access a;
  a.run = run, a.w = w, a.insn = insn, a.mask = mask;
  a.bytes = (unsigned)insn->size * insn->count;
  a.kind = PTX_STORE;
  a.contiguous = false;
  if (!mask)
    return true;
  if (!find_all(&a))
    return false;
  for (size_t i = 0; i < insn->count; i++)
    write_element(&a, ptx_at(w, insn->operand[i]), i * insn->size);
  return true;
}

unsigned char *ptx_atomic_bytes(ptx_run *run, ptx_warp *w, int lane,
                                const ptx_insn *insn, ptx_space *space,
                                uint64_t *address)
{
  access a;
  a.run = run, a.w = w, a.insn = insn, a.mask = UINT32_C(1) << lane;
  a.bytes = insn->size;
  a.kind = PTX_ATOMIC;
  *space = (ptx_space)insn->space;
  compute_addresses(&a);
  *address = a.address[lane];
  if (!check_alignment(&a))
    return NULL;
  unsigned char *host = find_lane(&a, lane, space, address);
  if (host && run->race && *space == PTX_SPACE_SHARED &&
      !ptx_race_check(run, w, lane, insn, shared_offset(run, host),
                      insn->size, PTX_RACE_STRONG_WRITE, NULL))
    return NULL;
  return host;
}

static uint64_t window_of(const ptx_word_set *words)
{
  if (PTX_HAS(words, shared) || PTX_HAS(words, shared_cta))
    return PTX_SHARED_WINDOW;
  if (PTX_HAS(words, local))
    return PTX_LOCAL_WINDOW;
  if (PTX_HAS(words, param) || PTX_HAS(words, param_entry))
    return PTX_PARAM_WINDOW;
  return 0;
}

/* cvta: between a space's own addresses and generic ones. */
void ptx_do_address(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  const uint64_t *from = ptx_at(w, insn->operand[1]);
  uint64_t window = window_of(&insn->name->words), values[PTX_LANES];
  bool to_own = PTX_HAS(&insn->name->words, to);
  for (int l = 0; l < PTX_LANES; l++)
    values[l] = to_own ? from[l] - window : from[l] + window;
  ptx_keep(ptx_at(w, insn->operand[0]), values, 8, mask);
}

void ptx_do_is_space(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  const uint64_t *from = ptx_at(w, insn->operand[1]);
  uint64_t window = window_of(&insn->name->words);
  uint32_t holds = 0;
  for (int l = 0; l < PTX_LANES; l++)
    holds |= (uint32_t)((from[l] & UINT64_C(255) << 56) == window) << l;
  ptx_set_predicate(w, insn->operand[0], holds, mask);
}
