#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# addresses_test.sh HEDDLE - two ranks on two "hosts" that have more addresses than lead to the other.
#
# Nobody names an interface: which way leads to the peer has to be found out. Skipped (77) where
# namespaces may not be made.
set -eu
heddle=$1
. "$(dirname "$0")/two_hosts.sh"

# What containers bring to every host: a bridge that has the same address everywhere, and comes first.
for host in "$left" "$right"; do
  try ip -n "$host" link add docker0 type bridge
  ip -n "$host" address add 172.17.0.1/16 dev docker0
  ip -n "$host" link set docker0 up
done
# A network of each host's own, where packets to anybody else get lost.
number=1
for host in "$left" "$right"; do
  try ip -n "$host" link add own0 type veth peer name own1
  ip -n "$host" address add "10.90.$number.1/24" dev own0
  ip -n "$host" link set own0 up
  ip -n "$host" link set own1 up
  ip -n "$host" route add 10.90.0.0/16 dev own0
  number=$((number + 1))
done

linktest() {
  "$heddle" run -n 2 "$@" -- sh -c '
    host=$1; [ "$HEDDLE_RANK" = 0 ] || host=$2; shift 2
    exec ip netns exec "$host" "$@"' sh "$left" "$right" \
    "$heddle" linktest --sizes 8,64K --messages 5 --repetitions 1 --diagnosis never --output "$work/result"
}

echo '--- without a way, each rank says which were looked at'
if linktest --env HEDDLE_TCP_IFACE=docker0 >"$work/out" 2>&1; then
  echo 'docker0 is said to lead to the other host'
  exit 1
fi
grep -qF 'both hosts have that address' "$work/out"
grep -qF 'HEDDLE_TCP_IFACE' "$work/out"

echo '--- the cable is found behind a bridge and a network that leads nowhere'
join_by cable0 10.87.0
linktest | tee "$work/out"
grep -qF '2 ranks on 2 hosts' "$work/out"
[ -s "$work/result/linktest.json" ]

echo '--- and so it is with IPv6 alone on one host and both on the other'
ip -n "$right" address del 10.87.0.2/24 dev cable0
ip -n "$left" address add fd87::1/64 dev cable0 nodad
ip -n "$right" address add fd87::2/64 dev cable0 nodad
rm -r "$work/result"
linktest | tee "$work/out"
grep -qF '2 ranks on 2 hosts' "$work/out"
[ -s "$work/result/linktest.json" ]

echo '--- also on the interface alone, encrypted'
rm -r "$work/result"
linktest --env HEDDLE_TCP_IFACE=cable0 --env HEDDLE_TCP_CRYPT=on | tee "$work/out"
grep -qF '2 ranks on 2 hosts' "$work/out"
[ -s "$work/result/linktest.json" ]

echo '--- hosts that say the same of themselves, as clones of a machine do, are not taken for one'
rm -r "$work/result"
"$heddle" run -n 2 -- sh -c '
  host=$1; [ "$HEDDLE_RANK" = 0 ] || host=$2; shift 2
  exec ip netns exec "$host" unshare -m sh -c "mount -t tmpfs none /proc && exec \"\$0\" \"\$@\"" "$@"' \
  sh "$left" "$right" \
  "$heddle" linktest --sizes 8,64K --messages 5 --repetitions 1 --diagnosis never --output "$work/result" | tee "$work/out"
grep -qF '2 ranks on 2 hosts' "$work/out"
[ -s "$work/result/linktest.json" ]
