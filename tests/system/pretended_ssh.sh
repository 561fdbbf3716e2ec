#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pretended_ssh.sh HOST COMMAND...: what ssh would do, without leaving this machine. The environment
# is a login's; how well it goes depends on HOST's name.
host=$1
shift
case $host in
  unread*) # the launcher reads nothing until the agent has long greeted
    kill -STOP $PPID
    { sleep 0.5; kill -CONT $PPID; } >/dev/null 2>&1 &
    ;;
esac
case $host in
  noisy*|unread*)
    echo "Welcome to $host!"
    echo "You have mail." >&2
    printf 'Your quota is full'
    ;;
  denied*)
    echo "me@$host: Permission denied (publickey)." >&2
    exit 255
    ;;
  closed*) exit 0 ;;
  older*)
    printf '\nHEDDLE-AGENT 1 0.0.9\n'
    exec cat >/dev/null
    ;;
  endless*) exec yes 'no agent' ;;
  babbling*)
    printf '\nHEDDLE-AGENT %s\n' "$PRETENDED_GREETING"
    exec yes 'no message'
    ;;
  slow*) exec sleep 1000 ;;
  tardy*) sleep 3 ;;
  few-files*) ulimit -n 512 ;;
esac
set -- env -i PATH="$PATH" HOME="/home/at/$host" LAUNCHER_TEST_MARK="$LAUNCHER_TEST_MARK" sh -c "$*"
case $host in
  shell*) "$@" ;; # stays, as ssh does
  deaf*) { sleep 7; exec cat; } | "$@" ;;
  *) exec "$@" ;;
esac
