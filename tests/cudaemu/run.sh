# cudaemu-run [OPTIONS] COMMAND...: runs a command with the emulated driver in
# the place of NVIDIA's. The build adds the first lines, which set `folder`.
#   --devices N         emulated GPUs, up to 8 (2)
#   --driver VERSION    CUDA version of the driver: 11.8, 12.0, 13.0 (12.0)
#   --capability X.Y    compute capability (7.5)
#   --memory BYTES      of each device (2 GiB)
#   --seed N            of delays; 0: none (1)
#   --no-peers          no device can access another's memory
#   --no-races          do not look for unordered accesses: faster
#   --fail CALL:N=CODE  the N-th call of CALL (cuMemAlloc) answers CODE;
#                       CALL:N~CODE: what it queues fails so; comma-separated
#   --trace             print every call
set_option() {
  eval "TENON_CUDAEMU_$1=\$2; export TENON_CUDAEMU_$1"
}
while [ $# -gt 0 ]; do
  case $1 in
    --devices) set_option DEVICES "$2"; shift ;;
    --driver) set_option DRIVER "$2"; shift ;;
    --capability) set_option CAPABILITY "$2"; shift ;;
    --memory) set_option MEMORY "$2"; shift ;;
    --seed) set_option SEED "$2"; shift ;;
    --fail) set_option FAIL "$2"; shift ;;
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
LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$@"
