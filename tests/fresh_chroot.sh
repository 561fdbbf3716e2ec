# SPDX-License-Identifier: BSD-3-Clause
# fresh_chroot.sh - read by scripts that try something in a Debian 12 which has nothing else in it: make
# it, enter it, and see that nothing of it stays behind. Needs root and debootstrap. MIRROR overrides
# where packages come from.
# shellcheck shell=sh

# The mirror this host uses for Debian itself, in either format of sources.
host_mirror() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    sed -n 's/^URIs: *\([^ ]*\/debian\)\/* *$/\1/p; s/^deb .*\(https*:[^ ]*\/debian\)\/* .*/\1/p' |
    head -n 1
}

mirror=${MIRROR:-$(host_mirror)}
mirror=${mirror:-http://deb.debian.org/debian}

# Why there can be no such Debian here; nothing, if there can.
why_no_chroot() {
  [ "$(id -u)" = 0 ] || { echo "it needs root"; return; }
  command -v debootstrap >/dev/null || { echo "debootstrap is not installed"; return; }
  unshare --mount true 2>/dev/null || { echo "nothing may be mounted here"; return; }
  device=$(mktemp -u /var/tmp/heddle-device.XXXXXX)
  (mknod "$device" c 1 3 && : >"$device") 2>/dev/null || { rm -f "$device"; echo "/var/tmp takes no devices"; return; }
  rm "$device"
  answer=$(mktemp)
  /usr/lib/apt/apt-helper download-file "$mirror/dists/bookworm/Release" "$answer" >/dev/null 2>&1 ||
    echo "$mirror does not answer"
  rm -f "$answer"
}

# make_chroot PACKAGES: sets $root. PACKAGES, with commas between them, are there besides the minimum.
make_chroot() {
  root=$(mktemp -d /var/tmp/heddle-chroot.XXXXXX)
  chmod 755 "$root"
  mounted=
  trap remove_chroot EXIT
  trap 'exit 130' INT TERM HUP
  echo "$(basename "$0"): bookworm from $mirror in $root"
  debootstrap --variant=minbase --include="$1" bookworm "$root" "$mirror" >"$root.log" 2>&1 ||
    { tail -n 20 "$root.log"; exit 1; }
  rm "$root.log"
  echo "deb $mirror bookworm-updates main" >>"$root/etc/apt/sources.list"
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe"  # it need not outlive the machine
  apt-config dump Acquire::http::Proxy >"$root/etc/apt/apt.conf.d/90proxy"
  apt-config dump Acquire::https::Proxy >>"$root/etc/apt/apt.conf.d/90proxy"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  for place in proc sys dev; do
    mount --rbind "/$place" "$root/$place"
    mount --make-rslave "$root/$place"
    mounted="$place $mounted"
  done
}

# shellcheck disable=SC2317 # called by the trap
remove_chroot() {
  for place in $mounted; do
    umount --recursive "$root/$place" || umount --recursive --lazy "$root/$place"
  done
  # Never into a mount that would not go.
  grep -q " $root/" /proc/self/mounts || rm -rf --one-file-system "$root"
}

# enter COMMAND...: as root in there, with an environment of its own.
enter() {
  env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" LC_ALL=C.UTF-8 \
    chroot "$root" "$@"
}

# What a run leaves behind would still have its root there. Fails if there is any.
nothing_left_behind() {
  left=0
  for process in /proc/[0-9]*; do
    if [ "$(readlink "$process/root" 2>/dev/null)" = "$root" ]; then
      echo "left behind: $(tr '\0' ' ' <"$process/cmdline")"
      left=1
    fi
  done
  return "$left"
}
