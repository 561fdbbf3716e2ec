// SPDX-License-Identifier: BSD-3-Clause
// binding_test.cpp - which CPUs ranks get, on machines that are not here.
#include "run/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include "exit_status.h"

namespace heddle::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;
using unit = binding::unit;

/// Two packages of four cores; the hardware threads of core i are i and 8 + i.
machine two_packages() {
  machine m;
  for (int core = 0; core < 8; ++core) m.cores.push_back({core, 8 + core});
  m.numa_nodes = {{0, 8, 1, 9, 2, 10, 3, 11}, {4, 12, 5, 13, 6, 14, 7, 15}};
  m.packages = 2;
  return m;
}

machine cores(std::vector<int> cpus) {
  machine m;
  for (const int cpu : cpus) m.cores.push_back({cpu});
  m.numa_nodes = {std::move(cpus)};
  return m;
}

TEST(Binding, FewerRanksThanCoresShareThemOutAsNeighbours) {
  const auto plan = plan_binding({unit::core}, two_packages(), 4);
  EXPECT_THAT(plan.cpus, ElementsAre(ElementsAre(0, 1, 8, 9), ElementsAre(2, 3, 10, 11),
                                     ElementsAre(4, 5, 12, 13), ElementsAre(6, 7, 14, 15)));
  EXPECT_THAT(plan.problem, IsEmpty());
}

TEST(Binding, NoCoreIsLeftOverWhenSharesAreUneven) {
  const auto plan = plan_binding({unit::core}, cores({0, 1, 2, 3, 4}), 2);
  EXPECT_THAT(plan.cpus, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3, 4)));
}

TEST(Binding, AsManyRanksAsCoresHaveOneEach) {
  EXPECT_THAT(plan_binding({unit::core}, cores({3, 5}), 2).cpus,
              ElementsAre(ElementsAre(3), ElementsAre(5)));
}

TEST(Binding, MoreRanksThanCoresAreNotBoundAndItIsSaid) {
  for (const unit what : {unit::core, unit::numa}) {
    const auto plan = plan_binding({what}, cores({0, 1}), 3);
    EXPECT_THAT(plan.cpus, IsEmpty());
    EXPECT_EQ(plan.problem, "3 ranks on 2 cores are not bound");
  }
}

TEST(Binding, RanksAreSpreadOverNumaNodes) {
  const auto two = plan_binding({unit::numa}, two_packages(), 2).cpus;
  EXPECT_THAT(two, ElementsAre(two_packages().numa_nodes[0], two_packages().numa_nodes[1]));
  const auto three = plan_binding({unit::numa}, two_packages(), 3).cpus;
  ASSERT_THAT(three, SizeIs(3));
  EXPECT_EQ(three[0], three[1]);
  EXPECT_EQ(three[2], two_packages().numa_nodes[1]);
}

TEST(Binding, AListIsSharedOutInItsOrder) {
  const auto plan = plan_binding(parse_binding("4-5,0,1"), two_packages(), 2);
  EXPECT_THAT(plan.cpus, ElementsAre(ElementsAre(4, 5), ElementsAre(0, 1)));
}

TEST(Binding, MoreRanksThanListedCpusAllGetTheList) {
  const auto plan = plan_binding(parse_binding("4,6"), two_packages(), 3);
  EXPECT_THAT(plan.cpus, ElementsAre(ElementsAre(4, 6), ElementsAre(4, 6), ElementsAre(4, 6)));
  EXPECT_THAT(plan.problem, HasSubstr("3 ranks share all CPUs of --bind 4,6"));
}

TEST(Binding, AListedCpuThatMayNotBeUsedIsRefused) {
  EXPECT_THAT(
      [] {
        (void)plan_binding(parse_binding("1-2"), cores({0, 1}), 1);
      },
      ThrowsMessage<usage_error>(HasSubstr("CPU 2 may not be used, only 0-1")));
}

TEST(Binding, NoneBindsNothingAndIsNoProblem) {
  const auto plan = plan_binding({unit::none}, cores({0}), 4);
  EXPECT_THAT(plan.cpus, IsEmpty());
  EXPECT_THAT(plan.problem, IsEmpty());
}

TEST(Binding, IsWrittenAsItIsRead) {
  for (const char* text : {"none", "core", "numa", "0", "7,4,5"})
    EXPECT_EQ(text_of(parse_binding(text)), text);
  for (const char* text : {"", "cores", "1-", "3-1", "0,0", "-1"})
    EXPECT_THROW((void)parse_binding(text), usage_error) << text;
}

TEST(Binding, AListMayBeLongAndItsNumbersLarge) {
  EXPECT_THAT(parse_binding("2147483646-2147483647").cpus, ElementsAre(2147483646, 2147483647));
  EXPECT_THAT(parse_binding("0-999999").cpus, SizeIs(1'000'000));
}

TEST(Binding, WhoPlacesExecutorsIsNotBoundUnlessAsked) {
  const std::vector<std::string> placed{"A=1", "HEDDLE_EXECUTOR_CORES=2,3"};
  EXPECT_EQ(binding_beside({unit::core}, placed).what, unit::none);
  EXPECT_EQ(binding_beside({unit::core, {}, true}, placed).what, unit::core);
  EXPECT_EQ(binding_beside({unit::core}, {"HEDDLE_EXECUTOR_CORES=near"}).what, unit::core);
}

TEST(Machine, KnowsEveryUsableCpuOnceAndNoOther) {
  const machine one = look_at_machine({0});
  EXPECT_THAT(one.cores, ElementsAre(ElementsAre(0)));
  EXPECT_THAT(one.numa_nodes, ElementsAre(ElementsAre(0)));
  EXPECT_EQ(one.packages, 1);
}

}  // namespace
}  // namespace heddle::tools
