# SPDX-License-Identifier: BSD-3-Clause
# The software TofuD device lies beside the backend that links to it, where no other program finds it.
if(HEDDLE_SOFTTOFU)
  install(TARGETS tofucom LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle
                                  COMPONENT ${HEDDLE_UTOFU_COMPONENT})
  file(RELATIVE_PATH to_device ${CMAKE_INSTALL_FULL_LIBEXECDIR}/heddle
       ${CMAKE_INSTALL_FULL_LIBDIR}/heddle)
  if(TARGET heddle_peer_utofu)
    set_target_properties(heddle_peer_utofu PROPERTIES INSTALL_RPATH $ORIGIN/${to_device})
  endif()
endif()
