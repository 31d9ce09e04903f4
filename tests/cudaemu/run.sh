# cudaemu-run [OPTIONS] COMMAND...: runs a command with the emulated driver in
# the place of NVIDIA's. The build adds the first lines, which set `folder`,
# `objects` and the path of plugins.
#   --devices N         emulated GPUs, up to 8 (2)
#   --driver VERSION    CUDA version of the driver: 11.8, 12.0, 13.0 (12.0)
#   --capability X.Y    compute capability (7.5)
#   --memory BYTES      of each device (2 GiB)
#   --seed N            of delays; 0: none (1)
#   --mixed             board 0 is slower, so that the driver numbers it last
#   --order-ignored     CUDA_DEVICE_ORDER does not count
#   --nvml HOW          NVIDIA's management library: works, none, mismatch (of
#                       another version than the driver), lost (the last board
#                       fell out), fewer (the last board is not shown), mig
#                       (the first board is divided), old (works)
#   --peers PAIRS       boards that can access each other's memory: 0-1,2>1:
#                       0 and 1 each other's, 2 that of 1; all, none (all)
#   --no-peers          --peers none
#   --no-races          do not look for unordered accesses: faster
#   --fail CALL:N=CODE  the N-th call of CALL (cuMemAlloc) answers CODE;
#                       CALL:N~CODE: what it queues fails so, and a later call
#                       tells, by the seed; comma-separated
#   --without CALL      the driver does not have it
#   --trace             print every call
set_option() {
  eval "TENON_CUDAEMU_$1=\$2; export TENON_CUDAEMU_$1"
}
nvml=works
while [ $# -gt 0 ]; do
  case $1 in
    --devices) set_option DEVICES "$2"; shift ;;
    --driver) set_option DRIVER "$2"; shift ;;
    --capability) set_option CAPABILITY "$2"; shift ;;
    --memory) set_option MEMORY "$2"; shift ;;
    --seed) set_option SEED "$2"; shift ;;
    --fail) set_option FAIL "$2"; shift ;;
    --without) set_option WITHOUT "$2"; shift ;;
    --nvml)
      nvml=$2 how=$2
      case $2 in none | works) how= ;; esac
      set_option NVML "$how"
      shift ;;
    --peers) set_option PEERS "$2"; shift ;;
    --mixed) set_option MIXED 1 ;;
    --order-ignored) set_option ORDER_IGNORED 1 ;;
    --no-peers) set_option PEERS none ;;
    --no-races) set_option RACES 0 ;;
    --trace) set_option TRACE 1 ;;
    -*) echo "EMULATED: cudaemu-run has no option $1" >&2; exit 99 ;;
    *) break ;;
  esac
  shift
done
if [ $# -eq 0 ]; then
  echo 'EMULATED: cudaemu-run [OPTIONS] COMMAND...' >&2
  exit 99
fi
case ${TENON_CUDAEMU_DRIVER:-} in
  11.*) libraries=$folder/old/$objects ;;
  *) libraries=$folder/$objects ;;
esac
[ "$nvml" = none ] || libraries=$libraries:$folder/nvml/$objects
LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
# Looking into threads' own memory, LeakSanitizer of gcc 12 ends by a fault of
# its own where the double is loaded.
LSAN_OPTIONS="${LSAN_OPTIONS:-}:use_tls=0:suppressions=$leaks"
export LSAN_OPTIONS
exec "$@"
