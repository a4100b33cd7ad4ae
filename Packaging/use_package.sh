#!/bin/bash
# Installs the packages in this system and uses them as a newcomer would, without any setting: for a bare Debian, as root, in the
# folder of the sources.
#
# usage: use_package.sh DATA PACKAGE.deb...
set -euo pipefail
data=$(realpath "$1")
shift
packages=()
for package in "$@"; do
  packages+=("$(realpath "$package")")
done
export DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
apt-get -qq update
apt-get -qq install -y --no-install-recommends "${packages[@]}" >/dev/null
for name in patchio libpatchio-output1 libpatchio-dev python3-patchio python3-patchio-vtk paraview-patchio; do
  [ -s "/usr/share/doc/$name/copyright" ]
done
# No part of the packages: a display for ParaView, and its Python.
apt-get -qq install -y --no-install-recommends xvfb python3-paraview man-db g++ make cmake pkg-config >/dev/null
root=$PWD
work=$(mktemp -d)
cd "$work"

patchio --version
patchio info "$data" | head -n 3
man patchio | head -n 4
bash -c 'source /usr/share/bash-completion/completions/patchio; COMP_WORDS=(patchio in) COMP_CWORD=1; _patchio; echo "completed: ${COMPREPLY[*]}"' |
  grep "index info"

cat >read.py <<'PY'
import sys
import patchio
step = patchio.open(sys.argv[1])[-1]
name = list(step.variables)[0]
print("numpy:", name, sum(float(values.sum()) for values in step.read(name).values()))
PY
/usr/bin/python3 read.py "$data"

cat >open.py <<'PY'
import sys
from paraview.simple import *
reader = OpenDataFile(sys.argv[1])
reader.UpdatePipeline(reader.TimestepValues[-1])
view = CreateView("RenderView")
Show(reader, view)
Render(view)
SaveScreenshot("picture.png", view)
print("ParaView:", type(reader).__name__, reader.GetDataInformation().GetNumberOfCells(), "cells")
PY
"$root/Testing/ParaView/with_display.sh" timeout 120 pvbatch open.py "$data" | grep "PatchReader"
[ -s picture.png ]

cat >classes.py <<'PY'
import sys
from patchio.vtk import vtkPatchReader
reader = vtkPatchReader()
reader.AddFileName(sys.argv[1])
reader.Update()
print("classes of VTK:", reader.GetOutputDataObject(0).GetNumberOfCells(), "cells")
PY
"$root/Testing/ParaView/with_display.sh" timeout 120 pvbatch classes.py "$data" | grep "classes of VTK: [1-9]"

summary=$(dirname "$data")/$(sed -n '$p' "$data")
cmake -B build "$root/Packaging/Examples" >/dev/null
cmake --build build >/dev/null
build/core "$summary" uval
mpicxx -std=c++17 "$root/Packaging/Examples/core.cxx" -o by_pkg_config $(pkg-config --cflags --libs patchio-core)
./by_pkg_config "$summary" uval | grep "$(build/core "$summary" uval | tail -n 1)"
echo "The package works."
