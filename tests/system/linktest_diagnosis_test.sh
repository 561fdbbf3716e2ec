#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# linktest_diagnosis_test.sh - heddle linktest names what HEDDLE_FAULTS makes slow in real jobs, and
# nothing in healthy ones; and its exit statuses, plans and simulations are as documented.
#
#   linktest_diagnosis_test.sh HEDDLE
#
# One pair at a time, since there may be fewer cores than ranks.
set -u
look=always # though ranks share cores
slow=150
heddle=$1
# shellcheck source=tests/system/expect.sh
. "$(dirname "$0")/expect.sh"

link_test() { # STATUS ARGUMENTS...
  status=$1
  shift
  rm -rf "$work/results"
  expect "$status" linktest "$@"
}
measure() { # STATUS ARGUMENTS...
  status=$1
  shift
  link_test "$status" --mode serial --sizes 8 --messages 200 --warmup 5 --repetitions 6 --singles 0 \
    --slow $slow --diagnosis $look --quiet --output "$work/results" "$@"
}

# Sets `slow`, the factor from which a part is accused, by what healthy pairs take here and now. A late message
# takes 1000 us more than theirs. Late answers, one to about 100 messages, add 10 us to each, which is compared with
# healthy pairs alone, which may be twice as fast as here. A quarter of the pairs have late answers and
# another one late messages, so the usual pair has half of these 10 us.
between_healthy_and_late() { # BACKEND
  look=never
  measure 0 -n 4 --backend "$1" --kernel uni
  look=always
  slow=$(python3 - "$work/results/linktest.json" <<'END'
import json, math, sys
healthy_us = json.load(open(sys.argv[1]))["sizes"][0]["summary"]["time"]["median"] * 1e6
print(round(math.sqrt((1 + 20 / healthy_us) * (1 + 1000 / (5 + healthy_us))), 2))
END
  )
}

injected() {
  between_healthy_and_late shm
  export HEDDLE_FAULTS='late=2>:1000'
  measure 5 -n 4 --backend shm --kernel uni
  says out '^node_tx: rank 2 '
  says results/linktest.json '"what": "node_tx"'
  HEDDLE_FAULTS='late=1>3:1000'
  measure 5 -n 4 --backend shm --kernel uni
  says out '^link: rank 1 .* -> rank 3 '
  unset HEDDLE_FAULTS
  between_healthy_and_late tcp
  export HEDDLE_FAULTS='late=>1:1000'
  measure 5 -n 4 --backend tcp --kernel uni
  says out '^node_rx: rank 1 '
  unset HEDDLE_FAULTS
}

healthy() {
  for backend in shm tcp; do
    link_test 0 -n 4 --backend $backend --mode serial --kernel uni --sizes 8 --budget 5 --slow 150 \
      --diagnosis always --quiet --output "$work/results"
    says out '^Nothing found'
    says out 'Looked at 12 of 12 ordered pairs'
  done
}

sampled() {
  link_test 0 -n 16 --sizes 8 --messages 5 --repetitions 2 --pairs 3 --quiet \
    --output "$work/results"
  link_test 0 -n 4 --sizes 8 --messages 5 --time 1 --quiet --output "$work/results"
}

judged() {
  look=never
  measure 0 -n 2
  mv "$work/results/linktest.json" "$work/before.json"
  measure 6 -n 2 --expect 'time<=1e-12'
  says out 'Missed: time<=1e-12 at 8 B: 2 of 2 pairs'
  measure 0 -n 2 --expect 'time<=100'
  measure 6 -n 3 --baseline "$work/before.json"
  says out 'it has 2 ranks and this run 3'
  HEDDLE_FAULTS='late=0:5000' measure 6 -n 2 --baseline "$work/before.json"
  says out 'Missed: as fast as the baseline'
  echo '{}' >"$work/wrong.json"
  measure 2 -n 2 --baseline "$work/wrong.json"
  says err 'linktest.json of an earlier run'
  measure 2 -n 4 --baseline "$work/nowhere.json"
  says err 'there is no such file'
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "more than one line about a baseline that is not there"
}

made_up() {
  link_test 0 --dry-run -n 1800000 --pairs 32 --ranks-per-host 64
  says out '1800000 on 28125 hosts'
  link_test 5 --simulate fattree -n 512 --pairs 16 --kernel uni --faults node_tx=77:2
  says out '^node_tx: node 77: '
  link_test 0 --simulate dragonfly -n 512 --pairs 16
  says out '^Nothing found'
  link_test 2 -n 2 --faults node=1:2
  link_test 2 --simulate torus -n 100000
  says err '--pairs 16'
}

injected
healthy
sampled
judged
made_up
[ "$failures" -eq 0 ] && echo "linktest: all verdicts as expected"
exit "$((failures > 0))"
