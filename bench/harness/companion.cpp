// SPDX-License-Identifier: BSD-3-Clause
// companion.cpp - from the running program to its neighbours; CMake knows the way.
#include "harness/companion.h"

namespace heddle::bench {
namespace {

std::filesystem::path program_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace

std::filesystem::path neighbour_program(const std::string& name) {
  return program_folder() / name;
}

std::filesystem::path companion_program(const std::string& name) {
  return (program_folder() / HEDDLE_BIN_TO_LIBEXEC / name).lexically_normal();
}

std::filesystem::path companion_file(const std::string& name) {
  return (program_folder() / HEDDLE_BIN_TO_DATA / name).lexically_normal();
}

}  // namespace heddle::bench
