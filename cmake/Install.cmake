# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` leaves, in parts that can be installed alone (--component):
#   library      libheddle, and the backends that are loaded by it
#   development  its headers, find_package(heddle), heddle.pc, the examples' sources
#   tools        the program `heddle`, its man pages and shell completion
#   bench        what `heddle bench` measures rivals with, and the scripts of its figures
# The target `uninstall` takes all of them away again.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(TARGETS heddle EXPORT heddle_targets
        LIBRARY COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE COMPONENT development)
# heddle::backend: what a module with a backend is built against, and its headers.
add_library(heddle_backend INTERFACE)
set_target_properties(heddle_backend PROPERTIES EXPORT_NAME backend)
target_include_directories(heddle_backend INTERFACE
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/heddle/backend>)
target_link_libraries(heddle_backend INTERFACE heddle)
install(TARGETS heddle_backend EXPORT heddle_targets)
foreach(header base/checks.h base/setting.h base/settings.h memory/region_table.h
               sync/pin.h sync/release_acquire.h transport/device.h transport/endpoint.h transport/event.h transport/module.h
               transport/op.h transport/remote_lane.h transport/traits.h)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle/backend/${folder} COMPONENT development)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/heddle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development FILES_MATCHING PATTERN "*.h")
install(EXPORT heddle_targets NAMESPACE heddle:: DESTINATION ${package_dir} COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/tsan.supp DESTINATION ${HEDDLE_DATA} COMPONENT development)
set(examples ${CMAKE_INSTALL_DOCDIR})
if(HEDDLE_PACKAGE)
  set(examples ${CMAKE_INSTALL_DATADIR}/doc/libheddle-dev)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${examples}
        COMPONENT development PATTERN examples/CMakeLists.txt EXCLUDE)

configure_package_config_file(cmake/heddleConfig.cmake.in heddleConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(heddleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heddleConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/heddleConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT development)

# A shared library's consumer needs no one's flags but Heddle's; an archive's needs all it stands on.
set(HEDDLE_PC_REQUIRES)
set(HEDDLE_PC_LIBS)
if(NOT BUILD_SHARED_LIBS)
  set(HEDDLE_PC_REQUIRES fmt libsodium)
  if(HEDDLE_HWLOC)
    list(APPEND HEDDLE_PC_REQUIRES hwloc)
  endif()
  list(JOIN HEDDLE_PC_REQUIRES ", " HEDDLE_PC_REQUIRES)
  set(HEDDLE_PC_LIBS "-pthread -ldl")
endif()
file(RELATIVE_PATH HEDDLE_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" HEDDLE_PC_TO_PREFIX "${HEDDLE_PC_TO_PREFIX}")
set(HEDDLE_PC_PREFIX "\${pcfiledir}/${HEDDLE_PC_TO_PREFIX}")
if(HEDDLE_PACKAGE)  # which stays where it is: flags for folders of the system are left out then
  set(HEDDLE_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
endif()
configure_file(cmake/heddle.pc.in heddle.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heddle.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

if(TARGET heddle_tool)
  file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(heddle_tool PROPERTIES INSTALL_RPATH $ORIGIN/${to_libraries})
  install(TARGETS heddle_tool COMPONENT tools)
endif()
file(GLOB installs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backends/*/install.cmake)
foreach(of_backend ${installs})
  include(${of_backend})
endforeach()
if(TARGET docs-man)
  install(DIRECTORY ${HEDDLE_MAN_DIR}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
endif()
if(TARGET completion)
  install(FILES ${HEDDLE_COMPLETION} RENAME heddle COMPONENT tools
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${PROJECT_BINARY_DIR}/share/heddle.zsh RENAME _heddle COMPONENT tools
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${PROJECT_BINARY_DIR}/share/heddle.fish COMPONENT tools
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
if(HEDDLE_PACKAGE)
  include(Package)  # whose packages have papers in Debian's form
else()
  install(FILES LICENSE THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
endif()

if(PROJECT_IS_TOP_LEVEL)
  configure_file(cmake/uninstall.cmake.in uninstall.cmake @ONLY)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${CMAKE_CURRENT_BINARY_DIR}/uninstall.cmake
                    COMMENT "uninstall" VERBATIM)
endif()
