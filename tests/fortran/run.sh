#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh HEDDLE WIRE MODULE PROGRAM FOLDER - PROGRAM, compiled with MODULE as its users do, as a job of
# three over WIRE. FOLDER has the library. Skipped (77) where no Fortran compiler is.
set -eu
heddle=$1 wire=$2 module=$3 program=$4 library=$5
if ! command -v gfortran > /dev/null; then
  echo "skipped: no gfortran here"
  exit 77
fi
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
cd "$made"
gfortran -std=f2018 -Wall -Werror "$module" "$program" -L"$library" -lheddle -Wl,-rpath,"$library" -o program
"$heddle" run -n 3 --env "HEDDLE_BACKENDS=$wire" -- ./program | tee said
grep -q '^heat in all cells: 1000.00$' said
