#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sysroot.sh - unpacks Debian packages of another architecture, with all they depend on, into a
# folder. Installs nothing, needs no root, and leaves this machine's own packages as they are: apt
# works here on lists and a status of its own.
#   cmake/toolchains/sysroot.sh FOLDER ARCHITECTURE PACKAGE...
set -eu
[ $# -ge 3 ] || { echo "usage: sysroot.sh FOLDER ARCHITECTURE PACKAGE..." >&2; exit 2; }
mkdir -p "$1"
root=$(cd "$1" && pwd)
architecture=$2
shift 2

# The same packages as last time: nothing to do.
wanted="$architecture $*"
[ "$(cat "$root/.packages" 2>/dev/null || :)" != "$wanted" ] || exit 0

work=$(mktemp -d "$root.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/root/usr/lib"
: >"$work/status"
cat >"$work/apt.conf" <<END
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "";
Dir::State "$work/state";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
END
export APT_CONFIG="$work/apt.conf"
apt-get -q update
apt-get -q -y --no-install-recommends --download-only install "$@"

# One tree, where /lib is /usr/lib, as on the installed system.
ln -s usr/lib "$work/root/lib"
for package in "$work"/cache/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink --no-same-owner \
    --exclude='./usr/share/doc' --exclude='./usr/share/man' --exclude='./usr/share/locale' \
    --exclude='./etc' --exclude='./var' -C "$work/root"
done
# Links to the tree's root must stay inside it.
find "$work/root" -type l -lname '/*' | while read -r link; do
  ln -sfnr "$work/root$(readlink "$link")" "$link"
done
printf '%s\n' "$wanted" >"$work/root/.packages"
rm -rf "$root"
mv "$work/root" "$root"
