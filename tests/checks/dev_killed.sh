#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# dev_killed.sh - ./dev that was killed while it made packages takes back the configuration they need.
#
# A copy of `dev` gets a `cmake` whose cache says only what it was last configured for, and which stays
# when that is packages.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$source/dev" "$work/dev"
: >"$work/packages.txt"
mkdir -p "$work/build/release"
cat >"$work/cmake" <<'END'
#!/bin/sh
cache=build/release/CMakeCache.txt
case $* in
  *HEDDLE_PACKAGE=ON*)
    echo packages >$cache
    echo $$ >"$PID.new"
    mv "$PID.new" "$PID"
    exec sleep 600
    ;;
  *--preset*AT_ONCE*) echo suite >$cache ;;
esac
END
printf '#!/bin/sh\n' >"$work/ctest"
chmod +x "$work/cmake" "$work/ctest"

export PID="$work/pid"
export PATH="$work:$PATH"
"$work/dev" test --ci >"$work/log" 2>&1 &
dev=$!
while [ ! -e "$PID" ]; do
  kill -0 "$dev" 2>/dev/null || { cat "$work/log"; exit 1; }
  sleep 0.05
done
kill -KILL "$dev" "$(cat "$PID")"
wait "$dev" || :
[ "$(cat "$work/build/release/CMakeCache.txt")" = packages ]

"$work/dev" build release
found=$(cat "$work/build/release/CMakeCache.txt")
[ "$found" = suite ] || { echo "still configured for: $found"; exit 1; }
"$work/dev" build release # which finds nothing more to take back
