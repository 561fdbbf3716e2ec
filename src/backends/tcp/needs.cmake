# SPDX-License-Identifier: BSD-3-Clause
# heddle_runs_over_tcp(example): as four ranks.
list(APPEND HEDDLE_RUNS_OVER tcp)
function(heddle_runs_over_tcp example)
  heddle_example_test(${example} 4.tcp -n 4 --env HEDDLE_BACKENDS=tcp)
endfunction()
