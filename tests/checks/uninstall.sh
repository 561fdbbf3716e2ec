#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# uninstall.sh BUILD_DIR - installs a build by components and below DESTDIR, looks whether each has its
# own, whether heddle.pc leads to where things are, and whether `uninstall` takes all of it away.
set -eu
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DESTDIR="$work/image"

fail() {
  echo "$*" >&2
  find "$DESTDIR" -type f -o -type l >&2
  exit 1
}
add() {
  cmake --install "$build" --prefix /opt/looms --component "$1" >"$work/log" || { cat "$work/log"; exit 1; }
}
has() {
  find "$DESTDIR" -path "$1" | grep -q . || fail "missing: $1"
}
has_not() {
  ! find "$DESTDIR" -path "$1" | grep -q . || fail "too early: $1"
}

# What others have in the prefix stays.
mkdir -p "$DESTDIR/opt/looms/lib"
echo kept >"$DESTDIR/opt/looms/lib/of_others"

add library
has '*/lib*/libheddle.so.0'
has_not '*/lib*/libheddle.so'
has_not '*/include/*'
add development
has '*/include/heddle/heddle.h'
has '*/lib*/libheddle.so'
has '*/share/heddle/tsan.supp'
has_not '*/bin/heddle'
prefix=$(PKG_CONFIG_PATH=$(dirname "$(find "$DESTDIR" -name heddle.pc)") \
  pkg-config --variable=prefix heddle)
[ "$(realpath "$prefix")" = "$(realpath "$DESTDIR/opt/looms")" ] || fail "heddle.pc says: $prefix"
add tools
has '*/bin/heddle'
has_not '*/share/heddle/plot.py'
add bench
has '*/share/heddle/plot.py'

cmake --build "$build" --target uninstall >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
left=$(find "$DESTDIR" -type f -o -type l -o -name heddle)
[ "$left" = "$DESTDIR/opt/looms/lib/of_others" ] || fail "uninstall has left: $left"
