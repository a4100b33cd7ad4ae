#!/bin/bash
# Starts the ParaView GUI, which runs SCRIPT: that writes RESULT.TXT, its first line beginning with "passed" where all is
# well, and ends the program.
#
# usage: with_display.sh gui.sh SCRIPT RESULT.TXT     (PATCHIO_PLUGIN as for pvbatch.sh)
set -u
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v paraview >/dev/null; then
  echo "skipped: no program 'paraview'"
  exit 77
fi
unset PYTHONHOME
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 HWLOC_COMPONENTS=-gl HWLOC_HIDE_ERRORS=2 PMIX_MCA_gds=hash
# Settings of the user's own must neither matter nor change, and no welcome covers the picture (--disable-registry).
HOME=$(mktemp -d)
export HOME XDG_CONFIG_HOME="$HOME/.config" XDG_RUNTIME_DIR="$HOME"
trap 'rm -rf "$HOME"' EXIT
export PATCHIO_RESULT=$2
mkdir -p "$(dirname "$2")"
rm -f "$2"
timeout --kill-after=5 "${PATCHIO_TIMEOUT:-75}" paraview --disable-registry --script="$here/$1"
status=$?
if ! [ -f "$2" ]; then
  echo "FAILED: paraview ended with status $status before anything could be looked at"
  exit 1
fi
cat "$2"
grep -q "^skipped" "$2" && exit 77
grep -q "^passed" "$2" && [ $status -eq 0 ]
