#!/bin/bash
# Runs a test program on NP ranks, with a folder of its own for temporary files and sidecars.
#
# usage: mpi_test.sh MPIEXEC NP PROGRAM [ARGUMENT...]
set -u
mpiexec=$1 np=$2
shift 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# No search for networks, no look at the X servers of other tests; waiting ranks leave the core to others.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader HWLOC_COMPONENTS=-gl HWLOC_HIDE_ERRORS=2 OMPI_MCA_mpi_yield_when_idle=1
# MPI jobs that share a folder for their sessions may remove it under each other's feet.
TMPDIR=$(mktemp -d)
export TMPDIR PATCHIO_METADATA_DIR="$TMPDIR/metadata"
trap 'rm -rf "$TMPDIR"' EXIT
timeout --kill-after=5 "${PATCHIO_TIMEOUT:-220}" "$mpiexec" -n "$np" --oversubscribe "$@"
