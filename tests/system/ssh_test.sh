#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ssh_test.sh HEDDLE - a job on "hosts" that are reached by a real ssh: an sshd of our own at two loopback
# addresses, with keys made for this test.
#
# Skipped (77) without sshd, or where it does not let us in.
set -eu
heddle=$1
work=$(mktemp -d)
sshd=$(command -v sshd || echo /usr/sbin/sshd)

clean() {
  [ ! -s "$work/sshd.pid" ] || kill "$(cat "$work/sshd.pid")"
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

# shellcheck source=tests/system/skip_or_fail.sh
. "$(dirname "$0")/skip_or_fail.sh"

[ -x "$sshd" ] || skip 'there is no sshd (Debian: openssh-server)'
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd # where it asks for it
for key in host me; do ssh-keygen -q -t ed25519 -N '' -f "$work/$key"; done
cat >"$work/sshd_config" <<END
ListenAddress 127.0.0.1
ListenAddress 127.0.0.2
HostKey $work/host
PidFile $work/sshd.pid
AuthorizedKeysFile $work/me.pub
StrictModes no
UsePAM no
END
port=$((20000 + $$ % 10000))
tries=10
until "$sshd" -f "$work/sshd_config" -p $port -E "$work/log"; do # another one's, perhaps
  tries=$((tries - 1))
  [ $tries -gt 0 ] || skip "sshd does not start: $(cat "$work/log")"
  port=$((port + 1))
done
cat >"$work/config" <<END
Host *
  Port $port
  IdentityFile $work/me
  IdentitiesOnly yes
  UserKnownHostsFile $work/known
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  BatchMode yes
END
for address in 127.0.0.1 127.0.0.2; do echo "[$address]:$port $(cat "$work/host.pub")"; done >"$work/known"
ssh -F "$work/config" 127.0.0.2 true 2>"$work/why" || skip "sshd does not let us in: $(cat "$work/why" "$work/log")"

hosts="--hosts 127.0.0.1:2,127.0.0.2:2"
# with_ssh COMMAND OPTION...: `heddle COMMAND` on these hosts; its status is returned.
with_ssh() {
  command=$1
  shift
  code=0
  # shellcheck disable=SC2086 # words
  timeout 100 "$heddle" "$command" --starter "ssh -F $work/config" $hosts "$@" >"$work/out" 2>"$work/err" || code=$?
  return $code
}

echo '--- the link tester starts itself by ssh'
with_ssh linktest --sizes 8,64K --messages 5 --repetitions 1 --diagnosis never --output "$work/result" ||
  fail 'the link test'
grep -qF '4 ranks on 1 host' "$work/out" || fail 'no job of 4 ranks on what is one host'

echo '--- input goes to rank 0, output comes from all'
# shellcheck disable=SC2016 # the rank's variables
echo 'a line' | with_ssh run -- sh -c 'if [ $HEDDLE_RANK = 0 ]; then cat; else echo "from $HEDDLE_RANK"; fi' ||
  fail 'ranks that print'
for text in 'a line' 'from 1' 'from 2' 'from 3'; do grep -qF "$text" "$work/out" || fail "'$text' is missing"; done

echo '--- the status of the first rank that fails'
# shellcheck disable=SC2016
with_ssh run -- sh -c '[ $HEDDLE_RANK != 3 ] || exit 3; sleep 1000' || code=$?
[ "$code" = 3 ] || fail "status $code, not 3"

echo '--- nothing of a job is left when its ssh is killed'
# shellcheck disable=SC2086
timeout 100 "$heddle" run --starter "ssh -F $work/config" $hosts -- sh -c 'echo $$; exec sleep 1000' \
  >"$work/out" 2>"$work/err" &
job=$!
until [ "$(wc -l <"$work/out")" = 4 ]; do
  kill -0 "$job" || fail 'ranks that sleep'
  sleep 0.1
done
ranks=$(grep -o '[0-9]*$' "$work/out")
pgrep -f "^ssh -F $work/config 127.0.0.2 " | xargs kill -KILL
code=0
wait "$job" || code=$?
[ "$code" != 0 ] || fail 'a job without a host ends well'
tries=100
for rank in $ranks; do
  while kill -0 "$rank" 2>/dev/null; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || fail "rank of process $rank is left"
    sleep 0.1
  done
done

echo '--- an unknown host is refused, with the words of ssh'
: >"$work/known"
if with_ssh run -- true; then fail 'a host with an unknown key is believed'; fi
grep -qF 'Host key verification failed' "$work/err" || fail 'the reason is missing'
