#!/bin/bash
# Starts a pvserver and runs a command beside it, which finds its port in PATCHIO_PORT. 0 ranks: no server.
#
# usage: with_display.sh with_server.sh RANKS COMMAND [ARGUMENT...]
#
# PATCHIO_TIMEOUT  seconds for the command, 100 by default
set -u
ranks=$1
shift
[ "$ranks" -eq 0 ] && exec timeout --kill-after=5 "${PATCHIO_TIMEOUT:-100}" "$@"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader HWLOC_COMPONENTS=-gl HWLOC_HIDE_ERRORS=2 PMIX_MCA_gds=hash
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
  timeout --kill-after=5 "${PATCHIO_TIMEOUT:-100}" \
    mpirun -np "$ranks" --oversubscribe pvserver --server-port=$port >"$log" 2>&1 &
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

PATCHIO_PORT=$port timeout --kill-after=5 "${PATCHIO_TIMEOUT:-100}" "$@"
status=$?
if [ $status -ne 0 ]; then
  echo "--- pvserver said:"
  cat "$log"
fi
stop_server
rm -f "$log"
exit $status
