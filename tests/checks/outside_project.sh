#!/bin/sh
# outside_project.sh BUILD_DIR COMPILER - installs a build into an empty prefix, then builds and runs
# a project that finds it there, once by find_package(heddle) and once by pkg-config.
set -eu
build=$1
compiler=$2
source=$(cd "$(dirname "$0")/outside" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

expect() {
  said=$("$1")
  [ "$said" = "rank 0 of 1" ] || { echo "$1 said: $said" >&2; exit 1; }
}

cmake --install "$build" --prefix "$prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }

cmake -G Ninja -S "$source" -B "$work/by_cmake" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
cmake --build "$work/by_cmake"
expect "$work/by_cmake/outside"

pc=$(dirname "$(find "$prefix" -name heddle.pc)")
flags=$(PKG_CONFIG_PATH=$pc pkg-config --define-prefix --cflags --libs heddle)
libraries=$(PKG_CONFIG_PATH=$pc pkg-config --define-prefix --variable=libdir heddle)
# shellcheck disable=SC2086 # several flags
"$compiler" -std=c++20 "$source/main.cpp" -o "$work/by_pkg_config" $flags "-Wl,-rpath,$libraries"
expect "$work/by_pkg_config"
