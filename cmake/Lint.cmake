# SPDX-License-Identifier: BSD-3-Clause
# Checks that fail: each is a target, `lint` is all of them, in each preset. Included last, when all targets exist.
#   check-format    clang-format would change nothing
#   check-includes  folders include only what docs/design allows; std::atomic only where it may be;
#                   a source includes its own header first
#   check-standard  headers include what they name of the standard library
#   check-backends  no file outside a backend's folder names it, but the registry and the build's lists
#   check-references  no source or page refers to a page that is not here
#   check-sizes     names files that have grown beyond 400 lines, and classes beyond 25 functions
# and in the preset lint also
#   check-headers   each header of the library compiles alone
#   check-tidy      clang-tidy over the library's sources

file(GLOB_RECURSE HEDDLE_HEADERS CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     include/*.h src/*.h tools/*.h bench/*.h tests/*.h examples/*.h emu/*.h)
file(GLOB_RECURSE HEDDLE_SOURCES CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     src/*.cpp tools/*.cpp bench/*.cpp tests/*.c tests/*.cpp examples/*.c examples/*.cpp emu/*.c emu/*.cpp)

find_program(HEDDLE_CLANG_FORMAT NAMES clang-format clang-format-14)
find_package(Python3 COMPONENTS Interpreter)

if(HEDDLE_CLANG_FORMAT)
  add_custom_target(check-format
    COMMAND ${HEDDLE_CLANG_FORMAT} --dry-run -Werror ${HEDDLE_HEADERS} ${HEDDLE_SOURCES}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "clang-format" VERBATIM)
  add_custom_target(format
    COMMAND ${HEDDLE_CLANG_FORMAT} -i ${HEDDLE_HEADERS} ${HEDDLE_SOURCES}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "clang-format -i" VERBATIM)
endif()

foreach(check includes standard backends licenses references sizes)
  add_custom_target(check-${check}
    COMMAND Python3::Interpreter cmake/lint/check_${check}.py
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "check-${check}" VERBATIM)
endforeach()

add_custom_target(lint)
add_dependencies(lint check-includes check-standard check-backends check-licenses check-references
                 check-sizes)
if(TARGET check-format)
  add_dependencies(lint check-format)
endif()
if(NOT HEDDLE_LINT)
  return()
endif()

# One source for each header of the library that includes it twice: it must bring what it needs of ours and of
# others, and guard itself. What it needs of the standard library is read once for all of them, as check-standard
# looks at that. Headers of programs are left out: their one program shows what they lack.
list(FILTER HEDDLE_HEADERS INCLUDE REGEX "^(include|src)/")
set(probes)
foreach(header ${HEDDLE_HEADERS})
  set(probe ${PROJECT_BINARY_DIR}/check-headers/${header}.cpp)
  set(line "#include \"${PROJECT_SOURCE_DIR}/${header}\"\n")
  file(CONFIGURE OUTPUT ${probe} CONTENT "${line}${line}" @ONLY)
  list(APPEND probes ${probe})
endforeach()
find_package(GTest REQUIRED)
add_library(heddle_header_probes OBJECT EXCLUDE_FROM_ALL ${probes})
target_include_directories(heddle_header_probes PRIVATE include src tests emu/tofu/include)
target_link_libraries(heddle_header_probes PRIVATE heddle_warnings fmt::fmt PkgConfig::sodium GTest::gmock)
set_target_properties(heddle_header_probes PROPERTIES CXX_CLANG_TIDY "")
target_precompile_headers(heddle_header_probes PRIVATE ${HEDDLE_STANDARD_HEADERS} <condition_variable> <deque> <map>)
add_custom_target(check-headers DEPENDS heddle_header_probes)

# Every compilation here fails on what clang-tidy finds, so building is the check: the library and its
# modules here, which CI can afford; `cmake --build --preset lint --target all` does the programs as well.
heddle_backend_modules(modules)
add_custom_target(check-tidy DEPENDS heddle ${modules})
add_dependencies(lint check-headers check-tidy)
