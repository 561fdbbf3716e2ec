# SPDX-License-Identifier: BSD-3-Clause
# libibverbs, for the verbs backend. Leaves the target `heddle_verbs`, to be linked, where it is built.
heddle_part(HEDDLE_VERBS "Build the backend for InfiniBand and RoCE")
if(HEDDLE_VERBS AND NOT BUILD_SHARED_LIBS)
  # A module would bring a second Heddle along into a program that has the archive in it.
  message(STATUS "HEDDLE_VERBS is off: backends that are modules need a shared library")
elseif(HEDDLE_VERBS)
  find_path(HEDDLE_VERBS_INCLUDE infiniband/verbs.h)
  find_library(HEDDLE_VERBS_LIBRARY ibverbs)
  if(NOT HEDDLE_VERBS_INCLUDE OR NOT HEDDLE_VERBS_LIBRARY)
    message(FATAL_ERROR "infiniband/verbs.h or libibverbs was not found: install libibverbs-dev (Debian) or "
                        "rdma-core-devel, or set HEDDLE_VERBS=OFF to do without InfiniBand and RoCE")
  endif()
  add_library(heddle_verbs INTERFACE)
  target_include_directories(heddle_verbs SYSTEM INTERFACE ${HEDDLE_VERBS_INCLUDE})
  target_link_libraries(heddle_verbs INTERFACE ${HEDDLE_VERBS_LIBRARY})
endif()

# Cases that need a card, which only the software device has.
list(APPEND HEDDLE_CASES_OF_DEVICES */verbs*)

# heddle_over_hca(test mode...): its cases over verbs, in these modes of the software InfiniBand device
# (and `rails`), which stands in front of libibverbs. Without it verbs has no card, so nothing else runs them.
function(heddle_over_hca test)
  if(NOT TARGET ${test} OR NOT HEDDLE_SOFTHCA OR NOT TARGET heddle_verbs)
    return()
  endif()
  heddle_label(label)
  set(front $<TARGET_FILE:softhca>)
  set(modes ${ARGN})
  if(HEDDLE_SANITIZE)  # whose runtime wants to be the very first, and which take long
    list(GET ARGN 0 modes)
    string(REGEX MATCH "^[a-z]+" sanitizer ${HEDDLE_SANITIZE})
    string(REPLACE "address" "libasan.so" runtime ${sanitizer})
    string(REPLACE "thread" "libtsan.so" runtime ${runtime})
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${runtime} OUTPUT_VARIABLE runtime
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(front ${runtime}:${front})
  endif()
  set(cases */verbs:*/verbs_all:*/verbs_faults:*/verbs_inline:*/verbs_dedicated:*/verbs_idle)
  foreach(mode ${modes})
    add_test(NAME ${test}_over_hca_${mode} COMMAND ${test} --gtest_brief=1 --gtest_filter=${cases})
    set(device LD_PRELOAD=${front} SOFTHCA_MODE=${mode} SOFTHCA_JOB=${test}-${mode})
    if(NOT HEDDLE_SANITIZE)
      list(APPEND device HEDDLE_TEST_SCALE=0.1)
    endif()
    if(mode STREQUAL "rails")  # two cards of two ports: large transfers go over all four
      set(device LD_PRELOAD=${front} SOFTHCA_MODE=engine SOFTHCA_JOB=${test}-rails SOFTHCA_DEVICES=2
                 SOFTHCA_PORTS=2 HEDDLE_TEST_SCALE=0.1)
    endif()
    if(mode STREQUAL "chaos")  # shows puts late, and its links are Ethernet
      list(APPEND device SOFTHCA_LINK=roce HEDDLE_VERBS_PUT_ENDS=visible)
    endif()
    set_tests_properties(${test}_over_hca_${mode} PROPERTIES
                         ENVIRONMENT "${device};HEDDLE_TEST_NEEDS=verbs" TIMEOUT 900 LABELS ${label})
    add_dependencies(${test} softhca)
  endforeach()
endfunction()

# heddle_runs_over_verbs(example): as three ranks, in each mode of the software device.
list(APPEND HEDDLE_RUNS_OVER verbs)
function(heddle_runs_over_verbs example)
  if(HEDDLE_PRELOADS_SOFTHCA)
    add_dependencies(example_${example} softhca)
    foreach(mode inline engine chaos)
      heddle_example_test(${example} 3.verbs_${mode} -n 3 --env HEDDLE_BACKENDS=verbs
                          --env SOFTHCA_MODE=${mode} --env LD_PRELOAD=$<TARGET_FILE:softhca>)
    endforeach()
  endif()
endfunction()
