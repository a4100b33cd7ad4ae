#!/bin/bash
# Starts a pvserver of 4 ranks, connects a client to it and runs client_server.py there.
#
# usage: with_display.sh client_server.sh DATA     (PATCHIO_PLUGIN as for pvbatch.sh)
set -u
here=$(cd "$(dirname "$0")" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader HWLOC_COMPONENTS=-gl PMIX_MCA_gds=hash
export PYTHONDONTWRITEBYTECODE=1
unset PYTHONHOME PYTHONPATH
log=$(mktemp)

stop_server() {
  kill "$server" 2>/dev/null
  wait "$server" 2>/dev/null
}

# A port that nobody uses; another process may still take it, so a second and a third are tried.
accepting=no
for _ in 1 2 3; do
  port=$((20000 + RANDOM % 20000))
  timeout --kill-after=5 100 mpirun -np 4 --oversubscribe pvserver --server-port=$port >"$log" 2>&1 &
  server=$!
  for _ in $(seq 200); do
    grep -q "Accepting connection" "$log" && accepting=yes && break
    kill -0 $server 2>/dev/null || break
    sleep 0.1
  done
  [ $accepting = yes ] && break
  stop_server
done
if [ $accepting = no ]; then
  echo "FAILED: no pvserver accepted a connection in three attempts; the last one said:"
  cat "$log"
  rm -f "$log"
  exit 1
fi

timeout --kill-after=5 80 pvpython "$here/client_server.py" "$port" "$1"
status=$?
if [ $status -ne 0 ]; then
  echo "--- pvserver said:"
  cat "$log"
fi
stop_server
rm -f "$log"
exit $status
