# SPDX-License-Identifier: BSD-3-Clause
# libibverbs, for the verbs backend. Leaves the target `heddle_verbs`, to be linked, where it is built.
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
