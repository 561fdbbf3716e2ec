#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# two_hosts_test.sh HEDDLE - two ranks on two "hosts": network namespaces joined by two cables.
#
# The ranks must take each other for distant (tcp without being told), and large messages must use
# both cables, unless one is slow or cut. Skipped (77) where namespaces may not be made.
set -eu
heddle=$1
. "$(dirname "$0")/two_hosts.sh"
for cable in 0 1; do
  join_by "cable$cable" "10.87.$cable"
  pace "cable$cable" 400mbit
done

# Bytes that a cable has carried out of the left host.
carried() {
  ip netns exec "$left" cat "/sys/class/net/cable$1/statistics/tx_bytes"
}

on_two_hosts() {
  "$heddle" run -n 2 --env HEDDLE_TCP_IFACE=cable0,cable1 -- sh -c '
    host=$1; [ "$HEDDLE_RANK" = 0 ] || host=$2; shift 2
    exec ip netns exec "$host" "$@"' sh "$left" "$right" "$@"
}

on_two_hosts "$heddle" linktest --sizes 8,4M --messages 5 --repetitions 1 --diagnosis never --output "$work/result" |
  tee "$work/out"
name=$(uname -n) # the same in both namespaces, and yet two hosts
grep -qF "2 ranks on 2 hosts ($name#0, $name#1) over tcp" "$work/out"
grep -q '"backend"' "$work/result/linktest.json"

both=0
for cable in 0 1; do
  bytes=$(carried "$cable")
  both=$((both + bytes))
  echo "cable $cable carried $bytes bytes"
  [ "$bytes" -gt 4000000 ] || { echo "cable $cable was hardly used"; exit 1; }
done

# A cable that is far slower than the other is tried, and then left alone.
before=$(carried 1)
pace cable1 10mbit
on_two_hosts "$heddle" linktest --sizes 4M --messages 5 --repetitions 1 --diagnosis never --output "$work/slow" >"$work/out"
slow=$(($(carried 1) - before))
echo "the slow cable carried $slow bytes, when both had carried $both before"
[ "$slow" -lt $((both / 4)) ] || { echo "the slow cable was used"; exit 1; }

# One that brings nothing back is done without.
ip -n "$left" route add blackhole 10.87.1.2/32
ip -n "$right" route add blackhole 10.87.1.1/32
on_two_hosts "$heddle" linktest --sizes 4M --messages 5 --repetitions 1 --diagnosis never --output "$work/cut" >"$work/out"
grep -qF "2 ranks on 2 hosts" "$work/out"
