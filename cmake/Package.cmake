# SPDX-License-Identifier: BSD-3-Clause
# Debian packages: `./dev package` (HEDDLE_PACKAGE=ON, then cpack -G DEB). One for each component of an
# installation. Two builds of one commit are the same to the bit if SOURCE_DATE_EPOCH is: times come from
# there, and no path of the build is in them (the preset package).
set(HEDDLE_PACKAGE_MAINTAINER "The Heddle authors <heddle@users.noreply.github.com>" CACHE STRING
    "Who answers for the packages: name and address")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_CONTACT ${HEDDLE_PACKAGE_MAINTAINER})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library development tools bench)
if(TARGET heddle_verbs)
  list(APPEND CPACK_COMPONENTS_ALL verbs)
endif()
if(HEDDLE_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE heddle)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}
    ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/heddle)
set(version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(papers ${CMAKE_CURRENT_BINARY_DIR}/package)
string(TIMESTAMP HEDDLE_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(cmake/package/changelog.in ${papers}/changelog.Debian @ONLY)
file(COPY cmake/package/triggers DESTINATION ${papers})
configure_file(CHANGELOG.md ${papers}/changelog COPYONLY)
foreach(file changelog.Debian changelog)
  execute_process(COMMAND gzip -9nf ${papers}/${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# heddle_package(component name section depends text): the package of that component. Its papers
# lie where Debian looks for them.
function(heddle_package component name section depends text)
  string(TOUPPER CPACK_DEBIAN_${component}_PACKAGE key)
  set(${key}_NAME ${name} PARENT_SCOPE)
  set(${key}_SECTION ${section} PARENT_SCOPE)
  set(${key}_DEPENDS ${depends} PARENT_SCOPE)
  set(${key}_SHLIBDEPS ON PARENT_SCOPE)
  string(TOUPPER CPACK_COMPONENT_${component}_DESCRIPTION description)
  set(${description} ${text} PARENT_SCOPE)
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${name})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/package/copyright DESTINATION ${folder} COMPONENT ${component})
  install(FILES ${papers}/changelog.Debian.gz ${papers}/changelog.gz DESTINATION ${folder}
          COMPONENT ${component})
endfunction()
heddle_package(library libheddle${HEDDLE_ABI} libs ""
"communication engine with a lane to the network for every thread
Heddle moves data between processes on one host and on many: put, get,
atomics, active messages, tagged messages and collectives, from any thread,
while the program computes.
.
This package has the shared library.")
heddle_package(verbs libheddle${HEDDLE_ABI}-verbs libs "libheddle${HEDDLE_ABI} (= ${version})"
"communication engine with a lane for every thread (InfiniBand, RoCE)
Heddle moves data between processes on one host and on many.
.
This package has what it reaches InfiniBand and RoCE cards by. It is loaded
where HEDDLE_BACKENDS names it.")
heddle_package(development libheddle-dev libdevel "libheddle${HEDDLE_ABI} (= ${version})"
"communication engine with a lane for every thread (development files)
Heddle moves data between processes on one host and on many: put, get,
atomics, active messages, tagged messages and collectives, from any thread,
while the program computes.
.
This package has the headers, what pkg-config and CMake find it by, and the
sources of the examples.")
heddle_package(tools heddle-tools net "libheddle${HEDDLE_ABI} (= ${version})"
"communication engine with a lane for every thread (program heddle)
Heddle moves data between processes on one host and on many.
.
This package has the program that starts jobs, measures all links between
their ranks and shows what is there. Beside it lies a software model of Tofu
Interconnect D, to try programs for such machines on.")
heddle_package(bench heddle-bench net "heddle-tools (= ${version}), libc6"
"communication engine with a lane for every thread (rivals measured)
Heddle moves data between processes on one host and on many.
.
This package has what \"heddle bench --compare\" measures Heddle beside: a
program each for Open MPI, MPICH and UCX, which are used if they are
installed, and the scripts that draw figures.")
heddle_package(python python3-heddle python
  "libheddle${HEDDLE_ABI} (= ${version}), python3, python3-cffi, python3-numpy"
"communication engine with a lane for every thread (Python package)
Heddle moves data between processes on one host and on many: put, get,
atomics, active messages, tagged messages and collectives, from any thread.
.
This package has its interface for Python, with numpy arrays, and what reads
the results of the link tester into such.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-h5py, python3-matplotlib")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS python3-heddle)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
# Beside it CPack adds scripts that call ldconfig as well, to any library where the loader looks. lintian
# warns of them; nothing leaves them out.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${papers}/triggers)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
# A rival that is not there is said to be, by the program that would have measured it.
set(CPACK_DEBIAN_BENCH_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_BENCH_PACKAGE_RECOMMENDS "openmpi-bin, mpich, ucx-utils, libibverbs1, python3-matplotlib")
include(CPack)
