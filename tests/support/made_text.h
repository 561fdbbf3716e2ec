// SPDX-License-Identifier: BSD-3-Clause
// made_text.h - for tests: parts of a page of docs/ that are made from a table of the library.
//
// A part begins behind a line `<!-- made: NAME -->` and ends before the next `<!-- end -->`. A test
// compares it with what the table gives; with WRITE_DOCS=1 in the environment it writes it.
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace heddle::test {

inline void expect_made_text(const std::string& page, const std::string& name,
                             const std::string& made) {
  std::stringstream read;
  read << std::ifstream(page).rdbuf();
  std::string text = read.str();
  const std::string mark = "<!-- made: " + name + " -->\n";
  const std::size_t found = text.find(mark);
  ASSERT_NE(found, std::string::npos) << page << " has no line " << mark;
  const std::size_t begin = found + mark.size(), end = text.find("<!-- end -->", begin);
  ASSERT_NE(end, std::string::npos) << page << ": the part " << name << " does not end";
  if (std::getenv("WRITE_DOCS") != nullptr) {
    std::ofstream(page) << text.replace(begin, end - begin, made);
    return;
  }
  EXPECT_EQ(text.substr(begin, end - begin), made)
      << page << ": run this test with WRITE_DOCS=1 in the environment and commit the page";
}

}  // namespace heddle::test
