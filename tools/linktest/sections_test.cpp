// SPDX-License-Identifier: BSD-3-Clause
// sections_test.cpp - what a run of several is made of, its folder, and the impact of traffic.
#include "linktest/sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "linktest/results/reading.h"
#include "linktest/results/sample.h"
#include "linktest/results/section_list.h"
#include "linktest/results/step_bandwidth.h"
#include "linktest/results/writing.h"

namespace heddle::linktest {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Sections, AreOnePerRailThatIsNamed) {
  options chosen;
  chosen.layers = {"shm", "tcp.rail0", "tcp.rail1"};
  std::vector<std::string> names;
  for (const section& one : sections_of(chosen)) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("semi-send-shm", "semi-send-tcp.rail0", "semi-send-tcp.rail1"));
}

TEST(Sections, AreOnePerLayerKernelOpAndMode) {
  options chosen;
  chosen.layers = {"shm", "tcp"};
  chosen.kernels = {kernel::uni};
  chosen.ops = {operation::send, operation::put};
  chosen.mode = run_mode::paired;
  chosen.search.time_s = 80;
  std::vector<std::string> names;
  for (const section& one : sections_of(chosen)) {
    names.push_back(one.name);
    EXPECT_EQ(one.how.search.time_s, 10);
    EXPECT_EQ(one.how.kernel, kernel::uni);
    EXPECT_EQ(one.how.layers, std::vector{one.how.layer});
    EXPECT_NE(one.how.mode, run_mode::paired);
  }
  EXPECT_THAT(names,
              ElementsAre("uni-send-shm-serial", "uni-send-shm-parallel", "uni-put-shm-serial",
                          "uni-put-shm-parallel", "uni-send-tcp-serial", "uni-send-tcp-parallel",
                          "uni-put-tcp-serial", "uni-put-tcp-parallel"));
  EXPECT_EQ(sections_of({}).size(), 1u);
}

TEST(Sections, EndTheRunWithTheGravestOfTheirStatuses) {
  EXPECT_EQ(worse_of(success, slow_part), slow_part);
  EXPECT_EQ(worse_of(slow_part, incomplete), incomplete);
  EXPECT_EQ(worse_of(corrupted, 130), 130);
  EXPECT_EQ(worse_of(success, success), success);
}

/// Two ranks and one size, with a time each way; the second one is not measured where it is 0.
results both_ways(double there_s, double back_s) {
  results all(2, kernel::semi, {8});
  for (int r = 0; r < 2; ++r) {
    row mine(1, 2, 1);
    if (const double time = r == 0 ? there_s : back_s; time > 0) mine.add_time(0, 1 - r, time);
    all.set_row(r, mine.records());
  }
  return all;
}

TEST(Impact, IsTheFactorOfEachPairAndOfAllTogether) {
  const auto all = impact_of(both_ways(1e-6, 3e-6), both_ways(4e-6, 6e-6));
  ASSERT_EQ(all.size(), 1u);
  const impact_of_figure& mean = all[0].mean;
  EXPECT_NEAR(mean.factors[1], 4, 1e-5);
  EXPECT_NEAR(mean.factors[2], 2, 1e-5);
  EXPECT_TRUE(std::isnan(mean.factors[0])) << "no rank measures itself";
  EXPECT_NEAR(mean.overall, 2.5, 1e-5);
  EXPECT_EQ(mean.worst_from, 0);
  EXPECT_NEAR(all[0].p99.over_pairs.max, 4, 1e-5);
  EXPECT_THAT(in_words(all, {"a", "b"}), HasSubstr("worst rank 0 (a) -> rank 1 (b)"));
}

TEST(Impact, LeavesOutPairsThatOneOfBothLacks) {
  const auto all = impact_of(both_ways(1e-6, 0), both_ways(4e-6, 6e-6));
  EXPECT_NEAR(all[0].mean.overall, 4, 1e-5);
  EXPECT_THAT(all[0].mean.factors, ElementsAre(DoubleNear(4, 1e-5)))
      << "one of four, so it is listed";
  EXPECT_THAT(all[0].mean.peers, ElementsAre(1));
  const auto none = impact_of(both_ways(1e-6, 0), both_ways(0, 6e-6));
  EXPECT_EQ(none[0].mean.worst_from, -1);
  EXPECT_THAT(in_words(none, {"a", "b"}), HasSubstr("no pair was measured both ways"));
}

