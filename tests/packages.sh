#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# packages.sh - the Debian packages, as who makes and who installs them would try them. Needs root, what
# ./dev setup installs, and about 3 GB below /var/tmp.
#   sudo tests/packages.sh            # both of:
#   sudo tests/packages.sh same       # two builds of HEAD, in different places, are the same to the bit
#   sudo tests/packages.sh round [FOLDER]
#                                     # lintian; then, in a fresh Debian 12: install, try as a normal
#                                     # user, take away; then build these sources within another project
# `round` takes the packages from FOLDER: build/package/packages, where `same` and ./dev package put them.
# Where it cannot be done, it says why and ends with 77.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tests/fresh_chroot.sh
. "$source/tests/fresh_chroot.sh"
made=$source/build/package/packages

# make_packages FOLDER: of HEAD, from its sources there. No cache: what it keeps would be the same.
make_packages() {
  mkdir -p "$1"
  git -C "$source" archive "$commit" | tar -x -C "$1"
  (cd "$1" && SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct "$commit") CCACHE_DISABLE=1 ./dev package) \
    >"$1/log" 2>&1 || { tail -n 40 "$1/log"; return 1; }
}

same() {
  commit=$(git -C "$source" rev-parse HEAD)
  work=$(mktemp -d /var/tmp/heddle-packages.XXXXXX)
  if ! make_packages "$work/one" || ! make_packages "$work/another/place"; then
    rm -rf "$work"
    exit 1
  fi
  rm -rf "$made"
  mkdir -p "$made"
  cp "$work"/one/build/package/packages/*.deb "$made"
  different=
  for package in "$made"/*.deb; do
    cmp "$package" "$work/another/place/build/package/packages/$(basename "$package")" || different=1
  done
  [ -z "$different" ] || { echo "packages.sh: look at $work with diffoscope" >&2; exit 1; }
  rm -rf "$work"
  echo "two builds are the same to the bit: $(ls "$made")"
}

# round FOLDER
round() {
  why=$(why_no_chroot)
  [ -z "$why" ] || { echo "packages.sh: skipped: $why" >&2; exit 77; }
  ls "$1"/*.deb >/dev/null || { echo "packages.sh: run ./dev package first" >&2; exit 1; }
  make_chroot adduser,ca-certificates
  mkdir "$root/packages"
  cp "$1"/*.deb "$source/README.md" "$source/tests/checks/outside/main.cpp" \
    "$source/tests/package_round.sh" "$source/examples/ring.c" "$source/tests/python/everything.py" \
    "$root/packages"
  tar -c -f "$root/packages/heddle.tar" --exclude=./build --exclude=./.git --exclude=./results -C "$source" .
  enter sh /packages/package_round.sh </dev/null
  nothing_left_behind
  echo "the round is done"
}

case ${1:-both} in
  same) same ;;
  round) round "${2:-$made}" ;;
  both) same && round "$made" ;;
  *) sed -n '3,11s/^# //p' "$0" >&2; exit 2 ;;
esac
