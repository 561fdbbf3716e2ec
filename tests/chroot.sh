#!/bin/sh
# chroot.sh - tries the README's two commands in a fresh Debian 12 that has nothing but a shell, git
# and apt. For maintainers; needs root, debootstrap and about 8 GB below /var/tmp.
#   sudo tests/chroot.sh [command...]      # default: "./dev demo" and "./dev test"
# The commit HEAD is tried, not the working tree. MIRROR overrides where packages come from.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" = 0 ] || { echo "chroot.sh: needs root" >&2; exit 1; }
[ $# -gt 0 ] || set -- "./dev demo" "./dev test"

# The mirror this host uses for Debian itself, in either format of sources.
host_mirror() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    sed -n 's/^URIs: *\([^ ]*\/debian\)\/* *$/\1/p; s/^deb .*\(https*:[^ ]*\/debian\)\/* .*/\1/p' |
    head -n 1
}
mirror=${MIRROR:-$(host_mirror)}
mirror=${mirror:-http://deb.debian.org/debian}

root=$(mktemp -d /var/tmp/heddle-chroot.XXXXXX)
chmod 755 "$root"
mounted=
# shellcheck disable=SC2317 # called by the trap
clean_up() {
  for place in $mounted; do
    umount --recursive "$root/$place" || umount --recursive --lazy "$root/$place"
  done
  # Never into a mount that would not go.
  grep -q " $root/" /proc/self/mounts || rm -rf --one-file-system "$root"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

enter() {
  env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" LC_ALL=C.UTF-8 \
    chroot "$root" "$@"
}

echo "chroot.sh: bookworm from $mirror in $root"
debootstrap --variant=minbase --include=git bookworm "$root" "$mirror" >"$root.log" 2>&1 ||
  { tail -n 20 "$root.log"; exit 1; }
rm "$root.log"
echo "deb $mirror bookworm-updates main" >>"$root/etc/apt/sources.list"
apt-config dump Acquire::http::Proxy >"$root/etc/apt/apt.conf.d/90proxy"
apt-config dump Acquire::https::Proxy >>"$root/etc/apt/apt.conf.d/90proxy"
cp /etc/resolv.conf /etc/hosts "$root/etc/"

for place in proc sys dev; do
  mount --rbind "/$place" "$root/$place"
  mount --make-rslave "$root/$place"
  mounted="$place $mounted"
done

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

# What a run leaves behind would still have its root here.
for process in /proc/[0-9]*; do
  if [ "$(readlink "$process/root" 2>/dev/null)" = "$root" ]; then
    echo "left behind: $(tr '\0' ' ' <"$process/cmdline")"
    failed=1
  fi
done
exit "$failed"
