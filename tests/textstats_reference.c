/* What examples/textstats must print, computed by plain loops on the host; and
 * the files that tests/textstats.sh tries it on.
 *
 *     textstats_reference make KIND SIZE    writes SIZE bytes: noise, words,
 *                                           zeros or ramp
 *     textstats_reference count FILE        prints the statistics
 *
 * Entropies are sums in double here and in float there, so the test compares
 * those lines as numbers and all others as text.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bytes[256], pairs[256][256];

/* splitmix64, as in the kernels: the finaliser of Steele, Lea, Flood 2014. */
static uint64_t finish(uint64_t z)
{
  z ^= z >> 30;
  z *= UINT64_C(0xbf58476d1ce4e5b9);
  z ^= z >> 27;
  z *= UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static int byte_at(const char *kind, long at)
{
  static const char words[] = "the rain in Spain stays mainly in the plain\n";
  if (strcmp(kind, "noise") == 0) return finish((uint64_t)at * 77) & 255;
  if (strcmp(kind, "words") == 0) return words[at % (long)strlen(words)];
  return strcmp(kind, "ramp") == 0 ? at & 255 : 0;
}

static int make(const char *kind, long size)
{
  for (long i = 0; i < size; i++) putchar(byte_at(kind, i));
  return fflush(stdout) != 0;
}

static double entropy(const uint64_t *counts, int bins, uint64_t total)
{
  double sum = 0;
  for (int i = 0; i < bins; i++)
    if (counts[i])
      sum -= (double)counts[i] / (double)total *
             log2((double)counts[i] / (double)total);
  return sum;
}

static int distinct(const uint64_t *counts, int bins)
{
  int found = 0;
  while (bins--) found += counts[bins] > 0;
  return found;
}

static const char *show(int byte, char text[8])
{
  snprintf(text, 8, byte > 32 && byte < 127 ? "   %c" : "\\x%02x", byte);
  return text;
}

static int compare_pairs(const void *a, const void *b)
{
  const uint64_t *all = &pairs[0][0];
  int x = *(const int *)a, y = *(const int *)b;
  if (all[x] != all[y]) return all[x] < all[y] ? 1 : -1;
  return x - y;
}

static void print_pairs(uint64_t total)
{
  static int order[65536];
  for (int i = 0; i < 65536; i++) order[i] = i;
  qsort(order, 65536, sizeof *order, compare_pairs);
  int shown = distinct(&pairs[0][0], 65536);
  if (shown > 20) shown = 20;
  printf("\nthe %d most frequent pairs\n", shown);
  for (int i = 0; i < shown; i++) {
    char first[8], second[8];
    uint64_t count = pairs[order[i] >> 8][order[i] & 255];
    printf("%s %s  %14" PRIu64 "  %8.4f %%\n", show(order[i] >> 8, first),
           show(order[i] & 255, second), count,
           100.0 * (double)count / (double)total);
  }
}

static int count(const char *name)
{
  FILE *file = fopen(name, "rb");
  if (!file) return 1;
  uint64_t size = 0, hash = 0;
  int before = -1;
  for (int byte; (byte = getc(file)) != EOF; before = byte, size++) {
    bytes[byte]++;
    if (before >= 0) pairs[before][byte]++;
    hash += finish((size * 256 + (uint64_t)byte + 1) *
                   UINT64_C(0x9e3779b97f4a7c15));
  }
  fclose(file);
  printf("size            %" PRIu64 " bytes\nhash            %016" PRIx64
         "\n", size, hash);
  printf("distinct bytes  %d\n", distinct(bytes, 256));
  printf("distinct pairs  %d\n", distinct(&pairs[0][0], 65536));
  printf("byte entropy    %.4f bits\n", entropy(bytes, 256, size));
  printf("pair entropy    %.4f bits\n",
         entropy(&pairs[0][0], 65536, size - 1));
  if (size > 1) print_pairs(size - 1);
  puts("\nbytes");
  for (int i = 0; i < 256; i++) {
    char text[8];
    if (bytes[i])
      printf("%s  %14" PRIu64 "  %8.4f %%\n", show(i, text), bytes[i],
             100.0 * (double)bytes[i] / (double)size);
  }
  return 0;
}

int main(int argc, char **argv)
{
  if (argc == 4 && strcmp(argv[1], "make") == 0)
    return make(argv[2], strtol(argv[3], NULL, 10));
  if (argc == 3 && strcmp(argv[1], "count") == 0) return count(argv[2]);
  fputs("textstats_reference: make KIND SIZE or count FILE\n", stderr);
  return 2;
}
