# Helpers that keep each folder's CMakeLists.txt short.

add_library(heddle_warnings INTERFACE)
target_compile_options(heddle_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow -Werror)

# heddle_unit_test(name source...): a GoogleTest program that may see src/, one ctest per TEST.
function(heddle_unit_test name)
  if(NOT HEDDLE_TESTS)
    return()
  endif()
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE heddle heddle_warnings fmt::fmt PkgConfig::sodium
                                        GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()

include(GoogleTest)
