#!/bin/bash
# Runs a command on PatchIO's sources in another Debian than this machine's: in a folder of its own, by debootstrap and chroot.
#
# usage: in_debian.sh SUITE FOLDER COMMAND [ARGUMENT...]
#   SUITE    Debian's name for the release, such as trixie
#   FOLDER   where that system lies; made where it is missing, used again by later runs
#   COMMAND  runs in /patchio, where a copy of the sources lies; its build folder is kept from run to run
#
# Where CCACHE_DIR names a folder of ccache's, compilers in that system use it, too.
#
# Mounts are made in a name space of the script's own, so none is left behind. Ends with 77, and says why, where this machine
# cannot do it.
set -euo pipefail
source=$(dirname "$(dirname "$(readlink -f "$0")")")
suite=$1
mkdir -p "$2"
system=$(realpath "$2")
shift 2

skip() {
  echo "skipped: $*"
  exit 77
}

[ "$(id -u)" -eq 0 ] || skip "another Debian needs root, for debootstrap and chroot"
command -v debootstrap >/dev/null || skip "the package debootstrap is missing"
unshare --mount true 2>/dev/null || skip "this system does not allow mounts (unshare --mount)"

if [ ! -e "$system/made" ]; then
  echo "Fetching Debian $suite into $system"
  # An old debootstrap does not know the names of later releases, which are made like sid.
  scripts=/usr/share/debootstrap/scripts
  script=$scripts/$suite
  [ -e "$script" ] || script=$scripts/sid
  debootstrap --variant=minbase "$suite" "$system" http://deb.debian.org/debian "$script" >"$system.log" 2>&1 ||
    skip "debootstrap could not fetch Debian $suite; see $system.log"
  # A mirror may be a snapshot of some weeks ago.
  echo 'Acquire::Check-Valid-Until "false";' >"$system/etc/apt/apt.conf.d/99snapshot"
  touch "$system/made"
fi

# The sources as they are here, with times, so that a later run builds only what has changed.
mkdir -p "$system/patchio"
find "$system/patchio" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git -c safe.directory="$source" -C "$source" ls-files -z --cached --others --exclude-standard |
  (cd "$source" && tar --create --null --ignore-failed-read --files-from=- 2>/dev/null) | tar --extract --directory "$system/patchio"

# With the real data sets beside the sources where there are any. The root is a mount, as tools that look for mounts expect.
enter='
  system=$1 source=$2; shift 2
  mount --rbind "$system" "$system"
  mount -t proc proc "$system/proc"; mount --rbind /sys "$system/sys"; mount --rbind /dev "$system/dev"
  cp /etc/resolv.conf "$system/etc/resolv.conf"
  if [ -d "$source/../shared" ]; then
    mkdir -p "$system/shared"; mount --bind "$source/../shared" "$system/shared"
  fi
  settings=()
  if [ -d "${CCACHE_DIR:-}" ]; then
    mkdir -p "$system/ccache"; mount --bind "$CCACHE_DIR" "$system/ccache"
    chroot "$system" sh -c "command -v ccache || { apt-get -qq update; apt-get -qq install -y --no-install-recommends ccache; }" >/dev/null
    settings=(CCACHE_DIR=/ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_C_COMPILER_LAUNCHER=ccache)
  fi
  exec chroot "$system" env -i --chdir=/patchio HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "${settings[@]}" "$@"'
exec unshare --mount --propagation private bash -euc "$enter" enter "$system" "$source" "$@"
