#!/bin/bash
# Runs a script in ParaView's pvbatch on NP ranks, every rank running it, without a display.
#
# usage: pvbatch.sh NP SCRIPT [ARGUMENT...]
#
# PATCHIO_PLUGIN   PatchIO.so for the script to load; required by the scripts here
# PATCHIO_TIMEOUT  seconds, 300 by default: a parallel ParaView that hangs spins on all ranks
# PATCHIO_PVBATCH_MODE  "symmetric" (default) or "root": rank 0 alone runs the script, as users do
set -u
: "${PATCHIO_PLUGIN:?set it to the path of PatchIO.so}"
np=$1
shift

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# No search for networks: it costs time, and all ranks are on this machine.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
# MPI does not look at the X servers of other tests; one that ends would take this process with it.
# PMIx keeps no data in shared memory (PMIX_MCA_gds), where jobs that end at once now and then meet.
export HWLOC_COMPONENTS=-gl HWLOC_HIDE_ERRORS=2 PMIX_MCA_gds=hash
export PYTHONDONTWRITEBYTECODE=1
# A Python of the user's own (pyenv, conda) must not leak into the one that ParaView embeds.
unset PYTHONHOME PYTHONPATH

# See ParseXmlAtOnce.c; with_display.sh loads it.
preload="${PATCHIO_PLUGIN%/lib/paraview-*}/Testing/ParaView/libpatchio_parse_xml_at_once.so"
if [ -e "$preload" ]; then
  export PATCHIO_PRELOAD="${PATCHIO_PRELOAD:-$preload}"
fi

mode=()
if [ "${PATCHIO_PVBATCH_MODE:-symmetric}" = symmetric ] && [ "$np" -gt 1 ]; then
  mode=(--symmetric)
fi
launch=()
if [ "$np" -gt 1 ]; then
  launch=(mpirun -np "$np" --oversubscribe)
fi
# timeout stands inside, so that a killed run still takes its X server down.
exec "$(dirname "$0")/with_display.sh" timeout --kill-after=10 "${PATCHIO_TIMEOUT:-300}" "${launch[@]}" pvbatch "${mode[@]}" "$@"
