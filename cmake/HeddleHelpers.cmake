# SPDX-License-Identifier: BSD-3-Clause
# Helpers that keep each folder's CMakeLists.txt short.

include(GoogleTest)

add_library(heddle_warnings INTERFACE)
target_compile_options(heddle_warnings INTERFACE -Wall -Wextra -Wconversion)
# In a batch of sources, global names that one of them shadows may be another's.
set(in_batches $<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(heddle_warnings INTERFACE $<IF:${in_batches},-Wshadow=local,-Wshadow>)
else()
  target_compile_options(heddle_warnings INTERFACE $<IF:${in_batches},-Wno-shadow,-Wshadow>)
endif()
if(HEDDLE_WARNINGS_ARE_ERRORS)
  target_compile_options(heddle_warnings INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overflows in std::vector::insert and overlaps in std::string that are not there.
  target_compile_options(heddle_warnings INTERFACE -Wno-stringop-overflow -Wno-restrict
                         $<$<AND:$<COMPILE_LANGUAGE:CXX>,${in_batches}>:-Wno-subobject-linkage>)
  if(HEDDLE_SANITIZE)  # and members of std::regex that have no value
    target_compile_options(heddle_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

# heddle_precompile(target header...): standard headers that most sources include, and these, are read
# once for the whole target. Sources still include what they need: the preset lint has none of this.
set(HEDDLE_STANDARD_HEADERS <algorithm> <array> <atomic> <chrono> <cstring> <functional> <memory>
                            <mutex> <optional> <span> <string> <thread> <unordered_map> <vector>)
function(heddle_precompile target)
  if(NOT HEDDLE_PCH)
    return()
  endif()
  list(TRANSFORM HEDDLE_STANDARD_HEADERS REPLACE "(.+)>" "$<$<COMPILE_LANGUAGE:CXX>:\\1$<ANGLE-R>>"
       OUTPUT_VARIABLE standard)
  target_precompile_headers(${target} PRIVATE ${standard} ${ARGN})
endfunction()

set(HEDDLE_BATCH_SIZE 8)
if(HEDDLE_AT_ONCE)
  set(HEDDLE_BATCH_SIZE 24)
endif()

# heddle_batches(target source...): several sources of the target are one compilation, for most of a
# compiler's time goes into headers that they share, and all of clang-tidy's. The sources named here stay alone.
function(heddle_batches target)
  heddle_alone_in_batches(${target} ${ARGN})
  if(HEDDLE_BATCHES)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  endif()
endfunction()

# heddle_alone_in_batches(target source...): a name in the unnamed namespace of these is also one of another
# source of the target. Where that is so, the compiler says it.
function(heddle_alone_in_batches target)
  if(NOT TARGET ${target})
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${HEDDLE_BATCH_SIZE})
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  if(ARGN)
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# heddle_test_program(name source...): a GoogleTest program, compiled in batches. Its own code is optimised less
# than what it tests, and spared those checks of the sanitizers that look at every pointer: that halves the time
# the compiler takes.
set(HEDDLE_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)
if(HEDDLE_SANITIZE MATCHES "undefined")
  list(APPEND HEDDLE_TEST_OPTIONS -fno-sanitize=null,alignment,vptr,object-size)
endif()
function(heddle_test_program name)
  if(NOT TARGET heddle_test_headers)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "")
    add_library(heddle_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cpp)
    target_link_libraries(heddle_test_headers PRIVATE heddle_warnings Threads::Threads GTest::gmock)
    target_compile_options(heddle_test_headers PRIVATE ${HEDDLE_TEST_OPTIONS})
    heddle_precompile(heddle_test_headers <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE heddle_warnings GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${HEDDLE_TEST_OPTIONS})
  if(HEDDLE_PCH)
    target_precompile_headers(${name} REUSE_FROM heddle_test_headers)
  endif()
  heddle_batches(${name})
endfunction()

# heddle_label(out): which suite a test in this folder belongs to. A ctest label and, as
# tests_<label>, a target that builds the suite.
function(heddle_label out)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(label unit)
  if(folder MATCHES "^tests/(contract|stress|system)")
    set(label ${CMAKE_MATCH_1})
  elseif(folder MATCHES "^src/(sync|memory|protocols|engine)$")
    set(label core)
  endif()
  set(${out} ${label} PARENT_SCOPE)
endfunction()

if(HEDDLE_TESTS OR HEDDLE_FUZZ)
  foreach(suite unit core contract stress system fuzz)
    add_custom_target(tests_${suite})
  endforeach()
endif()

# heddle_inside_program(name source...): a GoogleTest program that may see src/.
function(heddle_inside_program name)
  heddle_test_program(${name} ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  set_target_properties(${name} PROPERTIES HEDDLE_INTERNALS ON)
  target_link_libraries(${name} PRIVATE heddle_linked fmt::fmt PkgConfig::sodium)
  if(HEDDLE_DEVICE_TESTS)
    if(NOT TARGET heddle_own_machine)
      add_library(heddle_own_machine OBJECT ${PROJECT_SOURCE_DIR}/tests/support/own_machine.cpp)
      target_link_libraries(heddle_own_machine PRIVATE heddle_warnings)
    endif()
    target_link_libraries(${name} PRIVATE heddle_own_machine)
    target_compile_definitions(${name} PRIVATE ${HEDDLE_DEVICE_TESTS})
  endif()
  add_dependencies(${name} heddle_modules)
endfunction()

# heddle_unit_test(name source...): a GoogleTest program that may see src/, one ctest per TEST.
# Those of tests/contract, tests/stress and tests/system carry that label. The last start jobs, and count as two
# cores' work, so that they do not disturb each other on small machines. Those of src/sync, src/protocols and
# src/engine are the suite `core`: what threads share, which the sanitizers look at as well.
function(heddle_unit_test name)
  if(NOT HEDDLE_TESTS)
    return()
  endif()
  heddle_inside_program(${name} ${ARGN})
  heddle_label(label)
  add_dependencies(tests_${label} ${name})
  set(cores 1)
  if(label STREQUAL "system")
    set(cores 2)
  endif()
  if(HEDDLE_AT_ONCE AND NOT label STREQUAL "system")
    heddle_shards(${name} ${label})
    return()
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_FILTER "-${HEDDLE_CASES_OF_DEVICES}"
                       PROPERTIES TIMEOUT 300 LABELS ${label} PROCESSORS ${cores})
endfunction()

# heddle_shards(test label): all its cases in a few processes. What each case said goes to cases/ of the build.
# Stress then does less than when somebody runs it for itself: the sanitizers, the other devices and the fuzzer
# of the public API do the same work beside it.
function(heddle_shards name label)
  set(shards 12)
  set(scale)
  if(label STREQUAL "stress" AND NOT HEDDLE_SANITIZE)
    set(scale ";HEDDLE_TEST_SCALE=0.2")
  endif()
  foreach(shard RANGE 1 ${shards})
    math(EXPR index "${shard} - 1")
    set(test ${name}_${shard}_of_${shards})
    add_test(NAME ${test} COMMAND ${name} --gtest_filter=-${HEDDLE_CASES_OF_DEVICES}
                                  --gtest_output=xml:${PROJECT_BINARY_DIR}/cases/${test}.xml)
    set_tests_properties(${test} PROPERTIES TIMEOUT 900 LABELS ${label}
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}${scale}")
  endforeach()
endfunction()

# heddle_backend_module(name component source...): a backend that is loaded at run time, lib/heddle/
# backend_<name>.so, and the part of an installation that has it. Everything that starts worlds depends on heddle_modules.
add_custom_target(heddle_modules)
function(heddle_backend_module name component)
  set(module heddle_backend_${name})
  add_library(${module} MODULE ${ARGN})
  set_target_properties(${module} PROPERTIES
    PREFIX "" OUTPUT_NAME backend_${name} INTERPROCEDURAL_OPTIMIZATION_RELEASE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/heddle
    INSTALL_RPATH "$ORIGIN:$ORIGIN/..")
  target_include_directories(${module} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${module} PRIVATE -fno-plt)
  target_link_libraries(${module} PRIVATE heddle heddle_warnings fmt::fmt)
  heddle_precompile(${module} <fmt/format.h>)
  add_dependencies(heddle_modules ${module})
  if(HEDDLE_INSTALL)
    install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle
                              COMPONENT ${component})
  endif()
