#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# start_ranks.sh N PROGRAM OPTION...: what a launcher does, on this machine. Ends as rank 0 ends.
set -eu
size=$1
shift
meet=$(mktemp -d)
others=
trap 'kill $others 2>/dev/null || true; rm -rf "$meet"' EXIT
rank=1
while [ "$rank" -lt "$size" ]; do
  "$@" --meet "$meet" --rank "$rank" --size "$size" &
  others="$others $!"
  rank=$((rank + 1))
done
"$@" --meet "$meet" --rank 0 --size "$size"
