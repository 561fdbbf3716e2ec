# SPDX-License-Identifier: BSD-3-Clause
# Which names libheddle shows: those of the lists in cmake/exports, each in the version that says for
# whom it is (docs/design/abi.md); all others stay inside. Tests, which look inside, are linked to
# heddle_internals: the same objects, with all names. A program is linked to heddle_linked, which is
# heddle, or heddle_internals where the target property HEDDLE_INTERNALS is on.

# The number in the library's name. docs/design/abi.md says when to raise it.
set(HEDDLE_ABI 0)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${PROJECT_SOURCE_DIR}/src/transport/module.h)
file(READ ${PROJECT_SOURCE_DIR}/src/transport/module.h text)
string(REGEX MATCH "module_abi = ([0-9]+);" found "${text}")
set(versions public HEDDLE_${HEDDLE_ABI} backend HEDDLE_BACKEND_${CMAKE_MATCH_1}
             private HEDDLE_PRIVATE_${PROJECT_VERSION})

set(script)
set(hidden "  local:\n    *;\n")
while(versions)
  list(POP_FRONT versions list version)
  set(file ${PROJECT_SOURCE_DIR}/cmake/exports/${list}.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(REGEX REPLACE "(^|\n)#[^\n]*" "" text "${text}")
  string(REGEX REPLACE "(^|\n)([^ \n]+)[^\n]*" "\\1    \\2;" text "${text}")
  string(STRIP "${text}" text)
  if(text)
    string(PREPEND text "  global:\n    ")
  endif()
  string(APPEND script "${version} {\n${text}\n${hidden}};\n")
  set(hidden)
endwhile()
set(HEDDLE_VERSION_SCRIPT ${CMAKE_CURRENT_BINARY_DIR}/heddle.map)
file(CONFIGURE OUTPUT ${HEDDLE_VERSION_SCRIPT} CONTENT "${script}" @ONLY)

if(BUILD_SHARED_LIBS)
  target_link_options(heddle PRIVATE LINKER:--version-script=${HEDDLE_VERSION_SCRIPT})
  set_property(TARGET heddle APPEND PROPERTY LINK_DEPENDS ${HEDDLE_VERSION_SCRIPT})
endif()
set_target_properties(heddle PROPERTIES VERSION ${HEDDLE_ABI}.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH}
                                        SOVERSION ${HEDDLE_ABI})

add_library(heddle_linked INTERFACE)
if(NOT BUILD_SHARED_LIBS OR NOT HEDDLE_TESTS)
  target_link_libraries(heddle_linked INTERFACE heddle)
  return()
endif()

set(HEDDLE_INTERNALS_SCRIPT ${CMAKE_CURRENT_BINARY_DIR}/heddle_internals.map)
string(REPLACE "  local:\n    *;\n" "" script "${script}")
file(CONFIGURE OUTPUT ${HEDDLE_INTERNALS_SCRIPT} @ONLY
     CONTENT "${script}HEDDLE_INTERNALS_${PROJECT_VERSION} {\n  global:\n    *;\n};\n")
add_library(heddle_internals SHARED $<TARGET_OBJECTS:heddle>)
target_include_directories(heddle_internals INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_features(heddle_internals INTERFACE cxx_std_20)
target_link_libraries(heddle_internals PUBLIC Threads::Threads
                                       PRIVATE ${HEDDLE_STANDS_ON})
target_link_options(heddle_internals PRIVATE -Wl,-z,nodelete
                    LINKER:--version-script=${HEDDLE_INTERNALS_SCRIPT})
# Modules ask for the library by its name, whichever of the two is there.
set_target_properties(heddle_internals PROPERTIES
  OUTPUT_NAME heddle LINKER_LANGUAGE CXX SOVERSION ${HEDDLE_ABI} EXCLUDE_FROM_ALL ON
  INTERPROCEDURAL_OPTIMIZATION_RELEASE ON LINK_DEPENDS ${HEDDLE_INTERNALS_SCRIPT}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/internals)
# Nor do they lie elsewhere.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib/internals)
file(CREATE_LINK ../heddle ${PROJECT_BINARY_DIR}/lib/internals/heddle SYMBOLIC)
target_link_libraries(heddle_linked INTERFACE
  $<IF:$<BOOL:$<TARGET_PROPERTY:HEDDLE_INTERNALS>>,heddle_internals,heddle>)
