#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# four_hosts_test.sh HEDDLE - a job on four "hosts": network namespaces on one bridge.
#
# The launcher is on none of them and reaches them by a starter that enters a namespace; between ranks
# there is nothing but the bridge. Skipped (77) where namespaces may not be made.
set -eu
heddle=$1
. "$(dirname "$0")/four_hosts.sh"
from= # words before `heddle`: where the launcher runs

hosts="--starter $work/starter --hosts n[0-3]:2"

# What is left of jobs in the namespaces.
left() {
  for i in 0 1 2 3; do ip netns pids "$prefix$i"; done
}

nothing_left() {
  tries=100
  while [ -n "$(left)" ]; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { echo "left behind after $1:"; left | xargs ps -fp; exit 1; }
    sleep 0.1
  done
}

echo '--- the link tester starts itself on the hosts'
# shellcheck disable=SC2086 # words
"$heddle" linktest $hosts --sizes 8,64K --messages 5 --repetitions 1 --diagnosis never --output "$work/result" |
  tee "$work/out"
grep -qF '8 ranks on 4 hosts' "$work/out"
[ -s "$work/result/linktest.json" ]
nothing_left 'the link test'

echo '--- also where one agent starts the next'
# shellcheck disable=SC2086
"$heddle" linktest $hosts --fanout 1 --sizes 8 --messages 5 --repetitions 1 --diagnosis never \
  --output "$work/result1" >"$work/out"
grep -qF '8 ranks on 4 hosts' "$work/out"
nothing_left 'the link test through a chain of agents'

echo '--- and so does a benchmark, whose two ranks are on two hosts'
"$heddle" bench latency --starter "$work/starter" --hosts n0:2,n3:2 --backend tcp --rounds 1 \
  --time-ms 20 | tee "$work/out"
grep -qF 'rank 0 on n0, rank 1 on n3' "$work/out"

echo '--- what the hosts have is compared'
"$heddle" info --starter "$work/starter" --hosts 'n[0-3]' | tee "$work/out"
for i in 0 1 2 3; do grep -q "n$i  eth0  10.89.0.$((i + 1))" "$work/out"; done

echo '--- inside a job, the link tester is its ranks'
# shellcheck disable=SC2086
"$heddle" run $hosts -- "$heddle" linktest --sizes 8 --messages 5 --repetitions 1 --diagnosis never \
  --output "$work/result2" >"$work/out"
grep -qF '8 ranks on 4 hosts' "$work/out"

echo '--- a rank that fails on one host ends those on all'
code=0
# shellcheck disable=SC2086,SC2016 # the rank's variable
"$heddle" run $hosts -- sh -c '[ $HEDDLE_RANK = 5 ] && exit 3; sleep 1000' 2>"$work/err" || code=$?
[ "$code" = 3 ] || { cat "$work/err"; exit 1; }
grep -q 'rank 5 on n2 .* exited with status 3; ending the other ranks' "$work/err"
nothing_left 'a failing rank'

echo '--- a killed launcher leaves nothing'
# shellcheck disable=SC2086
"$heddle" run $hosts -- sh -c 'echo ready; sleep 1000 & wait' >"$work/out" &
launcher=$!
until [ "$(grep -c ready "$work/out")" = 8 ]; do sleep 0.1; done
kill -KILL "$launcher"
wait "$launcher" || :
nothing_left 'SIGKILL of the launcher'

# lasting_job OPTION...: a link test over tcp that takes longer than anybody waits, as process $job.
lasting_job() {
  # shellcheck disable=SC2086 # words
  timeout 100 $from "$heddle" run "$@" -- "$heddle" linktest --backend tcp --sizes 64K --messages 5 \
    --repetitions 1000000 --diagnosis never --overwrite --output "$work/lasting" >"$work/out" 2>"$work/err" &
  job=$!
  until grep -qF '8 ranks on 4 hosts' "$work/out"; do
    kill -0 "$job" || { cat "$work/out" "$work/err"; exit 1; }
    sleep 0.1
  done
}

echo '--- nobody listens but the rails'
# shellcheck disable=SC2086
HEDDLE_TCP_PORTS=7000-7001 lasting_job $hosts
for i in 0 1 2 3; do
  listening=$(ip netns exec "$prefix$i" ss -lntuwH | awk '{print $1, $5}' | sort | tr '\n' ,)
  rails="tcp 10.89.0.$((i + 1)):7000,tcp 10.89.0.$((i + 1)):7001,"
  [ "$listening" = "$rails" ] || { echo "FAILED: n$i listens at $listening, not at $rails"; exit 1; }
done
kill "$job"
wait "$job" || :
nothing_left 'an ended link test'

echo '--- a host whose interface goes down ends the job'
if ! command -v python3 >/dev/null; then
  echo "left out: no python3 here"
  exit 0
fi
# Here the launcher's channels go over the bridge as well.
ip -n "${prefix}s" address add 10.89.0.100/24 dev bridge
network_starter=$(dirname "$0")/network_starter.py
servers=
for i in 0 1 2 3; do
  ip netns exec "$prefix$i" "$network_starter" serve "10.89.0.$((i + 1))" &
  servers="$servers $!"
  until ip netns exec "$prefix$i" ss -lntH | grep -q :4022; do sleep 0.1; done
done
from="ip netns exec ${prefix}s" lasting_job --starter "$network_starter run" --silence-limit 2 \
  --hosts 10.89.0.1:2,10.89.0.2:2,10.89.0.3:2,10.89.0.4:2
ip -n "${prefix}2" link set eth0 down
code=0
wait "$job" || code=$?
cat "$work/err"
[ "$code" = 1 ]
grep -qF 'host 10.89.0.3 is lost (nothing heard for 2 s): ending the job' "$work/err"
# shellcheck disable=SC2086
kill $servers
nothing_left 'the loss of a host'
