// SPDX-License-Identifier: BSD-3-Clause
// layout.cpp - lines of text on a terminal.
#include "linktest/draw/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace heddle::linktest {
namespace {

/// Columns that a line takes on a terminal: without escape sequences, one per character.
std::size_t columns_of_line(std::string_view line) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033') {
      i = std::min(line.find('m', i), line.size());
      continue;
    }
    const bool continues = (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80;  // of UTF-8
    columns += continues ? 0 : 1;
  }
  return columns;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct block {
  std::vector<std::string_view> lines;
  std::size_t columns = 0;
};

block block_of(std::string_view text) {
  block out{lines_of(text)};
  for (const auto line : out.lines) out.columns = std::max(out.columns, columns_of_line(line));
  return out;
}

}  // namespace

std::string wrapped(std::string_view text, int width, int indent) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    // A word with the spaces before it.
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (used > 0 && used + end > static_cast<std::size_t>(width)) {
      out += fmt::format("\n{:{}}", "", indent);
      used = static_cast<std::size_t>(indent) + end - begin;
      out += text.substr(begin, end - begin);
    } else {
      used += end;
      out += text.substr(0, end);
    }
    text.remove_prefix(end);
  }
  return out + '\n';
}

std::string side_by_side(const std::vector<std::string>& pictures, int width) {
  constexpr std::size_t gap = 4;
  std::vector<block> blocks;
  std::size_t columns = 0, height = 0;
  for (const std::string& picture : pictures) {
    blocks.push_back(block_of(picture));
    columns += blocks.back().columns + (blocks.size() > 1 ? gap : 0);
    height = std::max(height, blocks.back().lines.size());
  }
  if (columns > static_cast<std::size_t>(width))
    return fmt::format("{}", fmt::join(pictures, "\n"));
  std::string out;
  for (std::size_t i = 0; i < height; ++i) {
    std::size_t missing = 0;  // columns between what was written and the next picture
    for (const block& one : blocks) {
      if (i < one.lines.size()) {
        out.append(missing, ' ');
        out += one.lines[i];
        missing = one.columns - columns_of_line(one.lines[i]) + gap;
      } else {
        missing += one.columns + gap;
      }
    }
    out += '\n';
  }
  return out;
}

}  // namespace heddle::linktest