endfunction()

# heddle_backend_modules(variable): the targets of all such modules.
function(heddle_backend_modules variable)
  get_target_property(modules heddle_modules MANUALLY_ADDED_DEPENDENCIES)
  list(FILTER modules INCLUDE REGEX ^heddle_backend_)
  set(${variable} ${modules} PARENT_SCOPE)
endfunction()

# heddle_fuzz_target(name corpus source...): in the fuzz preset a libFuzzer program of just these
# sources, run by ctest for HEDDLE_FUZZ_SECONDS from the files in `corpus`, which it only reads; what
# it finds on its way goes to the build folder. In other builds nothing.
set(HEDDLE_FUZZ_SECONDS 60 CACHE STRING "How long ctest runs each fuzz target")
function(heddle_fuzz_target name corpus)
  if(NOT HEDDLE_FUZZ)
    return()
  endif()
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE fmt::fmt PkgConfig::sodium heddle_warnings)
  add_dependencies(tests_fuzz ${name})
  set(found ${CMAKE_CURRENT_BINARY_DIR}/${name}_found)
  file(MAKE_DIRECTORY ${found})
  add_test(NAME ${name}
           COMMAND ${name} -max_total_time=${HEDDLE_FUZZ_SECONDS} -print_final_stats=1
                   -artifact_prefix=${found}/ ${found} ${corpus})
  math(EXPR limit "${HEDDLE_FUZZ_SECONDS} + 120")
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT ${limit})
endfunction()
