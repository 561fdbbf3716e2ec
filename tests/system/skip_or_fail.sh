# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# skip_or_fail.sh - for scripts that end with what is wrong first. They keep what programs say in $work/out, and in $work/err
# where they tell the two apart.
skip() {
  echo "skipped: $*"
  exit 77
}
fail() {
  echo "FAILED: $*"
  cat "${work:?}/out" "$work/err" 2>/dev/null || :
  exit 1
}
