#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# joining_test.sh WAY HEDDLE PROBE - ranks that another launcher than `heddle run` has started.
#
# WAY: mpirun (Open MPI: PMIx), mpiexec (Hydra: PMI-1), rendezvous (none). Each: the link test is one
# job and no four, and so are a benchmark and `heddle info`; every rank meets the others and they share
# a secret; the launcher learns how ranks end, and ends the job that one aborts; a rank that never makes
# its world is waited for no longer than allowed. Skipped (77) without the launcher.
set -eu
way=$1 heddle=$2 probe=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# shellcheck source=tests/system/skip_or_fail.sh
. "$(dirname "$0")/skip_or_fail.sh"

# start N WORD...: N ranks of this program; their output in $work/out, the status returned. The
# variable of $rank tells a rank its number; $absent is what one does that makes no world: a launcher
# ends it when another one fails.
absent='exec sleep 1000'
case $way in
  mpirun)
    command -v mpirun.openmpi >/dev/null || skip "no mpirun.openmpi here (package openmpi-bin)"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    rank=OMPI_COMM_WORLD_RANK
    start() {
      n=$1; shift
      timeout 100 mpirun.openmpi --oversubscribe --bind-to none -n "$n" "$@" >"$work/out" 2>&1
    }
    ;;
  mpiexec)
    command -v mpiexec.hydra >/dev/null || skip "no mpiexec.hydra here (package mpich)"
    rank=PMI_RANK
    start() {
      n=$1; shift
      timeout 100 mpiexec.hydra -n "$n" "$@" >"$work/out" 2>&1
    }
    ;;
  rendezvous)
    rank=HEDDLE_RANK absent='exit 0'
    port=$((20000 + $$ % 10000))
    (umask 077 && head -c 32 /dev/urandom >"$work/secret")
    export HEDDLE_RENDEZVOUS=localhost:$port HEDDLE_SECRET_FILE="$work/secret"
    start() {
      n=$1; shift
      : >"$work/statuses"
      i=0
      while [ "$i" -lt "$n" ]; do
        (
          code=0
          HEDDLE_RANK=$i HEDDLE_SIZE=$n timeout 100 "$@" || code=$?
          [ "$code" = 0 ] || echo "$code" >>"$work/statuses"
        ) >>"$work/out$i" 2>&1 &
        i=$((i + 1))
      done
      wait
      cat "$work"/out[0-9]* >"$work/out"
      rm "$work"/out[0-9]*
      return "$(head -n 1 "$work/statuses" | grep . || echo 0)"
    }
    ;;
  *) echo "no way: $way" >&2; exit 1 ;;
esac

start 4 "$heddle" linktest --sizes 8,64K --messages 3 --repetitions 1 --diagnosis never --output "$work/results" ||
  fail "the link test ended with $?"
[ "$(grep -c '^4 ranks on 1 host' "$work/out")" = 1 ] || fail "the link test was not one job of 4"

start 4 "$probe" who exchange secrets exchange-most barrier || fail "the ranks did not meet ($?)"
for r in 0 1 2 3; do
  grep -q "^rank $r of 4, 4 here" "$work/out" || fail "no rank $r of 4, or not told of the others"
done

start 2 "$heddle" bench latency --rounds 1 --time-ms 20 || fail "bench ended with $?"
[ "$(grep -c '^latency am 8 B over shm, 2 ranks' "$work/out")" = 1 ] || fail "bench was not one job"

start 2 "$heddle" info || fail "info ended with $?"
[ "$(grep -c '^rank 0 of 2 on ' "$work/out")" = 1 ] || fail "info was not one job of 2"
grep -qE '^  to rank 1 .* shm' "$work/out" || fail "info says no way to rank 1"

code=0
start 2 sh -c "[ \$$rank = 1 ] || exec '$probe' join leave; '$probe' join leave fail" || code=$?
[ "$code" = 7 ] || fail "the status of a rank that ended with 7 is $code"

if [ "$way" != rendezvous ]; then # there is nobody to end a job
  code=0
  start 2 "$probe" join abort || code=$?
  [ "$code" = 42 ] || fail "the status of a job that its ranks have aborted with 42 is $code"
fi

code=0
HEDDLE_JOIN_TIMEOUT_MS=1000 start 2 sh -c "[ \$$rank = 1 ] || $absent; exec '$heddle' info" ||
  code=$?
[ "$code" != 0 ] || fail "a rank that never came was not missed"
grep -q 'HEDDLE_JOIN_TIMEOUT_MS' "$work/out" || fail "nobody says that a rank never came"
