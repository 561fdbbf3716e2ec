#!/bin/sh
# joining_hosts_test.sh HEDDLE - four ranks on two "hosts", network namespaces joined by a cable, that
# `heddle run` did not start: by rendezvous, and where they are installed by mpiexec.hydra and mpirun.
#
# Skipped (77) where namespaces may not be made.
set -eu
heddle=$1
work=$(mktemp -d)
left=hdlj$$a right=hdlj$$b

clean() {
  ip netns delete "$left" 2>/dev/null || :
  ip netns delete "$right" 2>/dev/null || :
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

try() {
  "$@" 2>>"$work/why" && return
  echo "skipped: namespaces for network and host name are not permitted here: $(cat "$work/why")"
  exit 77
}
try ip netns add "$left"
try ip netns add "$right"
try ip -n "$left" link add cable type veth peer name cable netns "$right"
try ip netns exec "$left" unshare -u true
ip -n "$left" address add 10.89.0.1/24 dev cable
ip -n "$right" address add 10.89.0.2/24 dev cable
for host in "$left" "$right"; do
  ip -n "$host" link set cable up
  ip -n "$host" link set lo up
done

# on HOST WORD...: what ssh would do, for launchers and for us. HOST is a namespace and its name.
cat >"$work/on" <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec ip netns exec "$host" unshare -u sh -c 'hostname "$0"; exec sh -c "$1"' "$host" "$*"
END
chmod +x "$work/on"

test="$heddle linktest --sizes 8,64K --messages 3 --repetitions 1 --output $work/results"
expect_one_job() {
  cat "$work/out"
  grep -qE "^4 ranks on 2 hosts \($left.*, $right.*\) over shm and tcp" "$work/out" || {
    echo "FAILED: no link test of 4 ranks on 2 hosts by $1"
    exit 1
  }
}

(umask 077 && head -c 32 /dev/urandom >"$work/secret")
for rank in 0 1 2 3; do
  host=$left; [ $rank -lt 2 ] || host=$right
  HEDDLE_RENDEZVOUS=10.89.0.1:7077 HEDDLE_RANK=$rank HEDDLE_SIZE=4 \
    HEDDLE_SECRET_FILE="$work/secret" timeout 100 "$work/on" "$host" "$test" >"$work/out$rank" 2>&1 &
done
wait
cat "$work"/out[0-3] >"$work/out"
expect_one_job rendezvous

if command -v mpiexec.hydra >/dev/null; then
  timeout 100 ip netns exec "$left" mpiexec.hydra -launcher ssh -launcher-exec "$work/on" \
    -hosts "$left:2,$right:2" -iface cable -n 4 $test >"$work/out" 2>&1 || :
  expect_one_job mpiexec.hydra
fi
if command -v mpirun.openmpi >/dev/null; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  mkdir "$work/session"
  timeout 100 ip netns exec "$left" mpirun.openmpi --mca plm_rsh_agent "$work/on" \
    --mca oob_tcp_if_include cable --mca orte_tmpdir_base "$work/session" --bind-to none \
    --host "$left:2,$right:2" -n 4 $test >"$work/out" 2>&1 || :
  expect_one_job mpirun.openmpi
fi
