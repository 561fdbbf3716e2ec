// SPDX-License-Identifier: BSD-3-Clause
// tables_test.cpp - results as lines, and classes of pairs.
#include "linktest/results/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "linktest/results/pair_class.h"
#include "linktest/results/sample.h"

namespace heddle::linktest {
namespace {

using ::testing::HasSubstr;

TEST(Tables, CsvHasALinePerSizeAndPairWithEmptyFieldsForWhatIsNotKnown) {
  const std::string text = text_of(write_csv, sample_facts(), sample_results());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 * 3 * 2);
  EXPECT_THAT(text, HasSubstr("kernel,op,backend,mode,bytes,initiator,peer,initiator_host,peer_"
                              "host,class,state,time_min"));
  EXPECT_THAT(text, HasSubstr("\nsemi,send,auto,parallel,8,1,2,alpha,beta,network,lost,,,"));
}

TEST(Tables, CsvQuotesWhatWouldNotBeOneField) {
  run_facts facts = sample_facts();
  facts.hosts[2] = "be,\"ta";
  EXPECT_THAT(text_of(write_csv, facts, sample_results()), HasSubstr(",\"be,\"\"ta\","));
}

TEST(Tables, JsonLinesBeginWithTheFactsAndGoOnWithAPairEach) {
  std::istringstream in(text_of(write_json_lines, full_facts(), sample_results()));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 1u + 2 * 3 * 2);
  EXPECT_EQ(lines[0]["machines"]["beta"]["processor"], "Example 2");
  EXPECT_EQ(lines[1]["class"], "complex");
  EXPECT_TRUE(lines[4]["time_median"].is_null());
}

TEST(Tables, PrometheusGetsFiguresByClassAndAsManyLinesForAnyNumberOfRanks) {
  const std::string text = to_prometheus(sample_facts(), sample_results());
  EXPECT_THAT(text, HasSubstr("# TYPE heddle_linktest_time_seconds gauge\n"));
  EXPECT_THAT(text,
              HasSubstr("heddle_linktest_pairs{kernel=\"semi\",op=\"send\",backend=\"auto\",mode="
                        "\"parallel\",state=\"lost\"} 2\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("heddle_linktest_complete\\{kernel.*\\} 0\n"));
  EXPECT_THAT(text, HasSubstr(",bytes=\"8\",class=\"host\",over_pairs=\"max\"} 1e-05\n"));
}

TEST(Tables, PrometheusTellsVerdictsAndMissedRulesWithoutTwoSamplesOfTheSameLabels) {
  run_facts facts = full_facts();
  facts.missed.assign(2, {"other:time<=1e-5", 1024, 3, 4, 2, 1, 21e-6, 1e-5});
  facts.hosts[1] = R"(al"p\ha)";
  std::istringstream in(to_prometheus(facts, sample_results()));
  std::set<std::string> seen;
  std::string all;
  for (std::string line; std::getline(in, line); all += line + '\n')
    EXPECT_TRUE(seen.insert(line.substr(0, line.rfind(' '))).second || line[0] == '#') << line;
  EXPECT_THAT(all, HasSubstr(R"(,what="link"} 1)"));
  EXPECT_THAT(all, HasSubstr(R"(,what="node"} 0)"));
  EXPECT_THAT(
      all, HasSubstr(R"(host="al\"p\\ha",rank="1",peer_host="beta",peer_rank="2",rail="-1"} 3.5)"));
  EXPECT_THAT(all, HasSubstr(R"(,rule="other:time<=1e-5",bytes="1024"} 3)"));
  EXPECT_THAT(to_prometheus(sample_facts(), sample_results()),
              ::testing::ContainsRegex("heddle_linktest_diagnosed\\{kernel.*\\} 0\n"));
}

TEST(Tables, PrometheusGetsTextAlsoOfHostsWhoseNamesAreNone) {
  run_facts facts = full_facts();
  facts.hosts[1] = "n\xFF";
  EXPECT_THAT(to_prometheus(facts, sample_results()), HasSubstr("host=\"n\uFFFD\",rank=\"1\""));
}

// --- classes of pairs ---

TEST(PairClass, IsToldByHostSocketSharedCacheAndCore) {
  run_facts facts = full_facts();
  EXPECT_EQ(class_of(facts, 0, 1), pair_class::complex);
  EXPECT_EQ(class_of(facts, 0, 2), pair_class::network);
  EXPECT_EQ(class_of(sample_facts(), 0, 1), pair_class::host) << "caches are not known";
  const rank_place here{"0", {0}, 0, 0};
  const auto beside = [&](const rank_place& there) {
    facts.places[0] = here;
    facts.places[1] = there;
    return class_of(facts, 0, 1);
  };
  EXPECT_EQ(beside(here), pair_class::core);
  EXPECT_EQ(beside({"1", {1}, 0, 0}), pair_class::complex);
  EXPECT_EQ(beside({"1", {1}, 1, 0}), pair_class::socket);
  EXPECT_EQ(beside({"1", {1}, 1, 1}), pair_class::host);
  EXPECT_EQ(beside({"0-1", {0, 1}, -1, 0}), pair_class::socket);
  EXPECT_EQ(beside({"0-1", {0, 1}, -1, -1}), pair_class::host);
  facts.places[0] = facts.places[1] = {"0-1", {0, 1}, -1, -1};
  EXPECT_EQ(class_of(facts, 0, 1), pair_class::host) << "what they share is not known";
}

TEST(PairClass, GivesPairsOfASocketAcrossItsCoreComplexesTheirOwnFigures) {
  run_facts facts = sample_facts();
  facts.hosts = {"alpha", "alpha", "alpha"};
  facts.places = {{"0", {0}, 0, 0}, {"1", {1}, 1, 0}, {"2", {2}, 2, 1}};
  const auto figures = figures_by_class(facts, sample_results(), 0);
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0].what, pair_class::socket);
  EXPECT_EQ(figures[0].pairs, 2u);
  EXPECT_NEAR(figures[0].time.median, 5.5e-6, 1e-11);
  EXPECT_EQ(figures[1].what, pair_class::host);
  EXPECT_THAT(text_of(write_csv, facts, sample_results()),
              HasSubstr(",0,1,alpha,alpha,socket,measured,"));
}

