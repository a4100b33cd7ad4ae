#!/bin/bash
# Runs a command under an X server of its own. Unlike `xvfb-run -a`, the server itself picks a free display, so
# that many may start at once.
#
# usage: with_display.sh COMMAND [ARGUMENT...]
set -u
# A folder of its own for temporary files, too: MPI jobs that share one for their sessions may remove it under each
# other's feet.
TMPDIR=$(mktemp -d)
export TMPDIR
# No sidecars beside the data of the source tree, nor old ones; set but empty: those beside the data after all.
export PATCHIO_METADATA_DIR=${PATCHIO_METADATA_DIR-$TMPDIR/metadata}
number=$(mktemp)
Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp -noreset 3>"$number" >/dev/null 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$TMPDIR"' EXIT
for _ in $(seq 100); do
  [ -s "$number" ] && break
  sleep 0.1
done
if ! [ -s "$number" ]; then
  echo "with_display.sh: Xvfb did not start; is the package xvfb installed?" >&2
  exit 1
fi
DISPLAY=":$(cat "$number")"
export DISPLAY
# PATCHIO_PRELOAD: a library for the programs of ParaView, such as a sanitizer for those that were built without one.
if [ -n "${PATCHIO_PRELOAD:-}" ]; then
  export LD_PRELOAD="$PATCHIO_PRELOAD${LD_PRELOAD:+:$LD_PRELOAD}"
fi
"$@"
