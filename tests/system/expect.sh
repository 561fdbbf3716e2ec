# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# expect.sh - for scripts that run the program heddle and compare what it does. They set `heddle` and read this: it makes the
# folder $work, which goes with the script, and counts in $failures.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $*"
  sed 's/^/  | /' "$work/out" "$work/err"
  failures=$((failures + 1))
}

# expect STATUS ARGUMENTS...: runs the program and compares its exit status.
expect() {
  want=$1
  shift
  "${heddle:?}" "$@" >"$work/out" 2>"$work/err"
  got=$?
  [ "$got" -eq "$want" ] || fail "heddle $*: exit status $got, not $want"
}

says() { # FILE TEXT
  grep -q -e "$2" "$work/$1" || fail "nothing about '$2' in $1"
}
