# SPDX-License-Identifier: BSD-3-Clause
# Whether the software host channel adapter in emu/hca is built: with the tests, for which it is there.
set(with_tests ${HEDDLE_TESTS})
if(CMAKE_CROSSCOMPILING)
  set(with_tests OFF)  # the device is built for where it runs
endif()
option(HEDDLE_SOFTHCA "Build the software InfiniBand device" ${with_tests})
if(HEDDLE_SOFTHCA)
  pkg_check_modules(ibverbs IMPORTED_TARGET libibverbs)
  if(NOT ibverbs_FOUND)
    message(FATAL_ERROR "HEDDLE_SOFTHCA=ON needs libibverbs: install libibverbs-dev, or set "
                        "HEDDLE_SOFTHCA=OFF")
  endif()
endif()
# Programs can be started over it: a sanitizer's library would have to be loaded before it.
set(HEDDLE_PRELOADS_SOFTHCA OFF)
if(HEDDLE_SOFTHCA AND TARGET heddle_verbs AND NOT HEDDLE_SANITIZE)
  set(HEDDLE_PRELOADS_SOFTHCA ON)
endif()
