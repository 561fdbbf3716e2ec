# SPDX-License-Identifier: BSD-3-Clause
# four_hosts.sh - for tests to source, with `set -eu`: four "hosts", the network namespaces ${prefix}0 to
# ${prefix}3, whose eth0 with 10.89.0.1 to 10.89.0.4 are on a bridge in ${prefix}s, and a folder $work with
# a starter that knows them as n0 to n3.
# All of it goes when the test ends, with what still runs there.
#
# The test is skipped (77) where namespaces may not be made.
work=$(mktemp -d)
prefix=hdl$$

clean() {
  for name in s 0 1 2 3; do
    ip netns pids "$prefix$name" 2>/dev/null | xargs -r kill -KILL || :
    ip netns delete "$prefix$name" 2>/dev/null || :
  done
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

if ! ip netns add "${prefix}s" 2>"$work/why" ||
  ! ip -n "${prefix}s" link add bridge type bridge 2>>"$work/why"; then
  echo "skipped: network namespaces with bridges are not permitted here: $(cat "$work/why")"
  exit 77
fi
ip -n "${prefix}s" link set bridge up
for i in 0 1 2 3; do
  host=$prefix$i
  ip netns add "$host"
  if ! ip -n "${prefix}s" link add "p$i" type veth peer name eth0 netns "$host" 2>"$work/why"; then
    echo "skipped: veth pairs are not permitted here: $(cat "$work/why")"
    exit 77
  fi
  ip -n "${prefix}s" link set "p$i" master bridge up
  ip -n "$host" address add "10.89.0.$((i + 1))/24" dev eth0
  ip -n "$host" link set lo up
  ip -n "$host" link set eth0 up
done
cat >"$work/starter" <<END
#!/bin/sh
host=\$1
shift
exec ip netns exec "$prefix\${host#n}" sh -c "\$*"
END
chmod +x "$work/starter"
