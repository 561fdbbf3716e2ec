#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# cross.sh - cross-compiles Heddle and runs under qemu-user what of its tests runs there. For
# maintainers: it takes long, so neither ctest nor CI does it.
#   tests/cross.sh [PRESET [TEST...]]     # aarch64 (default) or fx1000; default: the tests below
# qemu shows wrong sizes, instructions and system calls. What it does not show is weak memory
# ordering: on x86 it orders as x86 does.
set -eu
cd "$(dirname "$0")/.."
preset=${1:-aarch64}
[ $# = 0 ] || shift

# Programs that start others (heddle run) are left out: to exec one of the other architecture, this
# machine's kernel would have to know of qemu.
[ $# -gt 0 ] || set -- \
  sync_test base_test protocols_test memory_test tofu_test shm_test utofu_test contract_test

./dev setup --cross
cmake --preset "$preset" --log-level=NOTICE >/dev/null
cmake --build --preset "$preset" --target "$@"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
for test in "$@"; do
  code=0
  timeout 600 qemu-aarch64 -L build/sysroot/arm64 "build/$preset/bin/$test" \
    --gtest_brief=1 --gtest_output="xml:$work/$test.xml" >"$work/$test" 2>&1 || code=$?
  grep -E '^\[  (PASSED|FAILED|SKIPPED) *\]' "$work/$test" | sort -u >"$work/summary" || :
  printf '%-26s exit %3d  %s\n' "$test" "$code" "$(sed -n 's/^\[  PASSED  \] //p' "$work/summary")"
  grep -v PASSED "$work/summary" | sed 's/^/    /' || :
  [ "$code" = 0 ] || failures=$((failures + 1))
done
echo "$failures of $# programs failed"
[ "$failures" = 0 ]
