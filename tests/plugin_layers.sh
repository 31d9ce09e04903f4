#!/bin/sh
# TENON_LAYERS: which layers are found and refused, and the layer `fault`: the
# core's answers when an entry fails.
# shellcheck disable=SC2086 # options are words
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
tenon=$top_builddir/tools/tenon
textstats=$top_builddir/examples/textstats
text=$top_srcdir/docs/tour.md
unset TENON_DEVICE TENON_LAYERS

# refused LAYERS PART TEXT: a device is refused, and told why.
refused() {
  said=$(TENON_LAYERS=$1 "$textstats" "$text" 2>&1 >/dev/null)
  [ $? -ne 0 ]
  tap_ok $? "TENON_LAYERS=$1 is refused"
  tap_has "$said" "$2" "$3"
}

refused nothing 'unknown layer "nothing": installed are ' \
  "an unknown layer names those installed"
refused nothing 'looked for in ' "and the places searched"
refused Fault 'unknown layer "Fault"' "an illegal name is refused"
refused fault 'entry=: accepted are' "a layer's own options are checked"
refused trace,,trace 'an empty name' "an empty name is refused"
refused n=1,fault 'the option "n=1" comes before' \
  "an option before a name is refused"
refused fault:x=1 'option "x=1": accepted are entry=' \
  "an unknown option names the accepted ones"
refused fault:entry=copy.move,status=FORKED 'accepted are copy.copy' \
  "an unknown entry names those of its table"
refused fault:entry=copy.copy,status=GONE 'accepted are INVALID_ARGUMENT' \
  "an unknown status names the accepted ones"
refused fault:entry=copy.copy,n=0,status=FORKED 'n=0: the number of a call' \
  "call 0 is refused"
refused fault:entry=alloc.free,status=FORKED 'alloc.free: accepted are' \
  "an entry without a status cannot fail"
refused fault:entry=copy.copy,status=FORKED,late=1 'late=1: accepted are yes' \
  "late is yes or no"
refused fault:entry=alloc.alloc,status=OUT_OF_MEMORY,late=yes \
  'alloc.alloc queues nothing' "what queues no work cannot fail later"
for layers in race,race race,trace:file=/dev/null,race:exit=3; do
  refused $layers 'layer "race"' "race is there once"
  tap_has "$said" 'is chosen twice: one sees all accesses' "it says why"
done
refused race:extents="$top_srcdir/README.md" 'accepted is MODULE/KERNEL' \
  "each backend refuses a file that is no list of extents"
refused trace:file=/nowhere/x.json 'cannot be written' \
  "a trace that cannot be written is refused"

said=$(TENON_LAYERS=nothing "$tenon" doctor)
tap_has "$said" 'Layers: BROKEN: TENON_LAYERS: unknown layer "nothing"' \
  "doctor tells what is wrong"
one=fault:entry=copy.copy,n=1,status=FORKED
said=$(TENON_LAYERS=trace:file=x,$one "$tenon" doctor)
tap_has "$said" 'Layers around every backend, outermost first:
  trace:file=x: ' "doctor lists layers with their options"
tap_has "$said" "  $one: " "in order"
said=$("$tenon" doctor | grep '^Layers')
tap_empty "$said" "and says nothing when there are none"
said=$(TENON_BACKEND_PATH=$top_builddir/layers/.libs "$tenon" doctor |
  grep 'tenon-layer')
tap_empty "$said" "a layer is no candidate for a backend"

# ---- nothing lies between the core and a backend that no layer wraps: the
# entries of the tables are called by the library itself.

# called FILE: by it, each allocation and copy of a program.
called() {
  rm -f "$tap_scratch/log"
  TENON_BACKEND_PATH=$top_builddir/tests/plugins/.libs/tenon-fake.so:$paths \
    TENON_FAKE_LOG=$tap_scratch/log TENON_FAKE_CALLERS=1 \
    "$textstats" "$text" --device fake >/dev/null 2>"$tap_scratch/err"
  status=$?
  for entry in alloc copy; do
    said=$(grep "^fake $entry by" "$tap_scratch/log" | sort -u)
    [ $status -eq 0 ] && [ "$said" = "fake $entry by $1" ]
    tap_ok $? "$entry of a backend is called by $1"
    [ "$said" = "fake $entry by $1" ] ||
      printf '%s\n' "$said" | cat - "$tap_scratch/err" | sed 's/^/# /'
  done
}

