#!/bin/sh
# Writes the data sets of this folder again: make.sh path/to/patchio-linadv [folder, default: this one]
# Equal values come out, and equal bytes with the same program and HDF5.
set -e
linadv=${1:?"usage: make.sh path/to/patchio-linadv [folder]"}
folder=${2:-$(dirname "$0")}
export SOURCE_DATE_EPOCH=1700000000
run() { mpiexec --oversubscribe -n "$@"; }

run 3 "$linadv" --output "$folder/linadv_2d" --overwrite \
  --cells 20,10 --patch 10 --levels 3 --ratio 2 \
  --radius 0.08 --centre 0.2,0.15 --velocity 1,0.3 \
  --steps 60 --dump-every 15 --regrid-every 1 --tag-buffer 1 --tag-threshold 0.1 \
  --node-variable --vector-variable

run 4 "$linadv" --output "$folder/linadv_3d" --overwrite \
  --cells 16,8,8 --patch 8 --levels 3 --ratio 2 \
  --radius 0.1 --centre 0.18,0.18,0.22 --velocity 1,0.3,0.1 \
  --steps 48 --dump-every 16 --regrid-every 1 --tag-buffer 1 --tag-threshold 0.1
