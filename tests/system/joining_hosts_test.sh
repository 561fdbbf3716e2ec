#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# joining_hosts_test.sh HEDDLE - eight ranks on four "hosts", network namespaces on one bridge, that
# `heddle run` did not start: by rendezvous, and where they are installed by mpiexec.hydra and mpirun.
#
# Skipped (77) where namespaces may not be made.
set -eu
heddle=$1
. "$(dirname "$0")/four_hosts.sh"
if ! ip netns exec "${prefix}0" unshare -u true 2>"$work/why"; then
  echo "skipped: host names of their own are not permitted here: $(cat "$work/why")"
  exit 77
fi

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
  grep -qE "^8 ranks on 4 hosts \(${prefix}0, ${prefix}1, ${prefix}2, ${prefix}3\) over shm and tcp" "$work/out" || {
    echo "FAILED: no link test of 8 ranks on 4 hosts by $1"
    exit 1
  }
}

(umask 077 && head -c 32 /dev/urandom >"$work/secret")
for rank in 0 1 2 3 4 5 6 7; do
  HEDDLE_RENDEZVOUS=10.89.0.1:7077 HEDDLE_RANK=$rank HEDDLE_SIZE=8 HEDDLE_SECRET_FILE="$work/secret" \
    timeout 100 "$work/on" "$prefix$((rank / 2))" "$test" >"$work/out$rank" 2>&1 &
done
wait
cat "$work"/out[0-7] >"$work/out"
expect_one_job rendezvous

hosts="${prefix}0:2,${prefix}1:2,${prefix}2:2,${prefix}3:2"
if command -v mpiexec.hydra >/dev/null; then
  timeout 100 ip netns exec "${prefix}0" mpiexec.hydra -launcher ssh -launcher-exec "$work/on" \
    -hosts "$hosts" -iface eth0 -n 8 $test >"$work/out" 2>&1 || :
  expect_one_job mpiexec.hydra
fi
if command -v mpirun.openmpi >/dev/null; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  mkdir "$work/session"
  timeout 100 ip netns exec "${prefix}0" mpirun.openmpi --mca plm_rsh_agent "$work/on" \
    --mca oob_tcp_if_include eth0 --mca orte_tmpdir_base "$work/session" --bind-to none \
    --host "$hosts" -n 8 $test >"$work/out" 2>&1 || :
  expect_one_job mpirun.openmpi
fi
