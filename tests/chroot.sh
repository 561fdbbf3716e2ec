#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# chroot.sh - tries the README's two commands in a fresh Debian 12 that has nothing but a shell, git
# and apt. For maintainers; needs root, debootstrap and about 8 GB below /var/tmp.
#   sudo tests/chroot.sh [command...]      # default: "./dev demo" and "./dev test"
# The commit HEAD is tried, not the working tree. MIRROR overrides where packages come from.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" = 0 ] || { echo "chroot.sh: needs root" >&2; exit 1; }
[ $# -gt 0 ] || set -- "./dev demo" "./dev test"
# shellcheck source=tests/fresh_chroot.sh
. "$source/tests/fresh_chroot.sh"

make_chroot git
mkdir -p "$root/root/heddle"
git -C "$source" archive HEAD | tar -x -C "$root/root/heddle"

failed=0
for command; do
  for round in first second; do
    echo "=== $command ($round run)"
    start=$(date +%s)
    enter sh -c "cd /root/heddle && $command" </dev/null || failed=1
    echo "=== $command ($round run): $(($(date +%s) - start)) s"
  done
done
nothing_left_behind || failed=1
exit "$failed"
