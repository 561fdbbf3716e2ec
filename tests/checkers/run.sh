#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh CHECKER HEDDLE CLIENT SUPPRESSIONS WIRE - CLIENT as a job of two over WIRE under a checker, which must
# have nothing to say. WIRE overrun or race: alone, with that mistake at its end, which must be found.
# Skipped (77) where the checker itself cannot run.
set -u
checker=$1 heddle=$2 client=$3 suppressions=$4 wire=$5
log=$(mktemp)
trap 'rm -f "$log"' EXIT

export TSAN_OPTIONS="suppressions=$suppressions:ignore_interceptors_accesses=1" ASAN_OPTIONS=
export HEDDLE_PEER_TIMEOUT_MS=600000 HEDDLE_JOIN_TIMEOUT_MS=600000 # checkers are slow
set -- "$client"
if [ "$checker" = valgrind ]; then
  set -- valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite "$client"
fi
case $wire in
  overrun) found='heap-buffer-overflow|Invalid read of size 1' ;;
  race) found='ThreadSanitizer: data race' ;;
  *) found= ;;
esac

if [ -n "$found" ]; then
  "$@" "$wire" >"$log" 2>&1
  status=$?
else
  HEDDLE_BACKENDS=$wire "$heddle" run -n 2 -- "$@" >"$log" 2>&1
  status=$?
fi
cat "$log"
if grep -q 'unexpected memory mapping' "$log"; then
  echo "skipped: this kernel lays out memory as the sanitizer does not know it (sysctl vm.mmap_rnd_bits=28)"
  exit 77
fi
[ -n "$found" ] || exit "$status"
[ "$status" -ne 0 ] && grep -Eq "$found" "$log"
