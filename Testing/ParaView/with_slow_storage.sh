#!/bin/bash
# Shows a copy of a series through an emulated storage (Testing/Emulator) and runs a command, which finds its
# dumps.visit in PATCHIO_DATASET, and in PATCHIO_STORAGE the file that takes commands for the storage: "load 1000000"
# makes reads last for hours, "load 0" lets them end at once. Where everything lies is known, so that nothing
# but reads of values waits for the storage.
#
# usage: with_display.sh with_slow_storage.sh EMULATOR PATCHIO FOLDER COMMAND [ARGUMENT...]
#
# EMULATOR and PATCHIO are the programs patchio_slow_storage and patchio, FOLDER that of a dumps.visit.
set -u
emulator=$1 patchio=$2 folder=$3
shift 3
# A copy: what is below a mount that somebody forgets may be removed as a temporary file.
copy=$(mktemp -d) mount=$(mktemp -d) log=$(mktemp)
cp -r "$folder/." "$copy"

"$emulator" "$copy" "$mount" --latency 0 --metadata-latency 0 >"$log" 2>&1 &
storage=$!
trap 'kill "$storage" 2>/dev/null; wait "$storage"; rmdir "$mount"; rm -rf "$copy" "$log"' EXIT
for _ in $(seq 200); do
  grep -q "^ready" "$log" && break
  kill -0 $storage 2>/dev/null || break
  sleep 0.1
done
if ! grep -q "^ready" "$log"; then
  echo "skipped: no emulated storage: $(cat "$log")"
  exit 77
fi
timeout 60 "$patchio" index "$mount/dumps.visit" >/dev/null || exit 1
PATCHIO_DATASET="$mount/dumps.visit" PATCHIO_STORAGE="$mount/.emulator" "$@"
