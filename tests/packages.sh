#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# packages.sh - the Debian packages, as who makes and who installs them would try them. For maintainers;
# needs root, debootstrap, what ./dev setup installs, and about 3 GB below /var/tmp.
#   sudo tests/packages.sh            # both of:
#   sudo tests/packages.sh same       # two builds of HEAD, in different places, are the same to the bit
#   sudo tests/packages.sh round      # lintian; then, in a fresh Debian 12: install, try as a normal
#                                     # user, take away; then build HEAD within another project
# `round` takes the packages from build/package/packages, where `same` and ./dev package put them.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" = 0 ] || { echo "packages.sh: needs root" >&2; exit 1; }
# shellcheck source=tests/fresh_chroot.sh
. "$source/tests/fresh_chroot.sh"
packages=$source/build/package/packages
commit=$(git -C "$source" rev-parse HEAD)

# make_packages FOLDER: of HEAD, from its sources there. No cache: what it keeps would be the same.
make_packages() {
  mkdir -p "$1"
  git -C "$source" archive "$commit" | tar -x -C "$1"
  (cd "$1" && SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct "$commit") CCACHE_DISABLE=1 ./dev package) \
    >"$1/log" 2>&1 || { tail -n 40 "$1/log"; return 1; }
}

same() {
  work=$(mktemp -d /var/tmp/heddle-packages.XXXXXX)
  if ! make_packages "$work/one" || ! make_packages "$work/another/place"; then
    rm -rf "$work"
    exit 1
  fi
  rm -rf "$packages"
  mkdir -p "$packages"
  cp "$work"/one/build/package/packages/*.deb "$packages"
  different=
  for package in "$packages"/*.deb; do
    cmp "$package" "$work/another/place/build/package/packages/$(basename "$package")" || different=1
  done
  [ -z "$different" ] || { echo "packages.sh: look at $work with diffoscope" >&2; exit 1; }
  rm -rf "$work"
  echo "two builds are the same to the bit: $(ls "$packages")"
}

round() {
  ls "$packages"/*.deb >/dev/null || { echo "packages.sh: run ./dev package first" >&2; exit 1; }
  make_chroot adduser,ca-certificates
  mkdir "$root/packages"
  cp "$packages"/*.deb "$source/README.md" "$source/tests/checks/outside/main.cpp" \
    "$source/tests/package_round.sh" "$source/examples/ring.c" "$source/tests/python/everything.py" \
    "$root/packages"
  git -C "$source" archive -o "$root/packages/heddle.tar" "$commit"
  enter sh /packages/package_round.sh </dev/null
  nothing_left_behind
  echo "the round is done"
}

case ${1:-both} in
  same) same ;;
  round) round ;;
  both) same && round ;;
  *) sed -n '2,8s/^# //p' "$0" >&2; exit 2 ;;
esac
