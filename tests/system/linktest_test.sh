#!/bin/sh
# linktest_test.sh - heddle linktest as a user meets it: complete files over each wire, refusals that
# name the cure, and nothing left behind by Ctrl-C.
#
#   linktest_test.sh HEDDLE LINKTEST_CHECK UTOFU     UTOFU: vendor, emulated or off
set -u
heddle=$1
check=$2
utofu=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $*"
  sed 's/^/  | /' "$work/out" "$work/err"
  failures=$((failures + 1))
}

# expect STATUS ARGUMENTS...: runs the program and compares its exit status.
expect() {
  want=$1
  shift
  "$heddle" "$@" >"$work/out" 2>"$work/err"
  got=$?
  [ "$got" -eq "$want" ] || fail "heddle $*: exit status $got, not $want"
}

says() { # FILE TEXT
  grep -q -e "$2" "$work/$1" || fail "nothing about '$2' in $1"
}

measure() { # RANKS ARGUMENTS...
  ranks=$1
  shift
  expect 0 linktest -n "$ranks" --sizes 8,4K --messages 5 --warmup 2 --repetitions 2 \
    --output "$work/results" "$@"
  says out "Slowest pairs"
  says out "$work/results/linktest.h5"
  "$check" "$work/results" "$ranks" 8 4096 || fail "wrong files from -n $ranks $*"
  rm -rf "$work/results"
}

whole_runs() {
  for backend in shm tcp; do
    for ranks in 2 3 4; do measure "$ranks" --backend "$backend"; done
    for kernel in bi uni; do measure 3 --backend "$backend" --kernel "$kernel" --mode serial; done
    measure 4 --backend "$backend" --shuffle --seed 7 --quiet
  done
}

# Over the software Tofu device, which moves data in each of its ways.
over_tofu() {
  export SOFTTOFU_JOB="linktest_$$" SOFTTOFU_MODE
  for SOFTTOFU_MODE in inline lazy engine chaos; do
    for ranks in 2 3 4; do measure "$ranks" --backend utofu; done
    measure 3 --backend utofu --kernel bi --mode serial
  done
  unset SOFTTOFU_JOB SOFTTOFU_MODE
}

# Whoever reads the output has seen enough after a line.
unread() {
  "$heddle" linktest -n 2 --sizes 8,4K --messages 2 --output "$work/results" 2>"$work/err" |
    head -n 1 >"$work/out"
  "$check" "$work/results" 2 8 4096 || fail "wrong files behind a pipe that was closed"
  rm -rf "$work/results"
}

inside_a_job() {
  expect 0 run -n 3 -- "$heddle" linktest --sizes 8 --messages 2 --output "$work/results"
  "$check" "$work/results" 3 8 || fail "wrong files from inside a job"
  rm -rf "$work/results"
  expect 2 run -n 3 -- "$heddle" linktest -n 2 --output "$work/results"
  says err "leave out -n"
  [ ! -e "$work/results" ] || fail "a refused run left a directory"
}

hosts() {
  expect 0 run -n 3 -- sh -c 'HEDDLE_HOST=h$((HEDDLE_RANK % 2)) exec "$0" "$@"' \
    "$heddle" linktest --sizes 8 --messages 2 --output "$work/results"
  says out "3 ranks on 2 hosts (h0, h1) over shm and tcp"
  rm -rf "$work/results"
}

refusals() {
  expect 2 linktest
  says err "Give -n N"
  expect 1 linktest -n 2 --output "$work/no/such/place"
  says err "--output DIR"
  # Ranks told that they live on different hosts have only tcp between them.
  expect 2 run -n 2 -- sh -c 'HEDDLE_HOST=h$HEDDLE_RANK exec "$0" linktest --backend shm' "$heddle"
  says err "with --backend shm"
}

colours() {
  expect 0 linktest -n 2 --sizes 8 --messages 2 --color always --output "$work/results"
  says out "$(printf '\033')\[48;"
  expect 0 linktest -n 2 --sizes 8 --messages 2 --output "$work/results"
  if grep -q "$(printf '\033')" "$work/out"; then fail "escapes in a file"; fi
  rm -rf "$work/results"
}

# A rank is killed while it measures; the others go on and the files tell of it.
death() { # RANK BACKEND
  : >"$work/err" # not by the background command alone: we read it at once
  "$heddle" linktest -n 4 --backend "$2" --sizes 8 --messages 5 --repetitions 300 --progress bar \
    --output "$work/results" >"$work/out" 2>"$work/err" &
  job=$!
  while ! grep -q "repetition" "$work/err" && kill -0 $job; do sleep 0.05; done
  # One grep for all processes: a loop over them may take longer than the measurement.
  for environment in $(grep -lsxz "HEDDLE_RANK=$1" /proc/[0-9]*/environ); do
    pid=${environment#/proc/}
    pid=${pid%/environ}
    grep -qs "PPid:.$job\$" "/proc/$pid/status" && kill -9 "$pid"
  done
  wait $job
  got=$?
  [ "$got" -eq 4 ] || fail "exit status $got after the death of rank $1 over $2, not 4"
  says err "rank $1 .*SIGKILL"
  says out "everything with rank $1 .*lost: died"
  "$check" --lost "$1" "$work/results" 4 8 || fail "wrong files after the death of rank $1 over $2"
  rm -rf "$work/results"
}

interrupt() { # SIGNAL STATUS
  # Background commands of a script ignore SIGINT unless told otherwise.
  env --default-signal "$heddle" linktest -n 4 --messages 50 --repetitions 1000000 \
    --output "$work/results" >"$work/out" 2>"$work/err" &
  while [ ! -d "$work/results" ] && kill -0 $!; do sleep 0.1; done
  sleep 0.5
  kill -"$1" $!
  wait $!
  got=$?
  [ "$got" -eq "$2" ] || fail "exit status $got after SIG$1, not $2"
  says err "interrupted after"
  [ ! -e "$work/results" ] || fail "SIG$1 left a directory"
  printf %s "$work/results" >"$work/mark" # in a file, or grep would find itself
  if grep -lsF -f "$work/mark" /proc/[0-9]*/cmdline; then fail "SIG$1 left a process"; fi
}

whole_runs
[ "$utofu" != emulated ] || over_tofu
unread
inside_a_job
hosts
refusals
colours
death 2 shm
death 0 tcp
interrupt INT 130
interrupt TERM 143
[ "$failures" -eq 0 ] && echo "linktest: all as expected"
exit "$((failures > 0))"
