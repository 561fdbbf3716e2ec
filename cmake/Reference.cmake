# SPDX-License-Identifier: BSD-3-Clause
# The reference of the public headers as web pages, made by Doxygen: target `reference`, which no other
# needs. A comment that names what is not there ends it.
find_program(HEDDLE_DOXYGEN doxygen)
find_package(Python3 COMPONENTS Interpreter)
if(NOT HEDDLE_DOXYGEN OR NOT Python3_Interpreter_FOUND)
  return()
endif()

set(HEDDLE_REFERENCE_DIR ${PROJECT_BINARY_DIR}/reference)
configure_file(${PROJECT_SOURCE_DIR}/cmake/reference/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
add_custom_target(reference
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${HEDDLE_REFERENCE_DIR}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${HEDDLE_REFERENCE_DIR}
  COMMAND ${HEDDLE_DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile
  COMMENT "reference of the public headers: ${HEDDLE_REFERENCE_DIR}/html" VERBATIM)
