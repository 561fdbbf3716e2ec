#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# public_headers.sh INCLUDE_DIR - each public header compiles alone as C++23 by g++, and all of them
# together as C++20 and C++23 by g++ and by clang++, without a warning.
# (Alone as C++20, with clang++: `check-headers` of the preset lint.)
set -eu
include=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$include"

# check COMPILER STANDARD FILE
check() {
  "$1" -fsyntax-only -I"$include" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -std="$2" "$3"
}

tried=0
# Backwards: what a header needs has not come by way of its neighbour.
for header in $(find heddle -name '*.h' | sort -r); do
  echo "#include <$header>" >>"$work/all.cpp"
  printf '#include <%s>\n#include <%s>\n' "$header" "$header" >"$work/alone.cpp"
  check g++ c++2b "$work/alone.cpp" || { echo "$header alone" >&2; exit 1; }
  tried=$((tried + 1))
done
[ "$tried" -gt 20 ] || { echo "$tried headers tried: too few below $include" >&2; exit 1; }

for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || { echo "not tried: $compiler is not there"; continue; }
  check "$compiler" c++20 "$work/all.cpp"
  check "$compiler" c++2b "$work/all.cpp"
done
