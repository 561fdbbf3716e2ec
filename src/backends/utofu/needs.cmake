# SPDX-License-Identifier: BSD-3-Clause
# Which libtofucom the utofu backend uses. Leaves the target `heddle_utofu`, to be linked, and
# HEDDLE_UTOFU_KIND: vendor, emulated or off (then there is no target).
#
# emulated is the software device in emu/tofu: real uTofu programs on an ordinary Linux host.

set(HEDDLE_UTOFU auto CACHE STRING "uTofu library: auto, vendor, emulated or off")
set_property(CACHE HEDDLE_UTOFU PROPERTY STRINGS auto vendor emulated off)
if(NOT HEDDLE_UTOFU MATCHES "^(auto|vendor|emulated|off)$")
  message(FATAL_ERROR "HEDDLE_UTOFU=${HEDDLE_UTOFU}: expected auto, vendor, emulated or off")
endif()

set(HEDDLE_UTOFU_KIND ${HEDDLE_UTOFU})
if(HEDDLE_UTOFU MATCHES "^(auto|vendor)$")
  find_path(HEDDLE_UTOFU_INCLUDE utofu.h)
  find_library(HEDDLE_UTOFU_LIBRARY tofucom)
  if(HEDDLE_UTOFU_INCLUDE AND HEDDLE_UTOFU_LIBRARY)
    set(HEDDLE_UTOFU_KIND vendor)
  elseif(HEDDLE_UTOFU STREQUAL "vendor")
    message(FATAL_ERROR "HEDDLE_UTOFU=vendor, but utofu.h or libtofucom was not found")
  elseif(NOT HEDDLE_TOOLS OR NOT BUILD_SHARED_LIBS)
    # The software device is there for tools and tests; and a module would bring a second Heddle
    # along into a program that has the archive in it.
    set(HEDDLE_UTOFU_KIND off)
  else()
    set(HEDDLE_UTOFU_KIND emulated)
  endif()
endif()

# Which part of an installation has the backend: with the software device it is for trying out.
set(HEDDLE_UTOFU_COMPONENT library)
if(HEDDLE_UTOFU_KIND STREQUAL "emulated")
  set(HEDDLE_UTOFU_COMPONENT tools)
endif()

if(NOT HEDDLE_UTOFU_KIND STREQUAL "off")
  add_library(heddle_utofu INTERFACE)
endif()
if(HEDDLE_UTOFU_KIND STREQUAL "vendor")
  target_include_directories(heddle_utofu SYSTEM INTERFACE ${HEDDLE_UTOFU_INCLUDE})
  target_link_libraries(heddle_utofu INTERFACE ${HEDDLE_UTOFU_LIBRARY})
  if(HEDDLE_CACHE_LINE LESS 256)
    message(NOTICE "HEDDLE_CACHE_LINE=${HEDDLE_CACHE_LINE}: the A64FX beside a Tofu has lines of 256")
  endif()
elseif(HEDDLE_UTOFU_KIND STREQUAL "emulated")
  target_link_libraries(heddle_utofu INTERFACE tofucom)
endif()

# What starts the software device, and what is tested over it.
set(HEDDLE_SOFTTOFU OFF)
if(HEDDLE_UTOFU_KIND STREQUAL "emulated")
  set(HEDDLE_SOFTTOFU ON)
endif()
if(TARGET heddle_utofu)
  list(APPEND HEDDLE_DEVICE_TESTS HEDDLE_TESTS_UTOFU)
endif()

# heddle_over_tofu(test mode...): its cases over uTofu again, in these modes of the software device.
function(heddle_over_tofu test)
  if(NOT TARGET ${test} OR NOT HEDDLE_SOFTTOFU OR HEDDLE_SANITIZE)
    return()
  endif()
  heddle_label(label)
  foreach(mode ${ARGN})
    set(way utofu)
    set(device SOFTTOFU_MODE=${mode} HEDDLE_TEST_SCALE=0.3)
    if(mode STREQUAL "shallow")  # receive queues that hold no more than Heddle is told
      set(way utofu_shallow)
      set(device SOFTTOFU_MODE=chaos SOFTTOFU_MRQ=128 HEDDLE_TEST_SCALE=0.02)
    endif()
    add_test(NAME ${test}_over_tofu_${mode}
             COMMAND ${test} --gtest_brief=1 --gtest_filter=*/${way})
    set_tests_properties(${test}_over_tofu_${mode} PROPERTIES
                         ENVIRONMENT "${device};HEDDLE_TEST_NEEDS=utofu" TIMEOUT 900 LABELS ${label})
  endforeach()
endfunction()

# heddle_runs_over_utofu(example): as three ranks, in each mode of the software device.
list(APPEND HEDDLE_RUNS_OVER utofu)
function(heddle_runs_over_utofu example)
  if(HEDDLE_SOFTTOFU)
    foreach(mode inline lazy engine chaos)
      heddle_example_test(${example} 3.utofu_${mode} -n 3 --env HEDDLE_BACKENDS=utofu
                          --env SOFTTOFU_MODE=${mode})
    endforeach()
  endif()
endfunction()
