#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# gateway_test.sh HEDDLE - two ranks on two "hosts" in networks that know nothing of each other: a gateway
# between them forwards one port to each, as for containers and behind NAT.
#
# Skipped (77) where namespaces may not be made, and without python3.
set -eu
heddle=$1
. "$(dirname "$0")/two_hosts.sh"
command -v python3 >/dev/null || {
  echo 'skipped: there is no python3'
  exit 77
}
gateway=hdl$$g forwarders=
end() {
  # shellcheck disable=SC2086 # words
  [ -z "$forwarders" ] || kill $forwarders 2>/dev/null || :
  ip netns delete "$gateway" 2>/dev/null || :
  clean
}
trap end EXIT

# One network is 10.91.0.0/24, the other 10.92.0.0/24; the gateway is .1 in both, and routes nothing.
try ip netns add "$gateway"
net=1
for host in "$left" "$right"; do
  try ip -n "$host" link add eth0 type veth peer name "net$net" netns "$gateway"
  ip -n "$host" address add "10.9$net.0.2/24" dev eth0
  ip -n "$gateway" address add "10.9$net.0.1/24" dev "net$net"
  ip -n "$host" link set eth0 up
  ip -n "$gateway" link set "net$net" up
  net=$((net + 1))
done
ip netns exec "$gateway" sysctl -qw net.ipv4.ip_forward=0
# Rank 0 begins to look for a port at the first one, rank 1 at the second.
for way in '10.92.0.1 7000 10.91.0.2' '10.91.0.1 7001 10.92.0.2'; do
  # shellcheck disable=SC2086 # words
  ip netns exec "$gateway" "$(dirname "$0")/forwarder.py" $way &
  forwarders="$forwarders $!"
done
until [ "$(ip netns exec "$gateway" ss -lntH | grep -c ':700[01] ')" = 2 ]; do
  # shellcheck disable=SC2086 # words
  kill -0 $forwarders
  sleep 0.1
done

# linktest LEFT RIGHT: what each rank says of itself.
linktest() {
  # shellcheck disable=SC2016 # the ranks' variables
  "$heddle" run -n 2 --env HEDDLE_TCP_PORTS=7000-7001 --env HEDDLE_PEER_TIMEOUT_MS=3000 -- sh -c '
    host=$1 HEDDLE_TCP_ADVERTISE=$3
    [ "$HEDDLE_RANK" = 0 ] || host=$2 HEDDLE_TCP_ADVERTISE=$4
    export HEDDLE_TCP_ADVERTISE; shift 4
    exec ip netns exec "$host" "$@"' sh "$left" "$right" "$1" "$2" \
    "$heddle" linktest --sizes 8,64K,1M --messages 5 --repetitions 1 --diagnosis never --overwrite \
    --output "$work/result" >"$work/out" 2>&1
}

echo '--- their own addresses lead nowhere'
if linktest '' ''; then
  cat "$work/out"
  echo 'FAILED: the gateway lets through what nobody has asked it to'
  exit 1
fi
grep -qF 'is lost: it cannot be connected to' "$work/out"

echo '--- the addresses at which others see them do'
linktest 10.92.0.1 10.91.0.1 || {
  cat "$work/out"
  exit 1
}
grep -qF '2 ranks on 2 hosts' "$work/out"
[ -s "$work/result/linktest.json" ]
