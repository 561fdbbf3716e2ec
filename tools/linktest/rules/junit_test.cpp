// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/rules/junit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "linktest/results/sample.h"

namespace heddle::linktest {
namespace {

using testing::HasSubstr;
using testing::Not;

run_facts judged_facts() {
  run_facts facts = full_facts();
  facts.chosen.search.expect = {"median>=0.9*ref", "other:time<=1e-5"};
  facts.chosen.search.baseline = "before";
  facts.missed = {{"other:time<=1e-5", 1024, 3, 4, 2, 1, 21e-6, 1e-5}};
  return facts;
}

TEST(Junit, HasACaseForEachRuleAndSizeAndFailsThoseThatAreMissed) {
  const std::string text = to_junit(judged_facts(), sample_results());
  EXPECT_THAT(text, HasSubstr(R"(tests="10" failures="4" errors="0" skipped="0" time="10.000")"));
  EXPECT_THAT(text, HasSubstr(R"(timestamp="2025-01-31T23:59:59" hostname="alpha")"));
  EXPECT_THAT(text, HasSubstr("name=\"other:time&lt;=1e-5 at 1 KiB\">\n      <failure message=\"3 "
                              "of 4 pairs miss it\">"));
  EXPECT_THAT(text, HasSubstr("name=\"other:time&lt;=1e-5 at 8 B\"/>"));
  EXPECT_THAT(text, HasSubstr("name=\"as fast as the baseline at 8 B\"/>"));
  EXPECT_THAT(text, HasSubstr("link: rank 1 (alpha) -&gt; rank 2 (beta)"));
}

TEST(Junit, SkipsWhatWasNotLookedAtWithTheReason) {
  run_facts facts = judged_facts();
  facts.slow.reset();
  facts.missed.assign(1, {});
  facts.missed[0].rule = "comparable with the baseline: its ranks were on \"other\" hosts";
  const std::string text = to_junit(facts, sample_results());
  EXPECT_THAT(text, HasSubstr(R"(<skipped message="not looked for"/>)"));
  EXPECT_THAT(text, HasSubstr("<failure message=\"not comparable with"));
  EXPECT_THAT(text, HasSubstr("on &quot;other&quot; hosts"));
  EXPECT_THAT(text, HasSubstr(R"(failures="3" errors="0" skipped="7")"));
  facts.not_diagnosed = "ranks share cores";
  EXPECT_THAT(to_junit(facts, sample_results()),
              HasSubstr(R"(<skipped message="not looked for: ranks share cores"/>)"));
}

TEST(Junit, HoldsNoCharacterThatXmlHasNoFormFor) {
  run_facts facts = sample_facts();
  facts.command = "heddle \033[1m<&>\"";
  facts.hosts[0] = "n\xFF\xC3";
  const std::string text = to_junit(facts, sample_results());
  EXPECT_THAT(text, HasSubstr("value=\"heddle  [1m&lt;&amp;&gt;&quot;\""));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, HasSubstr("hostname=\"n\uFFFD\uFFFD\""));
}

}  // namespace
}  // namespace heddle::linktest
