#!/bin/sh
# A machine without an NVIDIA driver, or with one that cannot be used: the cuda
# backend is listed with the reason, and everything else is as if it were not
# there. LD_LIBRARY_PATH puts such drivers in the place of one that is here.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
tenon=$top_builddir/tools/tenon
unset TENON_DEVICE CUDA_VISIBLE_DEVICES TENON_CUDA_VISIBLE_DEVICES

# driver NAME [TEXT]: a folder with a libcuda.so.1 of that C source, or, without
# one, with a file that is no library; and nothing to count boards with.
driver() {
  folder=$tap_scratch/$1
  mkdir -p "$folder"
  echo 'not a library' > "$folder/libnvidia-ml.so.1"
  if [ $# -eq 1 ]; then
    echo 'not a library' > "$folder/libcuda.so.1"
  else
    printf '%s\n' "$2" > "$folder/driver.c"
    $CC -shared -fPIC -o "$folder/libcuda.so.1" "$folder/driver.c" || exit 1
  fi
}

# devices NAME: the lines about cuda under that driver, and all others.
devices() {
  LD_LIBRARY_PATH=$tap_scratch/$1 "$tenon" devices \
    > "$tap_scratch/out" 2> "$tap_scratch/err"
  rc=$?
  cuda=$(grep -A1 '^cuda' "$tap_scratch/out")
  others=$(grep -v 'cuda' "$tap_scratch/out")
}

# says NAME PART TEXT
says() {
  devices "$1"
  case $cuda in
    *"$2"*) tap_ok 0 "D2 $3: \"$2\"" ;;
    *) tap_ok 1 "D2 $3: \"$2\""
       printf '%s\n' "$cuda" | sed 's/^/# /'
       sed 's/^/# /' "$tap_scratch/err" ;;
  esac
}

driver none
driver bare 'int nothing;'
driver old 'int cuDriverGetVersion(int *v) { *v = 11080; return 0; }
int cuGetProcAddress(void) { return 0; }'
asks='#include <string.h>
#include <stddef.h>
static int init(unsigned f) { return f ? 1 : INIT; }
static int version(int *v) { *v = VERSION; return 0; }
static int name(int c, const char **t)
{
  *t = c == 999 ? "CUDA_ERROR_UNKNOWN" : "CUDA_ERROR_OTHER";
  return 0;
}
static int other(void) { return 3; }
int cuGetProcAddress_v2(const char *n, void **f, int v,
                        unsigned long long flags, int *status)
{
  *f = NULL;
  *status = 0;
  if (flags != 1) return 1;
  if (v > VERSION) return 1;
  if (!strcmp(n, "cuFuncLoad") || !strcmp(n, MISSING)) *status = 2;
  else if (!strcmp(n, "cuInit")) *f = init;
  else if (!strcmp(n, "cuDriverGetVersion")) *f = version;
  else if (!strncmp(n, "cuGetError", 10)) *f = name;
  else *f = other;
  return 0;
}'
driver older "#define VERSION 11080
#define INIT 0
#define MISSING \"\"
$asks"
driver stub "#define VERSION 12000
#define INIT 34
#define MISSING \"\"
$asks"
driver empty "#define VERSION 13000
#define INIT 100
#define MISSING \"\"
$asks"
driver broken "#define VERSION 12040
#define INIT 999
#define MISSING \"\"
$asks"
driver lacking "#define VERSION 12040
#define INIT 0
#define MISSING \"cuMemsetD2D32Async\"
$asks"

TENON_BACKEND_PATH=$(printf %s "$TENON_BACKEND_PATH" | tr : '\n' |
  grep -v backends/cuda | tr '\n' ':') "$tenon" devices \
  > "$tap_scratch/without" 2>&1
without=$(cat "$tap_scratch/without")

says none 'no NVIDIA driver: ' 'no driver'
tap_ok $rc "and \"tenon devices\" succeeds"
[ "$others" = "$without" ]
tap_ok $? 'and lists the others as if cuda were not there'
"$top_builddir/tools/tenon" devices --json > "$tap_scratch/json" 2>&1
grep -q '"cuda"' "$tap_scratch/json"
tap_ok $? 'and in JSON too'
says bare 'libcuda.so.1 has no cuGetProcAddress_v2' 'no driver at all'
says old 'CUDA 11.8; CUDA 12.0 (driver 525) or later is needed' \
  'a driver before 12.0'
says older 'CUDA 11.8; CUDA 12.0 (driver 525) or later is needed' \
  'one that has the newer way in'
says stub 'stub' "the toolkit's stub"
says empty 'the driver has no device' 'a driver without devices'
CUDA_VISIBLE_DEVICES=-1 says empty 'CUDA_VISIBLE_DEVICES is "-1"' \
  'devices that are masked'
says broken 'cuInit answered CUDA_ERROR_UNKNOWN (999' 'a driver that fails'
says lacking 'cuMemsetD2D32Async of CUDA 3.2' \
  'a function that comes back as NULL with success'

stub=
for folder in ${NVCC:+"${NVCC%/bin/nvcc}"} /usr/local/cuda; do
  for file in "$folder"/lib*/stubs/libcuda.so; do
    [ -e "$file" ] && stub=$file
  done
done
if [ -n "$stub" ]; then
  mkdir -p "$tap_scratch/toolkit"
  ln -s "$stub" "$tap_scratch/toolkit/libcuda.so.1"
  says toolkit 'stub' "the stub of $stub"
else
  tap_skip 'no toolkit with a stub library here'
fi

printf 'x' > "$tap_scratch/text"
LD_LIBRARY_PATH=$tap_scratch/none TENON_DEVICE=auto \
  "$top_builddir/examples/textstats" "$tap_scratch/text" \
  > "$tap_scratch/out" 2>&1
tap_ok $? "D5 auto does not choose it"
LD_LIBRARY_PATH=$tap_scratch/none "$top_builddir/examples/textstats" \
  "$tap_scratch/text" --device cuda:0 > "$tap_scratch/out" 2>&1
rc=$?
[ $rc -ne 0 ] && grep -q 'no NVIDIA driver' "$tap_scratch/out"
tap_ok $? "D4 asked for by name, it is an error with the reason"
tap_done
