#include "backends/cpu/quarantine.h"

#include <pthread.h>
#include <string.h>

#include "backends/cpu/alloc.h"
#include "backends/cpu/host.h"

#define POISON 0xff
#define POISON_MAX (UINT64_C(64) << 20) /* bytes of one piece */
#define BYTES_MAX (UINT64_C(64) << 20)  /* bytes kept */
#define COUNT_MAX 64                    /* pieces kept */

typedef struct inmate {
  tn_backend_device *device;
  tn_alloc_desc desc;
  tn_address address;
} inmate;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static inmate inmates[COUNT_MAX]; /* a ring; under lock, like the rest */
static unsigned first, count;
static uint64_t bytes_kept;

static uint64_t poisoned(uint64_t bytes)
{
  return bytes < POISON_MAX ? bytes : POISON_MAX;
}

void tn_cpu_poison(tn_address address, uint64_t bytes)
{
  memset((void *)(uintptr_t)address, POISON, poisoned(bytes));
}

static void inmate_check(const inmate *one)
{
  const unsigned char *memory = (const unsigned char *)(uintptr_t)one->address;
  uint64_t bytes = poisoned(one->desc.bytes), at = 0;
  while (at < bytes && memory[at] == POISON) at++;
  if (at == bytes) return;
  tn_cpu_host->log(TN_LOG_ERROR,
                   "cpu: byte %llu of %llu of memory at 0x%llx was written "
                   "after the memory was given back: a stream uses it that "
                   "nobody waited for or recorded",
                   (unsigned long long)at,
                   (unsigned long long)one->desc.bytes,
                   (unsigned long long)one->address);
}

/* Takes the oldest out, if there is one and `bytes` more are too many. */
static bool inmate_take(uint64_t bytes, inmate *one)
{
  pthread_mutex_lock(&lock);
  bool leaves = count && (count == COUNT_MAX || bytes > BYTES_MAX ||
                          bytes_kept > BYTES_MAX - bytes);
  if (leaves) {
    *one = inmates[first];
    first = (first + 1) % COUNT_MAX;
    count--;
    bytes_kept -= one->desc.bytes;
  }
  pthread_mutex_unlock(&lock);
  return leaves;
}

static void inmate_free(const inmate *one)
{
  inmate_check(one);
  tn_cpu_free(one->device, &one->desc, one->address);
}

/* False if it has no room. */
static bool inmate_put(const inmate *one)
{
  pthread_mutex_lock(&lock);
  bool fits = count < COUNT_MAX && one->desc.bytes <= BYTES_MAX &&
              bytes_kept <= BYTES_MAX - one->desc.bytes;
  if (fits) {
    inmates[(first + count++) % COUNT_MAX] = *one;
    bytes_kept += one->desc.bytes;
  }
  pthread_mutex_unlock(&lock);
  return fits;
}

void tn_cpu_quarantine_add(tn_backend_device *device,
                           const tn_alloc_desc *desc, tn_address address)
{
  inmate one = { device, *desc, address }, oldest;
  tn_cpu_poison(address, desc->bytes);
  while (inmate_take(desc->bytes, &oldest)) inmate_free(&oldest);
  if (!inmate_put(&one)) tn_cpu_free(device, desc, address);
}

bool tn_cpu_quarantine_empty(void)
{
  inmate oldest;
  bool were_there = false;
  while (inmate_take(UINT64_MAX, &oldest)) {
    inmate_free(&oldest);
    were_there = true;
  }
  return were_there;
}

void tn_cpu_quarantine_after_fork(void)
{
  pthread_mutex_init(&lock, NULL);
}