TEST(PairClass, IsToldByGroupWhereTwoHostsShareOneAndTheirGroupsAreKnown) {
  run_facts facts = sample_facts();
  EXPECT_EQ(name_of(facts, pair_class::network), "other host");
  facts.groups = {"rack1", "rack1", "rack2"};
  EXPECT_EQ(class_of(facts, 0, 1), pair_class::host);
  EXPECT_EQ(class_of(facts, 0, 2), pair_class::network);
  facts.hosts = {"alpha", "gamma", "beta"};
  EXPECT_EQ(class_of(facts, 0, 1), pair_class::group);
  EXPECT_EQ(name_of(facts, pair_class::network), "other group");
}

TEST(PairClass, GivesTheGroupItsOwnFiguresAndReference) {
  run_facts facts = sample_facts();
  facts.hosts = {"alpha", "beta", "gamma"};
  facts.groups = {"rack1", "rack1", "rack2"};
  // In the group 1 and 10 us; between groups 2, 20 and 21: 1 -> 2 was lost.
  const auto figures = figures_by_class(facts, sample_results(), 0);
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0].what, pair_class::group);
  EXPECT_EQ(figures[0].pairs, 2u);
  EXPECT_NEAR(figures[0].time.median, 5.5e-6, 1e-11);
  EXPECT_EQ(figures[1].what, pair_class::network);
  EXPECT_NEAR(figures[1].time.median, 20e-6, 1e-11);
  EXPECT_THAT(to_prometheus(facts, sample_results()), HasSubstr("class=\"group\""));
  EXPECT_THAT(text_of(write_csv, facts, sample_results()),
              HasSubstr(",0,1,alpha,beta,group,measured,"));
}

TEST(PairClass, ComparesAPairWithItsOwnClassOnly) {
  // Inside the host 1 and 10 us; between hosts 2, 12, 20, 21: never "21 x the median inside".
  const auto slow = slowest_in_class(sample_facts(), sample_results(), 0, 10);
  ASSERT_FALSE(slow.empty());
  for (const slow_pair& p : slow) EXPECT_LT(p.times_median, 2);
}

TEST(PairClass, NamesTheSlowestPairsFirstAndComparesThemWithTheMedianOfTheirClass) {
  const auto slow = slowest_in_class(sample_facts(), sample_results(), 0, 2);
  ASSERT_EQ(slow.size(), 2u);
  EXPECT_NEAR(slow[0].time_s, 10e-6, 1e-11);
  EXPECT_NEAR(slow[0].times_median, 10 / 5.5, 1e-6);  // 1 and 10 us; between hosts 2, 20, 21
  EXPECT_NEAR(slow[1].times_median, 21.0 / 20, 1e-6);
  EXPECT_EQ(slow[1].initiator, 2);
  EXPECT_EQ(slow[1].peer, 1);
  EXPECT_EQ(slowest_in_class(sample_facts(), sample_results(), 0, 100).size(), 2u)
      << "who is not slower than the median is not slow";
}

TEST(PairClass, HostMatrixHoldsMediansFromHostToHost) {
  const auto matrix =
      host_matrix(sample_facts(), sample_results(), {"alpha", "beta"}, 0, metric::time_median);
  ASSERT_EQ(matrix.size(), 4u);
  EXPECT_NEAR(matrix[0], 5.5e-6, 1e-11);   // 0 -> 1 and 1 -> 0
  EXPECT_NEAR(matrix[1], 2e-6, 1e-11);     // 0 -> 2; 1 -> 2 was lost
  EXPECT_NEAR(matrix[2], 20.5e-6, 1e-11);  // 2 -> 0 and 2 -> 1
  EXPECT_TRUE(std::isnan(matrix[3]));
}

}  // namespace
}  // namespace heddle::linktest
