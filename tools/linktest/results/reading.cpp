// SPDX-License-Identifier: BSD-3-Clause
// reading.cpp - looks at a file's first bytes and picks its reader.
#include "linktest/results/reading.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <heddle/status.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "linktest/results/hdf5_file.h"
#include "linktest/results/json_file.h"
#include "linktest/results/linktest1.h"
#include "linktest/results/output.h"
#include "linktest/results/section_list.h"

namespace heddle::linktest {
namespace {

/// The file of a folder that has all there is to know.
std::string file_in(const std::string& folder) {
  for (const char* name : {"linktest.h5", "linktest.json"})
    if (const std::string path = fmt::format("{}/{}", folder, name); std::filesystem::exists(path))
      return path;
  if (const auto sections = sections_in(folder); !sections.empty())
    throw error(fmt::format("{}: this run has several sections; give one of {}", folder,
                            fmt::join(sections, ", ")));
  throw error(fmt::format(
      "{}: no results in this folder: neither linktest.h5 nor linktest.json is there", folder));
}

std::string first_bytes(const std::string& path) {
  std::array<char, 8> begin{};
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), begin.size());
  return {begin.data(), static_cast<std::size_t>(file.gcount())};
}

}  // namespace

run_record read_results(const std::string& path) {
  if (std::filesystem::is_directory(path)) return read_results(file_in(path));
  if (!std::filesystem::exists(path)) throw error(fmt::format("{}: there is no such file", path));
  const std::string begin = first_bytes(path);
  if (begin == "\211HDF\r\n\032\n") return read_hdf5(path);
  try {
    if (begin.starts_with("sion")) return from_linktest1(read_sion(path));
    if (begin.starts_with("{")) return from_json(read_text(path));
  } catch (const error& why) {
    throw error(fmt::format("{}: {}", path, why.what()));
  }
  throw error(fmt::format(
      "{}: not a result that can be read; give a folder of heddle linktest, its linktest.h5 or "
      "linktest.json, or a SION file of LinkTest 1.x",
      path));
}

}  // namespace heddle::linktest
