// SPDX-License-Identifier: BSD-3-Clause
// binding_test.cpp - which CPUs ranks find that they may use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "system/child.h"

namespace heddle::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> tell_cpus{"sed", "-n", "s/^Cpus_allowed_list:\\s*//p",
                                         "/proc/self/status"};

/// CPUs that this test may use, at least one.
std::vector<std::string> usable() {
  cpu_set_t set;
  std::vector<std::string> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {"0"};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(std::to_string(cpu));
  return cpus;
}

/// The command, started by somebody who has bound it to one CPU.
std::vector<std::string> on_one_cpu(std::vector<std::string> command) {
  command.insert(command.begin(), {"taskset", "-c", usable().front()});
  return command;
}

TEST(Binding, AnOnlyRankHasAllThatMayBeUsed) {
  const std::string all = run(tell_cpus).out;
  EXPECT_EQ(run(heddle_run({}, tell_cpus)).out, all);
  EXPECT_EQ(run(heddle_run({"--bind", "none"}, tell_cpus)).out, all);
}

TEST(Binding, ListedCpusAreSharedOutByRank) {
  if (usable().size() < 2) GTEST_SKIP() << "there is one CPU only";
  const std::string first = usable()[0], second = usable()[1];
  const auto how =
      run(heddle_run({"-n", "2", "--prefix", "--bind", second + "," + first}, tell_cpus));
  EXPECT_THAT(sorted_lines(how.out), ElementsAre("[0] " + second, "[1] " + first));
}

TEST(Binding, WhatWasBoundAlreadyIsAllThereIs) {
  const auto how = run(on_one_cpu(heddle_run({"-n", "2"}, tell_cpus)));
  EXPECT_THAT(sorted_lines(how.out), ElementsAre(usable().front(), usable().front()));
  EXPECT_THAT(how.err, IsEmpty()) << "nobody has asked";
}

TEST(Binding, MoreRanksThanCoresAreToldInOneLineIfAsked) {
  const auto how = run(on_one_cpu(heddle_run({"-n", "2", "--bind", "core"}, {"true"})));
  EXPECT_EQ(how.status, 0);
  EXPECT_EQ(how.err, "heddle: 2 ranks on 1 core are not bound\n");
}

TEST(Binding, MoreRanksThanCoresOnHostsAreToldOnceWithAHost) {
  const auto how = run(on_one_cpu(run_on_hosts("a:2,b:2", {"--bind", "numa"}, {"true"})));
  EXPECT_EQ(how.status, 0);
  EXPECT_EQ(sorted_lines(how.err).size(), 1u) << how.err;
  EXPECT_THAT(how.err, HasSubstr(": 2 ranks on 1 core are not bound"));
}

TEST(Binding, RanksOnHostsAreBoundByTheirAgents) {
  const auto how = run(run_on_hosts("a,b", {"--bind", usable().back(), "--prefix"}, tell_cpus));
  EXPECT_THAT(sorted_lines(how.out),
              ElementsAre("[0] " + usable().back(), "[1] " + usable().back()))
      << how.err;
}

TEST(Binding, ACpuThatMayNotBeUsedIsRefusedWithThoseThatMay) {
  const auto how = run(on_one_cpu(heddle_run({"--bind", "1023"}, {"true"})));
  EXPECT_EQ(how.status, 2);
  EXPECT_THAT(how.err, HasSubstr("CPU 1023 may not be used, only " + usable().front()));
  const auto far = run(run_on_hosts("a", {"--bind", "1023"}, {"true"}));
  EXPECT_EQ(far.status, 2);
  EXPECT_THAT(far.err, HasSubstr("a: --bind 1023: CPU 1023 may not be used"));
}

TEST(Binding, InfoTellsWhoMayRunWhere) {
  const auto how = run(heddle_run({"-n", "2", "--bind", usable().front()}, {HEDDLE, "info"}));
  EXPECT_THAT(how.out, HasSubstr("\nBinding\n  ranks 0-1 on "));
  EXPECT_THAT(how.out, HasSubstr(": cpus " + usable().front() + "\n"));
}

TEST(Binding, ALinkTestInsideAJobDoesNotBind) {
  const auto how = run(heddle_run({"-n", "2"}, {HEDDLE, "linktest", "--bind", "core"}));
  EXPECT_EQ(how.status, 2);
  EXPECT_THAT(how.err, HasSubstr("give it to what started this job"));
}

}  // namespace
}  // namespace heddle::test
