#!/bin/bash
# Starts the ParaView GUI with the plugin, opens a series there and leaves a picture of the window: gui.py.
#
# usage: with_display.sh gui.sh DUMPS.VISIT RESULT.TXT     (PATCHIO_PLUGIN as for pvbatch.sh)
set -u
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v paraview >/dev/null; then
  echo "skipped: no program 'paraview'"
  exit 0
fi
unset PYTHONHOME PYTHONPATH
export PYTHONDONTWRITEBYTECODE=1 HWLOC_COMPONENTS=-gl PMIX_MCA_gds=hash
# Settings of the user's own must neither matter nor change, and no welcome covers the picture (--disable-registry).
HOME=$(mktemp -d)
export HOME XDG_CONFIG_HOME="$HOME/.config" XDG_RUNTIME_DIR="$HOME"
trap 'rm -rf "$HOME"' EXIT
export PATCHIO_DATASET=$1 PATCHIO_RESULT=$2
mkdir -p "$(dirname "$2")"
rm -f "$2"
timeout --kill-after=5 75 paraview --disable-registry --script="$here/gui.py"
status=$?
if ! [ -f "$2" ]; then
  echo "FAILED: paraview ended with status $status before anything could be looked at"
  exit 1
fi
cat "$2"
grep -q "^passed" "$2" && [ $status -eq 0 ]
