# Whether the software host channel adapter in emu/hca is built: with the tests, for which it is there.
option(HEDDLE_SOFTHCA "Build the software InfiniBand device" ${HEDDLE_TESTS})
if(HEDDLE_SOFTHCA)
  pkg_check_modules(ibverbs IMPORTED_TARGET libibverbs)
  if(NOT ibverbs_FOUND)
    message(FATAL_ERROR "HEDDLE_SOFTHCA=ON needs libibverbs: install libibverbs-dev, or set "
                        "HEDDLE_SOFTHCA=OFF")
  endif()
endif()
