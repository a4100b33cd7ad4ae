#!/bin/bash
# Makes a wheel, installs it in an environment of its own, and compares its values with those of h5py.
#
# usage: wheel.sh PYTHON SOURCES SCRATCH TRUTHDIR
# Skipped where Python has no venv, or PyPI cannot be reached.
set -euo pipefail
python=$1 sources=$2 scratch=$3 truth=$4
rm -rf "$scratch"
mkdir -p "$scratch"
if ! "$python" -m venv --system-site-packages "$scratch/user" >/dev/null || ! "$scratch/user/bin/pip" download --quiet --no-deps --dest "$scratch" build; then
  echo "skipped: no python3-venv, or no access to PyPI"
  exit 77
fi
"$sources/Packaging/wheel.sh" "$scratch/wheel" "$python" >"$scratch/log" 2>&1 || { tail -50 "$scratch/log"; echo FAILED; exit 1; }
"$scratch/user/bin/pip" install --quiet --no-deps "$scratch"/wheel/*.whl
cd "$scratch"
unset PYTHONPATH
"$scratch/user/bin/python" -c "import patchio, sys; assert patchio.__file__.startswith('$scratch'), patchio.__file__"
"$scratch/user/bin/python" -B "$sources/Testing/Python/values.py" series "$truth"
echo "passed: $(ls -s --block-size=1k wheel/*.whl)"
