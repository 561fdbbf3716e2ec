#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# joining_hosts_test.sh HEDDLE - four ranks on two "hosts", network namespaces joined by a cable, that
# `heddle run` did not start: by rendezvous, and where they are installed by mpiexec.hydra and mpirun.
#
# Skipped (77) where namespaces may not be made.
set -eu
heddle=$1
. "$(dirname "$0")/two_hosts.sh"
join_by cable 10.89.0
try ip netns exec "$left" unshare -u true # a host name of its own

# on HOST WORD...: what ssh would do, for launchers and for us. HOST is a namespace and its name.
cat >"$work/on" <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec ip netns exec "$host" unshare -u sh -c 'hostname "$0"; exec sh -c "$1"' "$host" "$*"
END
chmod +x "$work/on"

test="$heddle linktest --sizes 8,64K --messages 3 --repetitions 1 --diagnosis never --overwrite --output $work/results"
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
