#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# slurm_test.sh HEDDLE PROBE - ranks that a real Slurm has started: two nodes, which are this host.
#
# Its daemons run in namespaces of their own, which end with the test. By PMI-2 and, where Slurm has the
# plugin, PMIx: the link test is one job and no four; a late rank is waited for; srun learns how ranks
# end. Without PMI ranks are refused. Skipped (77) without Slurm or namespaces.
set -eu
skip() {
  echo "skipped: $*"
  exit 77
}
for program in munged slurmctld slurmd srun; do
  command -v $program >/dev/null || skip "no $program here (packages slurmctld, slurmd, slurm-client, munge)"
done
[ "$(id -u)" = 0 ] || skip "slurmd takes root"
if [ "${SLURM_TEST_INSIDE:-}" != yes ]; then
  why=$(unshare -n -u -p -m -f --mount-proc true 2>&1) || skip "namespaces are not permitted here: $why"
  SLURM_TEST_INSIDE=yes exec unshare -n -u -p -m -f --mount-proc --kill-child "$0" "$@"
fi

heddle=$1 probe=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

fail() {
  echo "FAILED: $*"
  tail -n 30 "$work/out" "$work"/*.log
  exit 1
}

start_slurm() {
  hostname localhost # a name that is known everywhere
  ip link set lo up
  ip link add eth0 type veth peer name eth1 # with the loopback alone Slurm finds no address family
  ip address add 10.89.0.1/24 dev eth0
  ip link set eth0 up
  ip link set eth1 up
  mkdir "$work/state" "$work/n0" "$work/n1"
  (umask 077 && head -c 128 /dev/urandom >"$work/key")
  munged --force --key-file "$work/key" --socket "$work/munge" --pid-file "$work/munge.pid" \
    --seed-file "$work/seed" --log-file "$work/munged.log"
  cat >"$work/slurm.conf" <<END
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=6817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/%n.log
SlurmdParameters=config_overrides
TmpFS=$work/%n
ReturnToService=2
KillWait=2
NodeName=n[0-1] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[17001-17002] CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
END
  echo 'CgroupAutomount=no' >"$work/cgroup.conf"
  export SLURM_CONF="$work/slurm.conf"
  slurmctld -c
  slurmd -N n0
  slurmd -N n1
}

# start N WORD...: N ranks of this program on both nodes, by PMI $way; their output in $work/out.
start() {
  n=$1
  shift
  timeout 60 srun --mpi="$way" -N 2 -n "$n" "$@" >"$work/out" 2>&1
}

start_slurm
way=none
start 2 true || fail "Slurm starts nothing here ($?)"

code=0
start 4 "$heddle" linktest || code=$?
[ "$code" = 1 ] || fail "the status of ranks without PMI is $code"
grep -q 'one of 4 processes of srun, started without PMI' "$work/out" || fail "not refused without PMI"

ways=pmi2
if srun --mpi=list 2>&1 | grep -qw pmix; then ways='pmi2 pmix'; else echo 'pmix left out: Slurm has no plugin for it'; fi
for way in $ways; do
  echo "--- $way"
  # The last rank comes late, and the others wait for it.
  # shellcheck disable=SC2016 # the ranks' variable
  start 4 sh -c '[ $SLURM_PROCID != 3 ] || sleep 1; exec "$@"' late "$heddle" linktest --sizes 8,64K --messages 3 \
    --repetitions 1 --diagnosis never --overwrite --output "$work/results" || fail "the link test ended with $?"
  [ "$(grep -c '^4 ranks on 1 host' "$work/out")" = 1 ] || fail "the link test was not one job of 4"

  start 4 "$probe" who exchange secrets exchange-most barrier || fail "the ranks did not meet ($?)"
  for r in 0 1 2 3; do grep -q "^rank $r of 4" "$work/out" || fail "no rank $r of 4"; done

  rm -f "$work/came"
  start 2 sh -c "
    [ \$SLURM_PROCID = 1 ] && { sleep 1; touch '$work/came'; exec '$probe' join barrier leave; }
    '$probe' join barrier leave && [ -e '$work/came' ]" || fail "a late rank was not waited for ($?)"

  code=0
  start 2 sh -c "[ \$SLURM_PROCID = 1 ] || exec '$probe' join leave; '$probe' join leave fail" || code=$?
  [ "$code" = 7 ] || fail "the status of a rank that ended with 7 is $code"

  aborted=42
  [ "$way" = pmix ] || aborted=137 # Slurm kills the job, and tells no status
  code=0
  start 2 "$probe" join abort || code=$?
  [ "$code" = "$aborted" ] || fail "the status of a job that its ranks have aborted with 42 is $code"
done
