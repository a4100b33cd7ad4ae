#!/bin/sh
# Runs a command where a file or folder exists; elsewhere says so and ends with 77, which ctest takes for a skipped test.
#
# usage: needs.sh PATH COMMAND [ARGUMENT...]
if ! [ -e "$1" ]; then
  echo "skipped: $1 does not exist"
  exit 77
fi
shift
exec "$@"
