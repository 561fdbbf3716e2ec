#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# recorded_test.sh HEDDLE JOB - what somebody learns who records the cable between two "hosts".
#
# Skipped (77) where namespaces may not be made, and without python3.
set -eu
heddle=$1 job=$2
. "$(dirname "$0")/two_hosts.sh"
command -v python3 >/dev/null || {
  echo 'skipped: there is no python3'
  exit 77
}
join_by cable0 10.87.0
text='nobody else may read this, not even once'

# seen VALUE: how many lines of a record have the text, with HEDDLE_TCP_CRYPT=VALUE.
seen() {
  : >"$work/recorder"
  ip netns exec "$left" "$(dirname "$0")/recorder.py" cable0 "$work/record" >>"$work/recorder" 2>&1 &
  recorder=$!
  until grep -q listening "$work/recorder"; do
    kill -0 "$recorder" || { cat "$work/recorder"; exit 1; }
    sleep 0.1
  done
  # shellcheck disable=SC2016 # the rank's variable
  "$heddle" run -n 2 --env "HEDDLE_TCP_CRYPT=$1" -- sh -c '
    host=$1; [ "$HEDDLE_RANK" = 0 ] || host=$2; shift 2
    exec ip netns exec "$host" "$@"' sh "$left" "$right" "$job" "$text" >&2
  sleep 0.2 # what is on its way to the record
  kill "$recorder"
  wait "$recorder" || :
  bytes=$(wc -c <"$work/record")
  [ "$bytes" -gt 4000000 ] || { echo "FAILED: a record of $bytes bytes, of a job that moves 6 MiB" >&2; exit 1; }
  tr -c '[:print:]' '\n' <"$work/record" | grep -cF -e "$text" || :
}

plain=$(seen off)
echo "plain: seen in $plain lines"
[ "$plain" -gt 100 ] || { echo 'FAILED: the recorder sees nothing, so that its silence would prove nothing'; exit 1; }

for crypt in on chacha20; do
  sealed=$(seen $crypt)
  echo "HEDDLE_TCP_CRYPT=$crypt: seen in $sealed lines"
  [ "$sealed" = 0 ] || { echo 'FAILED: what ranks send can be read'; exit 1; }
  # Not in part either: a frame could begin or end in plain text.
  for part in 'nobody el' 'may read' 'not even'; do
    ! grep -qaF -e "$part" "$work/record" || { echo "FAILED: '$part' can be read"; exit 1; }
  done
done
