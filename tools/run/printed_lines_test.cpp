// SPDX-License-Identifier: BSD-3-Clause
#include "run/printed_lines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace heddle::tools {
namespace {

class PrintedLines : public testing::Test {
 protected:
  PrintedLines() {
    int ends[2];
    if (pipe(ends) != 0) throw error("no pipe");
    writer = unique_fd(ends[1]);
    printed.emplace(loop, unique_fd(ends[0]), [this](const std::string& l) { lines.push_back(l); });
  }
  void print(std::string_view text) const {
    ASSERT_EQ(write(writer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  event_loop loop;
  unique_fd writer;
  std::vector<std::string> lines;
  std::optional<printed_lines> printed;
};

TEST_F(PrintedLines, AreTakenWholeAndWithoutTheirEnds) {
  print("one\r\n\ntw");
  loop.run_once();
  EXPECT_EQ(lines, (std::vector<std::string>{"one"}));
  print("o\n");
  loop.run_once();
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
}

TEST_F(PrintedLines, TheLastOneEndsWithThePipe) {
  print("last");
  loop.run_once();
  EXPECT_TRUE(lines.empty());
  writer.reset();
  loop.run_once();
  EXPECT_EQ(lines, (std::vector<std::string>{"last"}));
  printed->read();
  EXPECT_EQ(lines.size(), 1U);
}

TEST_F(PrintedLines, AreReadBeforeTheLoopComesToThemAndWhatHasBegunCanBeForgotten) {
  print("asked for a password\nwelc");
  printed->read();
  printed->forget_begun();
  print("first\n");
  printed->read();
  EXPECT_EQ(lines, (std::vector<std::string>{"asked for a password", "first"}));
}

TEST_F(PrintedLines, OneWithoutAnEndFillsNoMemory) {
  print(std::string(5000, 'x'));
  loop.run_once();
  print("next\n");
  loop.run_once();
  EXPECT_EQ(lines, (std::vector<std::string>{"next"}));
}

}  // namespace
}  // namespace heddle::tools
