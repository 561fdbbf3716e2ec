#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# programs.sh pingpong|perftest|ucx|libfabric DEVICE FILES: runs unmodified programs of Debian on the software
# device, each as a server and a client. DEVICE and FILES are the libraries to preload. Ends with 77
# where the programs are not installed.
suite=$1 device=$2 files=$3
# Fifty ports of its own, so that suites beside each other do not meet, below those that the kernel gives out (32768).
port=$((20000 + $$ % 250 * 50))
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
failed=0

needs() {
  command -v "$1" > /dev/null && return
  echo "$1 is not installed (package $2)"
  exit 77
}

# in_use PORT STATE: a socket with this port is in this state (0A: it listens).
in_use() {
  grep -q "$(printf ':%04X' "$1") [^ ]* $2" /proc/net/tcp /proc/net/tcp6
}

# next_port: the next one that nobody has, not even a connection that has ended.
next_port() {
  port=$((port + 1))
  while in_use $port ..; do port=$((port + 1)); done
}

# until_listening PORT SERVER: the server has opened its port. It fails where the server ends first, or takes half a minute.
until_listening() {
  for _ in $(seq 600); do
    in_use "$1" 0A && return
    kill -0 "$2" 2> /dev/null || break
    sleep 0.05
  done
  echo "the server has not opened port $1" > "$log/client"
  return 1
}

# pair PORT-OPTION[,CLIENT'S] PROGRAM ARGUMENT...: a server, and a client that goes to localhost.
pair() {
  local at=${1%,*} to=${1#*,} server
  shift
  next_port
  LD_PRELOAD=$preload timeout 60 "$@" "$at" $port > "$log/server" 2>&1 &
  server=$!
  if until_listening $port $server &&
     LD_PRELOAD=$preload timeout 60 "$@" "$to" $port localhost > "$log/client" 2>&1 &&
     wait $server; then
    echo "ok: $*"
    return
  fi
  kill $server 2> /dev/null
  wait $server
  echo "FAILED: $*"
  sed 's/^/  client: /' "$log/client"
  sed 's/^/  server: /' "$log/server"
  failed=1
}

preload=$device
case $suite in
pingpong)
  needs ibv_rc_pingpong ibverbs-utils
  LD_PRELOAD=$preload ibv_devinfo > "$log/info" && grep -q PORT_ACTIVE "$log/info" ||
    { echo "FAILED: ibv_devinfo"; failed=1; }
  for mode in inline engine chaos; do
    export SOFTHCA_MODE=$mode
    for program in ibv_rc_pingpong ibv_ud_pingpong ibv_srq_pingpong; do
      pair -p $program -n 100 -c
      pair -p $program -n 100 -c -e
    done
    pair -p ibv_rc_pingpong -n 100 -c -N
  done
  ;;
perftest)
  needs ib_write_bw perftest
  for operation in write send read atomic; do
    pair -p ib_${operation}_bw -n 200
    pair -p ib_${operation}_lat -n 20
    pair -p ib_${operation}_bw -n 512 -q 4 -l 16
  done
  pair -p ib_write_bw -a -n 16
  pair -p ib_atomic_bw -A CMP_AND_SWAP -n 200
  pair -p ib_send_bw -e -n 200
  pair -p ib_send_bw --use-srq -q 2 -n 200
  pair -p ib_send_lat --use-srq -n 20
  pair -p ib_send_bw -b -n 200
  pair -p ib_send_bw -c UD -s 2048 -n 200
  ;;
ucx)
  needs ucx_perftest ucx-utils
  preload=$device:$files
  for test in put_lat put_bw am_lat add_lat fadd cswap; do
    pair -p ucx_perftest -d softhca0:1 -x rc_verbs -t $test -n 200 -w 20
  done
  pair -p ucx_perftest -d softhca0:1 -x ud_verbs -t am_lat -n 200 -w 20
  export UCX_TLS=rc_v,ud_v,self
  for test in tag_lat tag_bw ucp_put_lat ucp_get ucp_fadd ucp_cswap ucp_am_bw; do
    pair -p ucx_perftest -t $test -n 200 -w 20
  done
  pair -p ucx_perftest -t tag_bw -s 1048576 -n 50 -w 5
  ;;
libfabric)
  needs fi_pingpong libfabric-bin
  pair -B,-P fi_pingpong -p "verbs;ofi_rxd" -e rdm -I 50 -S 4096
  ;;
esac
exit $failed
