# SPDX-License-Identifier: BSD-3-Clause
# What of Heddle is built. Each part is an option of its own, and nothing is built because something
# happens to lie about: a part that is on and lacks what it needs ends with what to install, or the
# option that leaves it out.

# Inside another project, by add_subdirectory or FetchContent, Heddle is a library unless more is
# asked for.
set(HEDDLE_WHOLE ${PROJECT_IS_TOP_LEVEL})
if(PROJECT_IS_TOP_LEVEL)
  option(BUILD_SHARED_LIBS "Build libheddle as a shared library" ON)
endif()
option(HEDDLE_BUILD_LIBRARY_ONLY "Build the library and nothing else" OFF)
if(HEDDLE_BUILD_LIBRARY_ONLY)
  set(HEDDLE_WHOLE OFF)
endif()

# heddle_part(option text): on in a build of everything, off with the library alone.
macro(heddle_part name text)
  option(${name} "${text}" ${HEDDLE_WHOLE})
  if(HEDDLE_BUILD_LIBRARY_ONLY AND ${name})
    message(STATUS "${name} is off: HEDDLE_BUILD_LIBRARY_ONLY")
    set(${name} OFF)
  endif()
endmacro()
heddle_part(HEDDLE_TOOLS "Build the program heddle")
heddle_part(HEDDLE_BENCHMARKS "Build what measures rivals and parts")
heddle_part(HEDDLE_EXAMPLES "Build the examples")
heddle_part(HEDDLE_PYTHON "Make the Python package")
heddle_part(HEDDLE_TESTS "Build the tests")
if(HEDDLE_PYTHON AND NOT BUILD_SHARED_LIBS)
  message(STATUS "HEDDLE_PYTHON is off: Python loads a shared library")
  set(HEDDLE_PYTHON OFF)
endif()

option(HEDDLE_FORTRAN "Make the Fortran module" OFF)
option(HEDDLE_HWLOC "Ask hwloc which cores are near each other" ON)
option(HEDDLE_INSTALL "Let `install` have Heddle" ${PROJECT_IS_TOP_LEVEL})
option(HEDDLE_PACKAGE "Make ready for Debian packages, by cpack" OFF)
option(HEDDLE_WARNINGS_ARE_ERRORS "A warning ends the build: for those who change Heddle" OFF)

# Rivals that `heddle bench --compare` measures, and schedulers that examples lend workers of.
foreach(rival UCX OFI OPENMPI MPICH)
  option(HEDDLE_RIVAL_${rival} "Build the program that measures ${rival}" OFF)
endforeach()
foreach(scheduler OPENMP TBB)
  option(HEDDLE_EXAMPLE_${scheduler} "Build the example that lends workers of ${scheduler}" OFF)
endforeach()

# heddle_needs(part option...): refuses a part without the others.
function(heddle_needs part)
  foreach(other ${ARGN})
    if(${part} AND NOT ${other})
      message(FATAL_ERROR "${part}=ON needs ${other}=ON; or set ${part}=OFF")
    endif()
  endforeach()
endfunction()
heddle_needs(HEDDLE_TOOLS HEDDLE_HWLOC)
heddle_needs(HEDDLE_BENCHMARKS HEDDLE_TOOLS)
heddle_needs(HEDDLE_TESTS HEDDLE_TOOLS HEDDLE_BENCHMARKS HEDDLE_EXAMPLES)
