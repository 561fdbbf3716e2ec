#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# readme_recipe.sh BUILD_DIR README - installs, builds and runs by the README's own words: the block
# that begins with `cmake --install`, without a change, over its program. As a normal user in a home of
# its own; root gives its rights away first, if others may read the build.
set -eu
build=$1
readme=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

# block LANGUAGE PATTERN: the first block of that language that has a line which matches.
block() {
  awk -v open="\`\`\`$1" -v pattern="$2" '
    $0 == open { inside = 1; text = ""; found = 0; next }
    /^```/ && inside { if (found) { printf "%s", text; exit } inside = 0 }
    inside { text = text $0 "\n"; if ($0 ~ pattern) found = 1 }' "$readme"
}

mkdir -p "$work/home" "$work/heddle-sources/build"
ln -s "$build" "$work/heddle-sources/build/release"
block cpp 'heddle::world world' >"$work/heddle-sources/ring.cpp"
{ echo set -eux; block sh '^cmake --install'; } >"$work/recipe"
grep -q '^heddle run' "$work/recipe" || { echo "README.md has no recipe with heddle run" >&2; exit 1; }

nobody=
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups \
  test -r "$build/cmake_install.cmake" 2>/dev/null; then
  trap 'rm -rf "$work" "$build/install_manifest.txt"' EXIT
  nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
  # CMake notes in the build what it has installed.
  touch "$build/install_manifest.txt"
  chown 65534:65534 "$build/install_manifest.txt" "$work/home" "$work/heddle-sources"
fi
cd "$work/heddle-sources"
# shellcheck disable=SC2086 # several words
$nobody env -i HOME="$work/home" PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 bash "$work/recipe" \
  >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
[ "$(grep -c '^rank [0-3]: left neighbour' "$work/said")" = 4 ] || { cat "$work/said"; exit 1; }
