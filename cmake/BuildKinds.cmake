# SPDX-License-Identifier: BSD-3-Clause
# What the presets switch on: sanitizers, fuzzing, clang-tidy. And what every build has.

set(HEDDLE_SANITIZE "" CACHE STRING "Sanitizers for everything: address,undefined or thread")
option(HEDDLE_FUZZ "Build the libFuzzer targets (clang)" OFF)
option(HEDDLE_LINT "Run clang-tidy beside every compilation" OFF)
option(HEDDLE_PCH "Precompile the headers that most sources include: half the time of a build" ON)
option(HEDDLE_AT_ONCE "All is built and run: larger batches, a test program's cases in a few processes" OFF)
option(HEDDLE_BATCHES "Compile several sources of a target at once: faster, when all is built" ON)

set(HEDDLE_CACHE_LINE 64 CACHE STRING "Bytes in a cache line of the CPU: 64, or 256 on an A64FX")
set_property(CACHE HEDDLE_CACHE_LINE PROPERTY STRINGS 64 128 256)
if(NOT HEDDLE_CACHE_LINE MATCHES "^(64|128|256)$")
  message(FATAL_ERROR "HEDDLE_CACHE_LINE=${HEDDLE_CACHE_LINE}: expected 64, 128 or 256")
endif()
add_compile_definitions(HEDDLE_CACHE_LINE=${HEDDLE_CACHE_LINE})

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND NOT HEDDLE_SANITIZE AND NOT HEDDLE_LINT)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()

find_program(HEDDLE_CCACHE ccache)
if(HEDDLE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The first is what it asks for before it looks at compilations with precompiled headers. By the others
  # a second checkout in another folder finds what the first has compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
          ${HEDDLE_CCACHE})
  # Without this the preprocessor would read all that is precompiled for clang++ again for each source.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(INSERT CMAKE_CXX_COMPILER_LAUNCHER 1 CCACHE_DEPEND=1)
  endif()
  if(HEDDLE_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()

if(HEDDLE_SANITIZE)
  add_compile_options(-O1 -g1 -fno-omit-frame-pointer -fsanitize=${HEDDLE_SANITIZE}
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEDDLE_SANITIZE})
  if(HEDDLE_SANITIZE MATCHES "address,undefined")  # both of which the address sanitizer finds as well
    add_compile_options(-fno-sanitize=null,object-size)
  endif()
  if(HEDDLE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Fences are used on purpose; the sanitizer merely cannot follow them.
    add_compile_options(-Wno-tsan)
  endif()
endif()
if(HEDDLE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(HEDDLE_LINT)
  find_program(HEDDLE_CLANG_TIDY NAMES clang-tidy clang-tidy-14 REQUIRED)
  set(CMAKE_CXX_CLANG_TIDY ${HEDDLE_CLANG_TIDY} --quiet)
endif()