paths=$TENON_BACKEND_PATH
library=$(basename "$(ls "$top_builddir"/.libs/libtenon.so.0)")
called "$library"
TENON_LAYERS=fault:entry=copy.copy,n=1000000,status=FORKED
export TENON_LAYERS
called tenon-layer-fault.so
unset TENON_LAYERS

# ---- faults: the program ends with the error, and not in another way.

"$textstats" "$text" >"$tap_scratch/wanted"

# fails OPTIONS PART: textstats on $device reports it.
fails() {
  said=$(TENON_LAYERS=fault:$1 "$textstats" "$text" --device $device 2>&1 \
    >/dev/null)
  [ $? -eq 1 ]
  tap_ok $? "$device: $1 ends textstats"
  tap_has "$said" "$2" "$device: $1 is told"
}

# survives OPTIONS: or does without.
survives() {
  TENON_LAYERS=fault:$1 "$textstats" "$text" --device $device \
    >"$tap_scratch/out" 2>"$tap_scratch/err"
  [ $? -eq 0 ] && cmp -s "$tap_scratch/out" "$tap_scratch/wanted"
  tap_ok $? "$device: $1 is got over"
  sed 's/^/# /' "$tap_scratch/err"
}

charlm=$top_builddir/examples/charlm/charlm
tiny="--text $text --steps 3 --sample 2 --batch 1 --context 4 --width 8"
tiny="$tiny --heads 2 --layers 1"

TENON_CPU_DEVICES=4
export TENON_CPU_DEVICES
devices='cpu cpu:2'
for name in opencl remote; do
  "$tenon" devices 2>/dev/null | grep "^$name" | grep -qv ' unavailable: ' &&
    devices="$devices $name:0"
done
for device in $devices; do
  layer='the fault layer fails call'
  fails device.open,status=DEVICE_UNAVAILABLE 'option "device.open"'
  fails entry=device.open,status=DEVICE_UNAVAILABLE "$layer 1 of device.open"
  fails entry=device.count,status=DEVICE_UNAVAILABLE \
    "$layer 1 of device.count"
  fails entry=alloc.alloc,n=1+,status=OUT_OF_MEMORY \
    'no pinned memory for 4194304 bytes'
  fails entry=alloc.alloc,n=3+,status=OUT_OF_MEMORY "no memory for "
  case $device in
    remote*) ;; # has no copy.fill
    *) fails entry=copy.fill,n=2,status=LAUNCH_FAILED "$layer 2 of copy.fill" ;;
  esac
  fails entry=copy.copy,status=LAUNCH_FAILED "$layer 1 of copy.copy"
  fails entry=launch.module_load,status=COMPILE_FAILED \
    "$layer 1 of launch.module_load"
  fails entry=launch.kernel_get,n=2,status=INVALID_ARGUMENT \
    "$layer 2 of launch.kernel_get"
  fails entry=launch.launch,n=3,status=LAUNCH_FAILED \
    "$layer 3 of launch.launch"
  fails entry=stream.create,status=OUT_OF_MEMORY \
    "$layer 1 of stream.create"
  fails entry=launch.launch,n=1+,status=DEVICE_LOST \
    "$layer 1 of launch.launch"
  for entry in launch.launch copy.copy; do
    fails entry=$entry,n=2,status=LAUNCH_FAILED,late=yes "$layer 2 of $entry"
  done
  survives entry=launch.launch,n=100000,status=LAUNCH_FAILED
  survives entry=device.reset,status=LAUNCH_FAILED
  # Told by the call that waits, where the work was queued.
  "$tenon" conform $device --filter S6-stream,S6-copy >"$tap_scratch/out"
  [ $? -eq 0 ] && ! grep -q 'SKIP' "$tap_scratch/out"
  tap_ok $? "S6 $device: what fails late is told by the next call that waits"
  "$charlm" $tiny --device $device >"$tap_scratch/lines"
  TENON_LAYERS=fault:entry=launch.launch,n=1000000,status=LAUNCH_FAILED \
    "$charlm" $tiny --device $device >"$tap_scratch/out" &&
    cmp "$tap_scratch/out" "$tap_scratch/lines"
  tap_ok $? "$device: charlm with a fault to come prints the same lines"
  survives \
    entry=stream.flush,n=100000,status=LAUNCH_FAILED,fault:entry=device.reset,status=FORKED
done
tap_done
