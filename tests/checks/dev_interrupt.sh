#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# dev_interrupt.sh - Ctrl-C at ./dev ends what it had started, also what does not want to end.
#
# A copy of `dev` gets a `cmake` that ignores every polite signal and has a child of its own.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$source/dev" "$work/dev"
: >"$work/packages.txt"
cat >"$work/cmake" <<'END'
#!/bin/sh
trap '' INT TERM
sleep 600 &
echo "$$ $!" >"$PIDS.new"
mv "$PIDS.new" "$PIDS"
wait
sleep 600
END
chmod +x "$work/cmake"

export PIDS="$work/pids"
PATH=$work:$PATH "$work/dev" build release >"$work/log" 2>&1 &
dev=$!
while [ ! -e "$PIDS" ]; do
  kill -0 "$dev" 2>/dev/null || { cat "$work/log"; exit 1; }
  sleep 0.05
done
kill -TERM "$dev" # as INT, which a script's background command cannot receive
code=0
wait "$dev" || code=$?

[ "$code" = 130 ] || { echo "dev ended with $code:"; cat "$work/log"; exit 1; }
read -r parent child <"$PIDS"
for pid in "$parent" "$child"; do
  state=$(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2>/dev/null || :)
  case $state in
    '' | Z) ;;
    *) echo "process $pid is still there"; exit 1 ;;
  esac
done
