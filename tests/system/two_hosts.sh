# SPDX-License-Identifier: BSD-3-Clause
# two_hosts.sh - for tests to source, with `set -eu`: two "hosts", the network namespaces $left and
# $right, and a folder $work. All of it goes when the test ends.
#
# The test is skipped (77) where namespaces may not be made.
work=$(mktemp -d)
left=hdl$$a right=hdl$$b

clean() {
  ip netns delete "$left" 2>/dev/null || :
  ip netns delete "$right" 2>/dev/null || :
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

# try COMMAND...: one that is not permitted everywhere.
try() {
  "$@" 2>>"$work/why" && return
  echo "skipped: namespaces, or cables between them, are not permitted here: $(cat "$work/why")"
  exit 77
}

# join_by CABLE NET: one more cable between the two, which have the addresses NET.1 and NET.2 there.
join_by() {
  try ip -n "$left" link add "$1" type veth peer name "$1" netns "$right"
  ip -n "$left" address add "$2.1/24" dev "$1"
  ip -n "$right" address add "$2.2/24" dev "$1"
  ip -n "$left" link set "$1" up
  ip -n "$right" link set "$1" up
}

# pace CABLE RATE: it takes no more, either way.
pace() {
  for host in "$left" "$right"; do
    try ip netns exec "$host" tc qdisc replace dev "$1" root tbf rate "$2" burst 64k latency 50ms
  done
}

try ip netns add "$left"
try ip netns add "$right"
for host in "$left" "$right"; do try ip -n "$host" link set lo up; done
