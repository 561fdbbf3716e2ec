# SPDX-License-Identifier: BSD-3-Clause
# update-exports: writes the lists in cmake/exports anew, from what headers declare and from what the
# program heddle and the modules use. Their objects do, so that it helps where linking has failed.
set(users heddle_tools heddle_linktest_core heddle_report_core heddle_bench_basics heddle_tool_output
          heddle_tool)
heddle_backend_modules(modules)
list(APPEND users ${modules})
set(objects)
foreach(user ${users})
  list(APPEND objects $<TARGET_OBJECTS:${user}>)
endforeach()
add_custom_target(update-exports
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/exports/exports.py update ${PROJECT_SOURCE_DIR}
          $<TARGET_FILE:heddle_internals> ${objects}
  DEPENDS heddle_internals ${objects} COMMAND_EXPAND_LISTS VERBATIM COMMENT "cmake/exports/*.txt")
