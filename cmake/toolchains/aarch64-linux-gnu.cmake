# SPDX-License-Identifier: BSD-3-Clause
# Debian's cross compiler for 64-bit Arm, and the libraries that `./dev setup --cross` unpacked.
# Programs that the build or ctest starts run under qemu-user, where it is installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

cmake_path(SET sysroot NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../build/sysroot/arm64)
if(NOT EXISTS ${sysroot}/usr/include)
  message(FATAL_ERROR "There is no ${sysroot}: `./dev setup --cross` makes it")
endif()
set(CMAKE_SYSROOT ${sysroot})
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# Programs are this machine's, all else is the target's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${sysroot})
set(ENV{PKG_CONFIG_LIBDIR}
    ${sysroot}/usr/lib/aarch64-linux-gnu/pkgconfig:${sysroot}/usr/share/pkgconfig)

find_program(HEDDLE_QEMU qemu-aarch64)
if(HEDDLE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HEDDLE_QEMU} -L ${sysroot})
endif()
# When ctest runs, not when the build links: that needs no emulator.
set(CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE PRE_TEST)
