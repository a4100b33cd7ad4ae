#!/bin/sh
# Runs a command with Inject.c preloaded; see inject.py.
#
# usage: with_faults.sh LIBRARY PLANS COMMAND [ARGUMENT...]
library=$1 PATCHIO_INJECT=$2
shift 2
mkdir -p "$(dirname "$PATCHIO_INJECT")"
head -c 4096 /dev/zero >"$PATCHIO_INJECT"
export PATCHIO_INJECT LD_PRELOAD="$library"
exec "$@"
