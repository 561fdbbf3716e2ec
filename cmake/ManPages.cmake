# SPDX-License-Identifier: BSD-3-Clause
# Man pages and completion for bash, zsh and fish, made from what the program `heddle` itself says.
# Targets: docs-man (needs help2man), completion. Both part of the default build.

# A program for another machine cannot be asked here.
if(NOT TARGET heddle_tool OR HEDDLE_SANITIZE OR HEDDLE_LINT OR CMAKE_CROSSCOMPILING)
  return()
endif()

set(HEDDLE_COMPLETION ${PROJECT_BINARY_DIR}/share/heddle.bash)
set(scripts)
foreach(shell bash zsh fish)
  set(script ${PROJECT_BINARY_DIR}/share/heddle.${shell})
  add_custom_command(OUTPUT ${script}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/share
    COMMAND heddle_tool --completion ${shell} > ${script}
    DEPENDS heddle_tool COMMENT "${shell} completion" VERBATIM)
  list(APPEND scripts ${script})
endforeach()
add_custom_target(completion ALL DEPENDS ${scripts})

find_program(HEDDLE_HELP2MAN help2man)
if(NOT HEDDLE_HELP2MAN)
  return()
endif()

set(HEDDLE_MAN_DIR ${PROJECT_BINARY_DIR}/share/man1)
if(HEDDLE_PACKAGE)
  set(HEDDLE_MAN_DIR ${PROJECT_BINARY_DIR}/share/compressed/man1)
endif()
set(pages)

# heddle_man_page(page title arguments): writes page.1 from `heddle arguments --help`, or --help-all where
# the variable help says so.
set(help --help)
function(heddle_man_page page title)
  set(output ${HEDDLE_MAN_DIR}/${page}.1)
  set(made ${output})
  set(compress)
  if(HEDDLE_PACKAGE)
    set(made ${output}.gz)
    set(compress COMMAND gzip -9nf ${output})
  endif()
  string(JOIN " " command $<TARGET_FILE:heddle_tool> ${ARGN})
  add_custom_command(OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${HEDDLE_MAN_DIR}
    COMMAND ${HEDDLE_HELP2MAN} --no-info --section=1 --name=${title} --source=Heddle
            --version-string=${PROJECT_VERSION} --output=${output} --help-option=${help} ${command}
    COMMAND sed -i "/^.SH NAME/{n;s/^heddle [a-z]* /${page} /}" ${output}  # "heddle run" is no name to man
    ${compress}
    DEPENDS heddle_tool COMMENT "man page ${page}(1)" VERBATIM)
  set(pages ${pages} ${made} PARENT_SCOPE)
endfunction()

heddle_man_page(heddle "communication engine: launcher, link tester, benchmarks")
heddle_man_page(heddle-run "start the ranks of a job" run)
heddle_man_page(heddle-linktest "measure every pair of ranks and draw the matrix" linktest)
heddle_man_page(heddle-report "make pages and tables from the link tester's results" report)
set(help --help-all)
heddle_man_page(heddle-bench "measure latency, bandwidth and rate between two ranks" bench)
set(help --help)
heddle_man_page(heddle-info "show version, backends, routes, limits and settings" info)
heddle_man_page(heddle-trace "read and merge traces of a job" trace)
add_custom_target(docs-man ALL DEPENDS ${pages})
