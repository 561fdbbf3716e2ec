#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# package_round.sh - what packages.sh does within its fresh Debian 12, as root: installs the packages in
# /packages one after the other, tries each as a normal user, and takes them away again.
# shellcheck disable=SC2016 # what as_user runs expands there
set -eux
cd /packages
export DEBIAN_FRONTEND=noninteractive
apt-get -q update >/dev/null
adduser --disabled-password --gecos '' weaver >/dev/null
install_package() {
  apt-get -q -y --no-install-recommends install "$@" >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
}
as_user() {
  setpriv --reuid=weaver --regid=weaver --init-groups env -i HOME=/home/weaver PATH=/usr/bin:/bin \
    LC_ALL=C.UTF-8 sh -euxc "cd; $1"
}

# The library, for who runs a program, and then what it takes to build one.
before=$(find /usr -path /usr/share/doc -prune -o -print | grep -c heddle || :)
[ "$before" = 0 ]
install_package ./libheddle0_*.deb
ldconfig -p | grep -q libheddle.so.0
install_package ./libheddle-dev_*.deb g++ pkgconf
as_user 'flags=$(pkg-config --cflags --libs heddle); [ "$flags" = "-lheddle " ]; g++ -std=c++20 /packages/main.cpp -o alone $flags
  [ "$(./alone)" = "rank 0 of 1" ]'
install_package cmake make
as_user 'mkdir -p by_cmake; cd by_cmake; cp /packages/main.cpp .
  printf "%s\n" "cmake_minimum_required(VERSION 3.25)" "project(p CXX)" "find_package(heddle 0.1 REQUIRED)" \
    "add_executable(p main.cpp)" "target_link_libraries(p heddle::heddle)" >CMakeLists.txt
  cmake -S . -B build >/dev/null; cmake --build build; [ "$(build/p)" = "rank 0 of 1" ]'

as_user 'cc -std=c11 /packages/ring.c -o ring_in_c $(pkg-config --cflags --libs heddle)
  [ "$(./ring_in_c)" = "rank 0 was told 100" ]'

# The program, with the README's example; what measures rivals, without any of them and with one.
install_package ./heddle-tools_*.deb man-db
as_user "awk '/^\`\`\`cpp/ { on = 1; next } /^\`\`\`/ { if (on) exit } on' /packages/README.md >ring.cpp
  g++ -std=c++20 ring.cpp -o ring \$(pkg-config --cflags --libs heddle)
  [ \"\$(heddle run -n 4 -- ./ring | grep -c 'left neighbour')\" = 4 ]
  HEDDLE_BACKENDS=utofu heddle run -n 3 -- ./ring
  heddle info >/dev/null; man -w heddle-run; cd /tmp; heddle linktest -n 3 --messages 20 --sizes 8,100K >/dev/null"
install_package ./python3-heddle_*.deb
as_user 'heddle run -n 3 -- python3 /packages/everything.py | grep -c "all is right" | grep -qx 3'
install_package ./heddle-bench_*.deb
as_user 'heddle bench check-ucx --backend shm --rounds 1 --time-ms 20 2>&1 | tee said; grep -qi ucx said'
install_package ucx-utils
as_user 'heddle bench check-ucx --backend shm --rounds 1 --time-ms 20'

apt-get -q -y install lintian >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
as_user 'lintian --fail-on error /packages/*.deb'

apt-get -q -y purge libheddle0 >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
left=$(find /usr /etc /var/lib/heddle 2>/dev/null | grep -i heddle || :)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }

# From the sources, now that no package is in the way: within another project by FetchContent, and a static
# program by clang++ and lld. The script skips with 77, which is a failure here.
install_package ninja-build clang lld pkgconf libsodium-dev libfmt-dev nlohmann-json3-dev
as_user 'mkdir heddle; tar -x -C heddle -f /packages/heddle.tar
  sh heddle/tests/checks/embedded_project.sh "$PWD/heddle" g++'
