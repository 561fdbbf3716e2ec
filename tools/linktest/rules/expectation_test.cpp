// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/rules/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "linktest/results/output.h"
#include "linktest/sections.h"

namespace heddle::linktest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct rule_file {
  std::string path = testing::TempDir() + "rules.txt";
  explicit rule_file(const std::string& text) { write_text(path, text); }
  ~rule_file() { std::remove(path.c_str()); }
  rule_file(const rule_file&) = delete;
  rule_file& operator=(const rule_file&) = delete;
};

std::string refusal(const std::string& value) {
  try {
    (void)expectations_of(value);
  } catch (const error& why) {
    return why.what();
  }
  return {};
}

options parsed(std::vector<std::string> words) {
  options out;
  CLI::App command;
  declare_options(command, out);
  std::reverse(words.begin(), words.end());
  command.parse(words);
  return out;
}

TEST(Expectations, OfAFileAreItsLinesWithoutCommentsAndEmptyOnes) {
  const rule_file file("# of the rack\n\n  median>=0.9*ref  \ntcp/host:time<=1e-5 # slow\r\n");
  EXPECT_THAT(expectations_of('@' + file.path),
              ElementsAre("median>=0.9*ref", "tcp/host:time<=1e-5"));
}

TEST(Expectations, AreRefusedByFileAndLineWithWhatIsAccepted) {
  const rule_file file("median>=ref\nfast\n");
  EXPECT_THAT(refusal('@' + file.path), HasSubstr(file.path + ":2: 'fast' is no rule"));
  const rule_file empty("# nothing\n");
  EXPECT_THAT(refusal('@' + empty.path), HasSubstr("no rule in this file"));
  EXPECT_THAT(refusal("@/no/such/file"), HasSubstr("/no/such/file"));
  EXPECT_THAT(refusal("utcp/time<=1"), HasSubstr("no section has the word 'utcp'"));
  EXPECT_THAT(refusal("uni-/time<=1"), HasSubstr("the word ''"));
  EXPECT_THAT(refusal("uni/fast"), HasSubstr("0.93*ref"));
}

TEST(Expectations, AreForTheSectionsThatHaveAllTheirWords) {
  const options chosen =
      parsed({"-n", "2", "--backend", "shm,tcp", "--kernel", "semi,uni", "--expect", "time<=1",
              "--expect", "tcp/time<=2", "--expect", "uni-shm/time<=3", "--expect", "put/time<=4"});
  const std::vector<section> sections = sections_of(chosen);
  ASSERT_EQ(sections.size(), 4u);
  EXPECT_THAT(sections[0].how.search.expect, ElementsAre("time<=1")) << sections[0].name;
  EXPECT_THAT(sections[1].how.search.expect, ElementsAre("time<=1", "time<=3"));
  EXPECT_THAT(sections[2].how.search.expect, ElementsAre("time<=1", "time<=2"));
  EXPECT_THAT(sections[3].how.search.expect, ElementsAre("time<=1", "time<=2"));
}

TEST(Expectations, AreForEachRailOfAWireOrForOne) {
  const options chosen = parsed({"-n", "2", "--layers", "tcp.rail0-1", "--expect", "tcp/time<=1",
                                 "--expect", "tcp.rail1/time<=2"});
  const std::vector<section> sections = sections_of(chosen);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_THAT(sections[0].how.search.expect, ElementsAre("time<=1"));
  EXPECT_THAT(sections[1].how.search.expect, ElementsAre("time<=1", "time<=2"));
  EXPECT_THAT(refusal("uni.rail1/time<=1"), HasSubstr("no section has the word 'uni.rail1'"));
}

TEST(Expectations, FromAFileReachTheRanksAsRules) {
  const rule_file file("time<=1\nuni/time<=2\n");
  const options chosen = parsed({"-n", "2", "--expect", '@' + file.path, "--expect", "p99<=3"});
  EXPECT_THAT(chosen.search.expect, ElementsAre("time<=1", "uni/time<=2", "p99<=3"));
  std::vector<std::string> words = to_arguments(chosen);
  words.erase(words.begin());
  EXPECT_EQ(parsed(words).search.expect, chosen.search.expect);
  EXPECT_THAT(rules_for({"uni/time<=2"}, chosen), IsEmpty()) << "kernel semi";
}

}  // namespace
}  // namespace heddle::linktest
