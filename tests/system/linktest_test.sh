#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# linktest_test.sh - heddle linktest as a user meets it: complete files over each wire, refusals that
# name the cure, and what was measured kept whatever ends a run: Ctrl-C, a dead rank, a second run.
#
#   linktest_test.sh HEDDLE LINKTEST_CHECK UTOFU     UTOFU: vendor, emulated or off
set -u
heddle=$1
check=$2
utofu=$3
# shellcheck source=tests/system/expect.sh
. "$(dirname "$0")/expect.sh"

measure() { # RANKS ARGUMENTS...
  ranks=$1
  shift
  expect 0 linktest -n "$ranks" --sizes 8,4K --messages 5 --warmup 2 --repetitions 2 --singles 5 \
    --output "$work/results" "$@"
  says out "^bandwidth .*/s"
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

# Each operation, kernel and mode in one run over both wires, and what its readers find.
sections() {
  expect 0 linktest -n 3 --backend shm,tcp --op send,put,get,call --kernel semi,uni --sizes 8,4K --messages 3 \
    --warmup 1 --repetitions 1 --singles 2 --window 2 --buffers 2 --diagnosis never --quiet --output "$work/results"
  for section in semi-send-shm uni-get-shm uni-put-tcp semi-call-tcp; do
    says out "=== $section ==="
    "$check" "$work/results/$section" 3 8 4096 || fail "wrong files of $section"
  done
  [ "$(find "$work/results" -name linktest.h5 | wc -l)" -eq 16 ] || fail "not 16 sections"
  expect 0 report "$work/results" -o "$work/links.csv"
  grep -q "^uni,put,tcp,parallel,4096,2,1," "$work/links-uni-put-tcp.csv" || fail "no csv of a section"
  rm -rf "$work/results" "$work"/links-*
  expect 0 linktest -n 4 --mode paired --bisection random --all-to-all --sizes 8 --messages 3 --repetitions 2 \
    --diagnosis never --quiet --output "$work/results"
  says out "Impact of all pairs of a step at once, 8 B"
  says out "Bisection, 8 B: .* in the slowest step"
  says out "A byte from all to all"
  grep -q '"factors"' "$work/results/linktest.sections.json" || fail "no impact in the list of sections"
  expect 1 linktest -n 4 --mode paired --output "$work/results"
  says err "already holds results"
  rm -rf "$work/results"
  expect 2 linktest -n 2 --bisection 0-1 --output "$work/results"
  says err "give the ranks of one"
  for command in 'linktest -n 2' 'linktest -n 2 --dry-run' "run -n 2 -- $heddle linktest"; do
    # shellcheck disable=SC2086 # words
    expect 2 $command --bisection 0-9 --output "$work/results"
    says err "names rank 9, and the last of this job is 1"
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
    "$heddle" linktest --sizes 8 --messages 2 --diagnosis never --output "$work/results"
  says out "3 ranks on 2 hosts (h0, h1) over shm and tcp"
  rm -rf "$work/results"
}

# Pairs of hosts in one group are a class of their own.
groups() {
  # shellcheck disable=SC2016 # the rank's variable
  on_four_hosts='HEDDLE_HOST=h$HEDDLE_RANK exec "$0" linktest --sizes 8 --messages 2 --diagnosis never --quiet "$@"'
  printf 'rack1: h[0-1] # near the door\nrack2: h[2-3],h9\n' >"$work/racks"
  expect 0 run -n 4 -- sh -c "$on_four_hosts" "$heddle" --groups "$work/racks" --output "$work/results"
  says out "8 B, same group, 4 pairs"
  says out "8 B, other group, 8 pairs"
  expect 0 report "$work/results" -o "$work/links.csv"
  [ "$(grep -c ',group,measured,' "$work/links.csv")" -eq 4 ] || fail "not four lines of pairs in a group"
  rm -rf "$work/results" "$work/links.csv"
  expect 0 run -n 4 -- sh -c "$on_four_hosts" "$heddle" --groups "$work/racks" --bisection groups \
    --output "$work/results"
  says out "8 B, other group, 8 pairs"
  if grep -q "same group" "$work/out"; then fail "a bisection of groups measured inside of one"; fi
  rm -rf "$work/results"
  for options in '--bisection groups' "--groups $work/racks --simulate torus"; do
    # shellcheck disable=SC2086 # words
    expect 2 linktest -n 4 $options
    says err "--groups"
  done
  expect 2 linktest -n 2 --bisection hosts --output "$work/results"
  says err "all ranks run on one host"
  echo 'rack1: h[0-2]' >"$work/racks"
  expect 2 run -n 4 -- sh -c "$on_four_hosts" "$heddle" --groups "$work/racks" --output "$work/results"
  says err "rank 3 runs on host 'h3', which the file puts in no group"
  [ ! -e "$work/results" ] || fail "a refused run left a directory"
  echo 'rack2: h2' >>"$work/racks"
  expect 2 linktest -n 2 --groups "$work/racks"
  says err "racks:2: host 'h2' is in the group of line 1 already"
}

# No run takes the place of another one's results.
folders() {
  (cd "$work" && for _ in 1 2 3; do "$heddle" linktest -n 2 --sizes 8 --messages 2 --quiet; done) \
    >"$work/out" 2>"$work/err"
  found=$(find "$work" -path '*/linktest-*/linktest.json' | wc -l)
  [ "$found" -eq 3 ] || fail "three runs left $found folders of results"
  rm -rf "$work"/linktest-*
  quick="linktest -n 2 --sizes 8 --messages 2 --quiet --output $work/results"
  # shellcheck disable=SC2086 # words
  expect 0 $quick
  # shellcheck disable=SC2086
  expect 1 $quick
  says err "already holds results"
  # shellcheck disable=SC2086
  expect 0 $quick --overwrite
  rm -rf "$work/results"
}

refusals() {
  expect 2 linktest
  says err "Give -n N"
  expect 1 linktest -n 2 --output "$work/no/such/place"
  says err "--output DIR"
  # Whoever asks another rank than 0 hears the same.
  for wrong in "2 --baseline $work/nowhere" "1 --output $work/no/such/place"; do
    # shellcheck disable=SC2016,SC2086 # the ranks' variable, words
    expect 0 run -n 3 -- sh -c '"$0" linktest "$@"; echo "ended with $?"' "$heddle" ${wrong#* }
    [ "$(grep -c "ended with ${wrong%% *}" "$work/out")" -eq 3 ] || fail "not all ranks refused $wrong"
  done
  # Ranks told that they live on different hosts have only tcp between them.
  expect 2 run -n 2 -- sh -c 'HEDDLE_HOST=h$HEDDLE_RANK exec "$0" linktest --backend shm' "$heddle"
  says err "with --layers shm"
}

colours() {
  expect 0 linktest -n 2 --sizes 8 --messages 2 --color always --output "$work/results"
  says out "$(printf '\033')\[48;"
  expect 0 linktest -n 2 --sizes 8 --messages 2 --overwrite --output "$work/results"
  if grep -q "$(printf '\033')" "$work/out"; then fail "escapes in a file"; fi
  rm -rf "$work/results"
}

# What rank 1 sends is a millisecond late, so that the run lasts long enough to be disturbed on the
# fastest machine, too.
late='late=1>:1000'
lasting='--sizes 8 --messages 2 --repetitions'

# A run of four ranks of which some get a signal while it measures: $job is its process.
measure_and_signal() { # SIGNAL RANKS BACKEND ARGUMENTS...
  signal=$1 ranks=$2 backend=$3
  shift 3
  : >"$work/err" # not by the background command alone: we read it at once
  # shellcheck disable=SC2086 # words
  HEDDLE_FAULTS=$late "$heddle" linktest -n 4 --backend "$backend" $lasting 40 --progress bar \
    --output "$work/results" "$@" >"$work/out" 2>"$work/err" &
  job=$!
  while ! grep -q "repetition" "$work/err" && kill -0 $job; do sleep 0.05; done
  # One grep for all processes: a loop over them may take longer than the measurement.
  for environment in $(grep -lsxzE "HEDDLE_RANK=[$ranks]" /proc/[0-9]*/environ); do
    pid=${environment#/proc/}
    pid=${pid%/environ}
    grep -qs "PPid:.$job\$" "/proc/$pid/status" && kill -"$signal" "$pid"
  done
  wait $job
  got=$?
  [ "$got" -eq 4 ] || fail "exit status $got after SIG$signal to ranks $ranks over $backend, not 4"
}

# A rank is killed while it measures; the others go on and the files tell of it.
death() { # RANK BACKEND
  measure_and_signal KILL "$1" "$2"
  says err "rank $1 .*SIGKILL"
  says out "all that is missing with rank $1 .*lost: died"
  "$check" --lost "$1" "$work/results" 4 8 || fail "wrong files after the death of rank $1 over $2"
  if grep -qE '"(places|cores)": \[\]' "$work/results/linktest.json"; then
    fail "where ranks ran is not known after the death of rank $1 over $2"
  fi
  rm -rf "$work/results"
}

# Rank 1 writes, and knows where the two ran that it cannot ask any more.
death_of_two() {
  measure_and_signal KILL 02 tcp
  says err "rank 0 is lost; rank 1 writes the results"
  if grep -qE '"(places|cores)": \[\]' "$work/results/linktest.json"; then
    fail "where ranks ran is not known after the death of ranks 0 and 2"
  fi
  rm -rf "$work/results"
}

# The sections behind one that lost rank 0 would have nobody to report them.
death_in_a_section() {
  measure_and_signal KILL 0 shm --op send,put,get
  says err "a rank was lost, so these sections are left out: semi-put, semi-get"
  says err "linktest --resume $work/results goes on"
  "$check" --lost 0 "$work/results/semi-send" 4 8 || fail "wrong files of the section that lost rank 0"
  expect 0 linktest --resume "$work/results" --quiet
  [ "$(grep -c '"whole": true' "$work/results/linktest.sections.json")" -eq 3 ] || fail "not three whole sections"
  "$check" "$work/results/semi-send" 4 8 || fail "wrong files of the section that had lost rank 0"
  rm -rf "$work/results"
}

# Rank 0 is stopped, and goes on when the others have written: over the results of an earlier run, as they were
# asked to, but rank 0 not over theirs.
stop_for_a_while() {
  mkdir "$work/results"
  echo old >"$work/results/linktest.json"
  measure_and_signal STOP 0 shm --timeout 1 --overwrite
  says err "rank 0 is lost; rank 1 writes the results"
  says err "rank 0 cannot reach most others any more; its results are lost, theirs are in"
  "$check" --lost 0 "$work/results" 4 8 || fail "wrong files after rank 0 was stopped"
  rm -rf "$work/results"
}

# As on a host that hangs: two ranks that still hear each other are no more than half of the job.
stop_two_for_a_while() {
  measure_and_signal STOP 01 tcp --timeout 1
  says err "cannot reach most others any more; its results are lost, theirs are in"
  expect 0 report "$work/results" -o "$work/links.csv"
  grep -q "^semi,send,tcp,parallel,8,2,3,.*,measured," "$work/links.csv" || fail "results of two ranks are lost"
  rm -rf "$work/results"
}

# Nothing measured is not "all as it should be".
no_time() {
  expect 4 linktest -n 2 --time 0.1s --sizes 1,2,4,8,16,32,64,128,256,512 --messages 100000 --output "$work/results"
  rm -rf "$work/results"
}

# Readers prefer the one format to the other.
older_files() {
  expect 0 linktest -n 2 --sizes 8 --messages 2 --quiet --output "$work/results"
  expect 0 linktest -n 2 --sizes 16 --messages 2 --quiet --output "$work/results" --overwrite --formats json
  [ "$(ls "$work/results")" = linktest.json ] || fail "files of an earlier run were left"
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
  says err "linktest --resume $work/results goes on"
  says out "$work/results/linktest.h5"
  "$check" --partial "$work/results" 4 8 131072 || fail "wrong files after SIG$1"
  rm -rf "$work/results"
  printf %s "$work/results" >"$work/mark" # in a file, or grep would find itself
  if grep -lsF -f "$work/mark" /proc/[0-9]*/cmdline; then fail "SIG$1 left a process"; fi
}

# All processes of a run at once, as the out-of-memory killer or a power cut would: nothing is
# reported, and yet nothing that the shards hold is measured again.
kill_all_after() { # VISITS ARGUMENTS...
  visits=$1
  shift
  setsid "$heddle" linktest "$@" >"$work/out" 2>"$work/err" &
  job=$!
  while kept=$("$check" --shards "$work/results") && [ "$kept" -le "$visits" ] && kill -0 $job; do
    sleep 0.02
  done
  kill -9 $job $(pgrep -P $job)
  wait $job 2>/dev/null
  kept=$("$check" --shards "$work/results") || fail "a visit was made twice"
  [ ! -e "$work/results/linktest.json" ] || fail "the run was over before it was killed"
}

resumed() {
  export HEDDLE_FAULTS="$late"
  # shellcheck disable=SC2086 # words
  kill_all_after 20 -n 3 $lasting 200 --warmup 0 --output "$work/results"
  first=$kept
  expect 1 linktest -n 3 --output "$work/results"
  says err "already holds an unfinished run"
  expect 2 linktest --resume "$work/results" --sizes 16
  says err "leave out --sizes"
  kill_all_after "$((first + 20))" --resume "$work/results"
  printf 'HLV1 torn' >>"$work/results/ranks-0-2.shard"
  expect 0 linktest --resume "$work/results" --quiet
  unset HEDDLE_FAULTS
  "$check" "$work/results" 3 8 || fail "wrong files from a resumed run"
  [ "$(ls "$work/results")" = "$(printf 'linktest.h5\nlinktest.json')" ] || fail "something was left"
  expect 2 linktest --resume "$work/results"
  says err "there is no unfinished run"
  rm -rf "$work/results"
}

# A run of several sections goes on as one, although each rank sees another folder, as on hosts without a common
# file system: what is whole is not measured again, and nothing but the results stays.
resumed_sections() {
  printf 'cd "%s/host$HEDDLE_RANK" && exec "%s" linktest "$@"\n' "$work" "$heddle" >"$work/rank.sh"
  mkdir "$work/host0" "$work/host1" "$work/host2"
  # shellcheck disable=SC2086 # words
  HEDDLE_FAULTS=$late setsid "$heddle" run -n 3 -- sh "$work/rank.sh" --op put,send $lasting 40 --warmup 0 \
    --output results >"$work/out" 2>"$work/err" &
  job=$!
  while [ ! -s "$work/host2/results/semi-send/ranks-0-2.shard" ] && kill -0 $job; do sleep 0.02; done
  kill -9 $job $(pgrep -P $job)
  wait $job 2>/dev/null
  measured=$(stat -c %y "$work/host0/results/semi-put/linktest.h5")
  HEDDLE_FAULTS=$late expect 0 run -n 3 -- sh "$work/rank.sh" --resume results
  says out "measured before, results in results/semi-put"
  [ "$measured" = "$(stat -c %y "$work/host0/results/semi-put/linktest.h5")" ] || fail "a section was measured again"
  for section in semi-put semi-send; do
    "$check" "$work/host0/results/$section" 3 8 || fail "wrong files of the resumed $section"
  done
  [ -z "$(find "$work/host0" -name '*.shard' -o -name 'unfinished.json')" ] || fail "something was left with rank 0"
  if [ -e "$work/host1/results" ] || [ -e "$work/host2/results" ]; then fail "something was left with the others"; fi
  expect 2 run -n 3 -- sh "$work/rank.sh" --resume results
  says err "there is no unfinished run"
  if grep -q "rank 0 is lost" "$work/err"; then fail "the others do not hear what rank 0 refuses"; fi
  rm -rf "$work"/host?
}

# The layer that was under way when all was killed goes on, and is compared with the one before.
resumed_layers() {
  export HEDDLE_TCP_IFACE=127.0.0.1,127.0.0.2
  # shellcheck disable=SC2086 # words
  HEDDLE_FAULTS=$late setsid "$heddle" linktest -n 3 --layers shm,tcp.rail0-1 $lasting 20 --warmup 0 \
    --output "$work/results" >"$work/out" 2>"$work/err" &
  job=$!
  while [ ! -s "$work/results/semi-send-tcp.rail0/ranks-0-2.shard" ] && kill -0 $job; do sleep 0.02; done
  kill -9 $job $(pgrep -P $job)
  wait $job 2>/dev/null
  [ -s "$work/results/semi-send-tcp.rail0/ranks-0-2.shard" ] || fail "nothing was left to go on with"
  expect 0 linktest --resume "$work/results" --quiet
  says out "measured before, results in $work/results/semi-send-shm"
  says out "^Layers, medians  *shm  *tcp.rail0  *tcp.rail1"
  for section in semi-send-shm semi-send-tcp.rail0 semi-send-tcp.rail1; do
    "$check" "$work/results/$section" 3 8 || fail "wrong files of the resumed $section"
  done
  grep -q '"comparison"' "$work/results/linktest.sections.json" || fail "no comparison in the list of sections"
  expect 2 linktest -n 2 --layers tcp.rail2 --output "$work/results" --overwrite
  says err "tcp: it has 2 rails here, counted from 0, and HEDDLE_BACKENDS names rail 2"
  unset HEDDLE_TCP_IFACE
  rm -rf "$work/results"
}

whole_runs
sections
[ "$utofu" != emulated ] || over_tofu
unread
inside_a_job
hosts
groups
folders
refusals
colours
death 2 shm
death 0 tcp
death_of_two
death_in_a_section
stop_for_a_while
stop_two_for_a_while
no_time
older_files
interrupt INT 130
interrupt TERM 143
resumed
resumed_sections
resumed_layers
[ "$failures" -eq 0 ] && echo "linktest: all as expected"
exit "$((failures > 0))"