TEST(Impact, IsListedByPairWhereLessThanHalfOfAMatrixIsKnown) {
  constexpr int ranks = 5;
  const auto ring = [](double time_s) {
    results all(ranks, kernel::semi, {8});
    for (int r = 0; r < ranks; ++r) {
      row mine(1, ranks, 1);
      mine.add_time(0, (r + 1) % ranks, time_s * (r + 1));
      all.set_row(r, mine.records());
    }
    return all;
  };
  const impact_of_figure mean = impact_of(ring(1e-6), ring(2e-6))[0].mean;
  EXPECT_THAT(mean.initiators, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(mean.peers, ElementsAre(1, 2, 3, 4, 0));
  EXPECT_THAT(mean.factors, Each(DoubleNear(2, 1e-5)));
  EXPECT_NEAR(mean.over_pairs.median, 2, 1e-5);
}

run_facts facts_over(const std::string& layer, std::vector<verdict> verdicts) {
  run_facts facts = sample_facts();
  facts.chosen.layer = layer;
  facts.slow = diagnosis{std::move(verdicts), {}};
  return facts;
}

layer_comparison of_two_rails_and_a_wire() {
  verdict slow;
  slow.what = culprit::node;
  slow.node = 2;
  slow.rail = 1;
  slow.factor = 3;
  std::vector<layer_findings> layers;
  for (const auto& [layer, verdicts] : {std::pair<const char*, std::vector<verdict>>{"near", {}},
                                        {"wide.rail0", {}},
                                        {"wide.rail1", {slow}}})
    layers.push_back(findings_over(facts_over(layer, verdicts), sample_results()));
  return compare(std::move(layers), sample_facts());
}

TEST(Layers, StandBesideEachOtherWithTheRailThatIsSlow) {
  const std::string words = in_words(of_two_rails_and_a_wire(), sample_facts());
  EXPECT_THAT(words, HasSubstr("Layers, medians                      near  wide.rail0  wide.rail1\n"
                               "8 B, same host                    5.50 us     5.50 us     5.50 us\n"
                               "8 B, other host"));
  EXPECT_THAT(words, HasSubstr("1 KiB, same host"));
  EXPECT_THAT(words, HasSubstr("\nRails 0, 1 of wide\nrail: rank 2 (beta), rail 1: 3.00 times"));
  EXPECT_THAT(words, Not(HasSubstr("Not all was judged")));
}

/// sample_results(), all of which but one pair take so many times as long.
results slower_but_for(int initiator, int peer, float times) {
  const results usual = sample_results();
  results out(3, kernel::semi, {8, 1024});
  for (int r = 0; r < 3; ++r) {
    std::vector<row_record> mine;
    for (int p = 0; p < 3; ++p)
      for (std::uint32_t s = 0; s < 2; ++s) {
        row_record& one = mine.emplace_back(row_record{p, s, usual.at(s, r, p)});
        if (r != initiator || p != peer) one.known.time.median *= times;
      }
    out.set_row(r, mine);
  }
  return out;
}

layer_comparison of_rails(const results& second) {
  return compare({findings_over(facts_over("wide.rail0", {}), sample_results()),
                  findings_over(facts_over("wide.rail1", {}), second)},
                 sample_facts());
}

TEST(Layers, TellARailThatIsSlowerForAllHostsWithoutAVerdict) {
  const layer_comparison found = of_rails(slower_but_for(2, 1, 20));
  ASSERT_EQ(found.wires.size(), 1u);
  EXPECT_TRUE(found.wires[0].verdicts.empty());
  ASSERT_EQ(found.wires[0].slower.size(), 1u) << "once for both sizes";
  EXPECT_EQ(found.wires[0].slower[0].rail, 1);
  EXPECT_EQ(found.wires[0].slower[0].between, pair_class::network);
  EXPECT_THAT(in_words(found, sample_facts()), HasSubstr("\nNothing found\nRail 1 takes "));
}

TEST(Layers, TellNothingOfARailThatIsHardlySlowerOrOnlyForSomeHosts) {
  EXPECT_TRUE(of_rails(slower_but_for(2, 1, 1.2F)).wires[0].slower.empty());
  EXPECT_TRUE(of_rails(slower_but_for(0, 2, 3)).wires[0].slower.empty()) << "0 -> 2 is as usual";
}

TEST(Layers, SayOfWhichRailsNotAllWasJudged) {
  run_facts not_looked_for = facts_over("wide.rail1", {}), crowded = facts_over("wide.rail2", {});
  not_looked_for.slow.reset();
  crowded.disturbed = "rank 2 (beta) 31 %";
  const auto found = compare(
      {findings_over(facts_over("wide.rail0", {}), sample_results()),
       findings_over(not_looked_for, sample_results()), findings_over(crowded, sample_results())},
      sample_facts());
  const auto nobody_looked = compare({findings_over(not_looked_for, sample_results()),
                                      findings_over(not_looked_for, sample_results())},
                                     sample_facts());
  EXPECT_TRUE(nobody_looked.wires.empty());
  EXPECT_THAT(
      in_words(found, sample_facts()),
      HasSubstr("Rails 0, 1, 2 of wide\nNothing found\nNot all was judged over rail 1, 2\n"));
}

TEST(StepBandwidth, AddsUpThePairsOfEachStepAndDirection) {
  const auto sums = step_bandwidths(both_ways(2e-6, 4e-6), plan(2, run_mode::parallel, false, 1));
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_NEAR(sums[0].max, 4e6, 10);
  EXPECT_NEAR(sums[0].min, 2e6, 10);
  const auto sample = step_bandwidths(sample_results(), plan(3, run_mode::parallel, false, 1));
  EXPECT_EQ(sample.size(), 2u) << "steps with a lost pair do not count";
}

class SectionList : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "heddle-sections-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(SectionList, ForgetsAnEarlierRunsListAndResultsButNothingElse) {
  const auto write_section = [this](const char* name) {
    section_list list(folder_, existing::replace);
    list.go_on();
    output_directory into(list.path() + '/' + name, 1, existing::refuse);
    (void)write_files(into, full_facts(), sample_results());
    list.add(name, full_facts(), sample_results(), {}, {true, 0});
  };
  write_section("semi-put");
  write_section("semi-get");
  write_text(folder_ + "/semi-get/notes.txt", "mine");
  section_list(folder_, existing::replace).forget_earlier();
  EXPECT_TRUE(sections_in(folder_).empty());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/semi-put"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/semi-get/linktest.h5"));
  EXPECT_EQ(read_text(folder_ + "/semi-get/notes.txt"), "mine");
}

