// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/file_lines.h"

#include <sstream>

#include "linktest/results/output.h"

namespace heddle::linktest {
namespace {

std::string trimmed(const std::string& line) {
  constexpr const char* blank = " \t\r";
  const std::string text = line.substr(0, line.find('#'));
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) + 1 - begin);
}

}  // namespace

std::vector<file_line> lines_of_file(const std::string& path) {
  std::vector<file_line> out;
  std::istringstream in(read_text(path));
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (std::string text = trimmed(line); !text.empty()) out.push_back({number, std::move(text)});
  }
  return out;
}

}  // namespace heddle::linktest
