#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# embedded_project.sh SOURCE_DIR COMPILER - Heddle within another project, by FetchContent: the library
# alone, as an archive, without hwloc. clang++ and lld build it, several sources at once as that project
# wants it of all, and link a program with what the project installs, found by pkg-config. COMPILER is
# asked only what it would compile the archive with.
set -eu
source=$1
compiler=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

expect() {
  said=$("$1")
  [ "$said" = "rank 0 of 1" ] || { echo "$1 said: $said" >&2; exit 1; }
}
# embed FOLDER COMPILER option...
embed() {
  folder=$1 by=$2
  shift 2
  cmake -G Ninja -S "$here/embedding" -B "$folder" -DHEDDLE_SOURCE="$source" -DHEDDLE_INSTALL=ON \
    -DHEDDLE_HWLOC=OFF -DHEDDLE_BATCHES=OFF -DCMAKE_CXX_COMPILER="$by" -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_BUILD_TYPE=Release -Dexpected_CMAKE_BUILD_TYPE=Release "$@" >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
}

# Code that only this compiler's linker reads has no place in an archive.
embed "$work/asked" "$compiler" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
grep -q '/src/engine/lane.cpp' "$work/asked/compile_commands.json" || { echo "no Heddle in it" >&2; exit 1; }
! grep -q -e -flto "$work/asked/compile_commands.json" ||
  { echo "the archive would be compiled with -flto" >&2; exit 1; }

if ! command -v clang++ >/dev/null || ! command -v ld.lld >/dev/null; then
  echo "skipped: no clang++ with lld"
  exit 77
fi
embed "$work/build" clang++ -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS_RELEASE=-O0 \
  -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld
cmake --build "$work/build" >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }
expect "$work/build/embedding"
cmake --install "$work/build" >"$work/log" || { cat "$work/log"; exit 1; }

# Nothing but the library and what belongs to it.
others=$(find "$prefix" -path '*/bin/*' -o -path '*/libexec/*' -o -name '*.so*')
[ -z "$others" ] || { echo "the library alone has brought: $others" >&2; exit 1; }

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name heddle.pc)")
export PKG_CONFIG_PATH
! pkg-config --print-requires heddle | grep -q hwloc || { echo "heddle.pc asks for hwloc" >&2; exit 1; }
for linker in "clang++ -fuse-ld=lld" "$compiler"; do
  # shellcheck disable=SC2046,SC2086 # several flags
  $linker -std=c++20 "$here/outside/main.cpp" -o "$work/program" $(pkg-config --cflags --libs heddle)
  expect "$work/program"
done