TEST_F(SectionList, HasTheComparisonOfLayersWithTheLastOfThem) {
  section_list list(folder_, existing::replace);
  list.add("semi-send-wide.rail1", facts_over("wide.rail1", {}), sample_results(), {}, {true, 0});
  list.compare("semi-send-wide.rail1", of_two_rails_and_a_wire(), sample_facts());
  const auto document = nlohmann::json::parse(read_text(folder_ + '/' + section_file));
  const auto& found = document["sections"][0]["comparison"];
  EXPECT_EQ(found["layers"][0]["name"], "near");
  EXPECT_EQ(found["layers"][2]["medians"][1]["class"], "network");
  EXPECT_EQ(found["wires"][0]["rails"], (std::vector{0, 1}));
  EXPECT_EQ(found["wires"][0]["verdicts"][0]["what"], "rail");
  EXPECT_THAT(found["words"], HasSubstr("Rails 0, 1 of wide"));
}

TEST_F(SectionList, NamesWhatIsThereAndRefusesToMixTwoRuns) {
  {
    section_list list(folder_, existing::refuse);
    run_facts facts = full_facts();
    facts.chosen.op = operation::put;
    output_directory into(list.path() + "/semi-put", 1, existing::refuse);
    (void)write_files(into, facts, sample_results());
    list.add("semi-put", facts, sample_results(), {}, {true, slow_part});
    facts.chosen.op = operation::get;
    list.add("semi-get", facts, sample_results(), impact_of(sample_results(), sample_results()),
             {});
  }
  EXPECT_THAT(sections_in(folder_), ElementsAre("semi-put", "semi-get"));
  const auto document = nlohmann::json::parse(read_text(folder_ + '/' + section_file));
  EXPECT_EQ(document["sections"][0]["op"], "put");
  EXPECT_EQ(document["sections"][0]["complete"], false);
  EXPECT_EQ(document["sections"][1]["impact"][0]["mean"]["overall"], 1);
  EXPECT_TRUE(document["sections"][1]["impact"][0]["mean"]["factors"][0][0].is_null());
  EXPECT_FALSE(document["sections"][1]["impact"][0]["mean"].contains("peer"));
  EXPECT_EQ(read_results(folder_ + "/semi-put").facts.chosen.op, operation::put);
  EXPECT_THROW((void)section_list(folder_, existing::refuse), error);
  try {
    (void)read_results(folder_);
    ADD_FAILURE() << "took a run of several for one";
  } catch (const error& why) {
    EXPECT_THAT(why.what(), HasSubstr("give one of semi-put, semi-get"));
  }
}

}  // namespace
}  // namespace heddle::linktest
