// SPDX-License-Identifier: BSD-3-Clause
// page_test.cpp - the page carries its data whole, and nothing in the data can end it early.
#include "report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <nlohmann/json.hpp>

#include "linktest/results/sample.h"

namespace heddle::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

named_run sample(const std::string& name = "first") {
  return {name, {linktest::full_facts(), linktest::sample_results()}};
}

nlohmann::json data_of(const std::string& page) {
  const std::string begin = "id=\"data\">";
  const std::size_t from = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(Page, HoldsFactsAndMatricesOfAllRuns) {
  const auto data = data_of(make_page({sample(), sample("second")}));
  ASSERT_EQ(data["runs"].size(), 2u);
  EXPECT_EQ(data["runs"][1]["name"], "second");
  EXPECT_EQ(data["runs"][0]["machines"]["beta"]["processor"], "Example 2");
  EXPECT_EQ(data["runs"][0]["diagnosis"]["verdicts"][0]["what"], "link");
  EXPECT_THAT(std::string(data["runs"][0]["diagnosis"]["words"]),
              HasSubstr("link: rank 1 (alpha) -> rank 2 (beta): 3.50 times as slow"));
  EXPECT_EQ(data["runs"][0]["sizes"][0]["matrices"]["state"], base64({"\0\1\1\1\0\2\1\1\0", 9}));
}

TEST(Page, NeedsNothingFromElsewhere) {
  const std::string page = make_page({sample()});
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("<link")));
  EXPECT_THAT(page, HasSubstr("Chart.js v3"));
  for (const char* mark : {"@TITLE@", "@STYLE@", "@CHARTS@"})
    EXPECT_EQ(page.find(mark), std::string::npos);
}

TEST(Page, IsNotEndedByWhatARunIsCalled) {
  named_run bad = sample("</script><script>alert(1)</script>@STYLE@");
  bad.run.facts.hosts[0] = "<b>";
  const std::string page = make_page({bad});
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(data_of(page)["runs"][0]["name"], bad.name);
  EXPECT_EQ(data_of(page)["runs"][0]["hosts"][0], "<b>");
}

TEST(Page, EncodesBytesAsTheStandardSays) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

}  // namespace
}  // namespace heddle::report
