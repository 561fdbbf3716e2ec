# What `cmake --install` leaves: the library, its headers, find_package(heddle), heddle.pc, the
# program `heddle` with its man pages and shell completion.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(TARGETS heddle EXPORT heddle_targets)
# heddle::backend: what a module with a backend is built against, and its headers.
add_library(heddle_backend INTERFACE)
set_target_properties(heddle_backend PROPERTIES EXPORT_NAME backend)
target_include_directories(heddle_backend INTERFACE
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/heddle/backend>)
target_link_libraries(heddle_backend INTERFACE heddle)
install(TARGETS heddle_backend EXPORT heddle_targets)
foreach(header base/checks.h base/setting.h base/settings.h memory/region_table.h sync/pin.h
               transport/device.h transport/endpoint.h transport/event.h transport/module.h
               transport/op.h transport/remote_lane.h transport/traits.h)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${CMAKE_SOURCE_DIR}/src/${header}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle/backend/${folder})
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/heddle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(EXPORT heddle_targets NAMESPACE heddle:: DESTINATION ${package_dir})

configure_package_config_file(cmake/heddleConfig.cmake.in heddleConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(heddleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heddleConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/heddleConfigVersion.cmake
        DESTINATION ${package_dir})

configure_file(cmake/heddle.pc.in heddle.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heddle.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET heddle_tool)
  file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(heddle_tool PROPERTIES INSTALL_RPATH $ORIGIN/${to_libraries})
  install(TARGETS heddle_tool)
endif()
# The software TofuD device lies beside the backend that links to it, where no other program finds it.
if(HEDDLE_UTOFU_KIND STREQUAL "emulated")
  install(TARGETS tofucom LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle)
  file(RELATIVE_PATH to_device ${CMAKE_INSTALL_FULL_LIBEXECDIR}/heddle
       ${CMAKE_INSTALL_FULL_LIBDIR}/heddle)
  if(TARGET heddle_peer_utofu)
    set_target_properties(heddle_peer_utofu PROPERTIES INSTALL_RPATH $ORIGIN/${to_device})
  endif()
endif()
if(TARGET docs-man)
  install(DIRECTORY ${HEDDLE_MAN_DIR}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
if(TARGET completion)
  install(FILES ${HEDDLE_COMPLETION} RENAME heddle
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
install(FILES LICENSE THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
