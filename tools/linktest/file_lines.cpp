// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/file_lines.h"

#include <sstream>

#include "linktest/results/output.h"

namespace heddle::linktest {

std::string trimmed(const std::string& text, const char* blanks) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

std::vector<file_line> lines_of_file(const std::string& path) {
  std::vector<file_line> out;
  std::istringstream in(read_text(path));
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::string text = trimmed(line.substr(0, line.find('#')), " \t\r");
    if (!text.empty()) out.push_back({number, std::move(text)});
  }
  return out;
}

}  // namespace heddle::linktest
