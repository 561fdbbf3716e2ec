#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh HEDDLE WIRE PROGRAM [PYTHON...] - PROGRAM as a job of three over WIRE, by the first Python that has
# what the package needs. Skipped (77) where none has.
set -eu
heddle=$1 wire=$2 program=$3
shift 3
for python in "$@" python3 /usr/bin/python3; do
  if "$python" -c 'import cffi, numpy' 2>/dev/null; then
    SOFTTOFU_JOB=in_python_$$ exec "$heddle" run -n 3 --env "HEDDLE_BACKENDS=$wire" -- "$python" "$program"
  fi
done
echo "skipped: no Python here has cffi and numpy (packages python3-cffi, python3-numpy)"
exit 77
