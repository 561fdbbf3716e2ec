#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# aborting.sh HEDDLE PROGRAM - a job of three that one ends for all: its status and its reason are the job's.
code=0
said=$("$1" run -n 3 -- "$2" 2>&1) || code=$?
echo "$said"
echo "status $code"
[ "$code" = 42 ] && echo "$said" | grep -q '^heddle: rank 1 ends the job with status 42: no input$'
