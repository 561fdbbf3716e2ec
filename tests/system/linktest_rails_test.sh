#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# linktest_rails_test.sh HEDDLE - heddle linktest names the slow one of two rails between four "hosts".
#
# Each host has two cards on two networks, and one of them sends with a small part of what the others do.
# Skipped (77) where namespaces may not be made, or cards be slowed down.
set -eu
heddle=$1
. "$(dirname "$0")/four_hosts.sh"

ip -n "${prefix}s" link add second type bridge
ip -n "${prefix}s" link set second up
for i in 0 1 2 3; do
  host=$prefix$i
  ip -n "${prefix}s" link add "q$i" type veth peer name eth1 netns "$host"
  ip -n "${prefix}s" link set "q$i" master second up
  ip -n "$host" address add "10.90.0.$((i + 1))/24" dev eth1
  ip -n "$host" link set eth1 up
done
if ! ip netns exec "${prefix}2" tc qdisc add dev eth1 root tbf rate 200mbit burst 64kb latency 500ms 2>"$work/why"; then
  echo "skipped: a card cannot be slowed down here: $(cat "$work/why")"
  exit 77
fi
export HEDDLE_TCP_IFACE=eth0,eth1

measure() { # ARGUMENTS...
  code=0
  "$heddle" linktest --starter "$work/starter" --hosts 'n[0-3]' --kernel uni --mode serial --sizes 256K --messages 8 \
    --warmup 2 --repetitions 6 --singles 0 --slow 8 --diagnosis always --quiet "$@" >"$work/out" || code=$?
}
fail() {
  cat "$work/out"
  echo "FAILED: $*"
  exit 1
}
rails_of_tcp() { sed -n '/^Rails 0, 1 of tcp$/,$p' "$work/out"; }

echo '--- the slow card is named by its host and rail'
measure --layers tcp.rail0-1 --output "$work/both"
[ "$code" = 5 ] || fail "exit status $code with a slow rail, not 5"
rails_of_tcp | grep -q '^rail: rank 2 ([^ ]*), rail 1: ' || fail 'the slow rail is not named'
rails_of_tcp | grep -q 'Over rail 0 it is not slow' || fail 'the other rail is not said to be as usual'
[ "$(rails_of_tcp | grep -c 'times as slow as usual')" = 1 ] || fail 'something else is accused'

echo '--- a host that is slow over both rails is no slow rail'
ip netns exec "${prefix}2" tc qdisc add dev eth0 root tbf rate 200mbit burst 64kb latency 500ms
measure --layers tcp.rail0-1 --output "$work/node"
[ "$code" = 5 ] || fail "exit status $code with a slow host, not 5"
rails_of_tcp | grep -q '^node_tx: rank 2 ([^ ]*): ' || fail 'the slow host is not named'
[ "$(rails_of_tcp | grep -c 'times as slow as usual')" = 1 ] || fail 'something else is accused'

echo '--- and healthy rails are said to be so'
for card in eth0 eth1; do ip netns exec "${prefix}2" tc qdisc del dev "$card" root; done
measure --layers tcp,tcp.rail0-1 --output "$work/healthy"
[ "$code" = 0 ] || fail "exit status $code without a slow rail, not 0"
rails_of_tcp | grep -qx 'Nothing found' || fail 'something is accused'
