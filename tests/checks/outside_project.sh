#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# outside_project.sh BUILD_DIR COMPILER - installs a build into an empty prefix, then builds and runs
# projects that find it there: a program, once by find_package(heddle) and once by pkg-config, a library
# that Python loads, and a backend, over which it runs the link tester, examples and the contract suite.
set -eu
build=$1
compiler=$2
source=$(cd "$(dirname "$0")/outside" && pwd)
backend=$(cd "$(dirname "$0")/../../examples/backend" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

expect() {
  said=$("$1")
  [ "$said" = "rank 0 of 1" ] || { echo "$1 said: $said" >&2; exit 1; }
}

cmake --install "$build" --prefix "$prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }

# What Heddle itself stands on is hidden from them: a shared library's user needs none of it.
cmake -G Ninja -S "$source" -B "$work/by_cmake" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON >/dev/null
cmake --build "$work/by_cmake"
expect "$work/by_cmake/outside"

# Loaded by a program that did not link it; over utofu with its hooks in a process that runs already.
library=$(find "$prefix" -name libheddle.so.0)
for backends in shm utofu; do
  [ "$backends" = shm ] || [ -n "$(find "$prefix" -name "backend_$backends.so")" ] || continue
  HEDDLE_BACKENDS=$backends python3 "$source/load.py" "$library" "$work/by_cmake/libplugin.so" 1
  "$prefix/bin/heddle" run -n 2 --env HEDDLE_BACKENDS=$backends -- \
    python3 "$source/load.py" "$library" "$work/by_cmake/libplugin.so" 2
done

pc=$(dirname "$(find "$prefix" -name heddle.pc)")
flags=$(PKG_CONFIG_LIBDIR=$pc pkg-config --cflags --libs heddle)
libraries=$(PKG_CONFIG_LIBDIR=$pc pkg-config --variable=libdir heddle)
for flag in $flags; do
  case $flag in
    -I*/include | -L*/lib* | -lheddle) ;;
    *) echo "heddle.pc hands on $flag" >&2; exit 1 ;;
  esac
done
# shellcheck disable=SC2086 # several flags
"$compiler" -std=c++20 "$source/main.cpp" -o "$work/by_pkg_config" $flags "-Wl,-rpath,$libraries"
expect "$work/by_pkg_config"

cmake -G Ninja -S "$backend" -B "$work/backend" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
cmake --build "$work/backend"
export HEDDLE_MODULE_PATH="$work/backend" HEDDLE_STRICT=1 HEDDLE_UNIX_MESSAGE_BYTES=8K
heddle=$(find "$prefix" -name heddle -path '*bin*')
cd "$work"
"$heddle" linktest -n 3 --backend unix --messages 20 --sizes 8,100K >"$work/linktest.log" ||
  { cat "$work/linktest.log"; exit 1; }
for example in hello put_get active_message tagged_ping_pong histogram coroutine; do
  "$heddle" run -n 3 --env HEDDLE_BACKENDS=unix -- "$build/examples/$example" >"$work/example.log" 2>&1 ||
    { echo "$example over unix:"; cat "$work/example.log"; exit 1; }
done
"$build/bin/contract_test" --gtest_brief=1 --gtest_filter='*/unix' >"$work/contract.log" 2>&1 ||
  { cat "$work/contract.log"; exit 1; }
