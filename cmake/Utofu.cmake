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
