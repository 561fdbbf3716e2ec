// SPDX-License-Identifier: BSD-3-Clause
// observing_test.cpp - what a job lets operators see: its log, its trace, and what is wrong with
// its settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "system/child.h"

namespace heddle::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Two ranks that do `what`, with variables of the environment like "HEDDLE_LOG=info".
outcome job(const std::vector<std::string>& environment, const std::string& what = "work") {
  std::vector<std::string> options{"-n", "2", "--keep-going"};
  for (const std::string& one : environment) options.insert(options.end(), {"--env", one});
  return run(heddle_run(options, {OBSERVED_JOB, what}));
}

TEST(LogOfAJob, TellsAtLevelInfoWhoHasJoinedAndWhichWaysThereAre) {
  const outcome how = job({"HEDDLE_LOG=info"});
  EXPECT_EQ(how.status, 0);
  EXPECT_THAT(how.err,
              AllOf(HasSubstr("heddle[0]: info: job: rank 0 of 2 on "),
                    HasSubstr("heddle[1]: info: job: rank 1 of 2 on "),
                    HasSubstr("info: wire: ways to the ranks: 2 by "),
                    HasSubstr("info: progress: mode adaptive, "), HasSubstr("job: rank 1 leaves")));
}

TEST(LogOfAJob, SaysNothingWhereNothingIsWrong) {
  EXPECT_THAT(job({"HEDDLE_LOG=warn"}).err, Not(HasSubstr("heddle[")));
}

TEST(LogOfAJob, IsOfOneSubsystemWhereOnlyThatIsAskedFor) {
  const outcome how = job({"HEDDLE_LOG=off,progress=info"});
  EXPECT_THAT(how.err, AllOf(HasSubstr("info: progress: "), Not(HasSubstr("info: job: ")),
                             Not(HasSubstr("info: wire: "))));
}

TEST(LogOfAJob, WarnsOfAPeerThatIsLostWhileItIsWaitedFor) {
  EXPECT_THAT(job({"HEDDLE_LOG=warn"}, "lose").err,
              HasSubstr("heddle[0]: warning: peer: rank 1 is lost: "));
}

TEST(LogOfAJob, TellsOfEachConnectionAtLevelDebug) {
  EXPECT_THAT(job({"HEDDLE_LOG=wire=debug", "HEDDLE_BACKENDS=tcp"}).err,
              HasSubstr("debug: wire: tcp: lane 0 is connected to rank "));
}

class TraceOfAJob : public testing::TestWithParam<const char*> {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  /// A job over the wire of the parameter, with `more` of the environment.
  outcome traced(std::vector<std::string> more = {}, const std::string& what = "work") const {
    more.push_back("HEDDLE_TRACE=" + path("%r.json"));
    more.push_back(std::string("HEDDLE_BACKENDS=") + GetParam());
    return job(more, what);
  }
  [[nodiscard]] outcome checked() const {
    return run({"python3", TRACE_CHECK, path("0.json"), path("1.json")});
  }

 private:
  const std::string folder_ = [] {
    std::string name = (std::filesystem::temp_directory_path() / "heddle_job_XXXXXX").string();
    return std::string(mkdtemp(name.data()));
  }();
};

TEST_P(TraceOfAJob, IsWhatAnIndependentReaderTakesAndHasEveryOperation) {
  const outcome how = traced();
  ASSERT_EQ(how.status, 0) << how.err;
  EXPECT_EQ(how.err, "");
  const outcome read = checked();
  EXPECT_EQ(read.status, 0) << read.err;
  EXPECT_THAT(read.out, AllOf(HasSubstr(" call=20 "), HasSubstr(" turn="), HasSubstr(" sleep=")));
}

TEST_P(TraceOfAJob, IsSummarisedAndMerged) {
  ASSERT_EQ(traced().status, 0);
  const outcome told =
      run({HEDDLE, "trace", path("0.json"), path("1.json"), "--merge", path("all.json"), "--json"});
  ASSERT_EQ(told.status, 0) << told.err;
  const auto all = nlohmann::json::parse(told.out);
  bool calls = false;
  for (const auto& kind : all["kinds"]) calls |= kind["name"] == "call" && kind["count"] == 40;
  EXPECT_TRUE(calls) << told.out;
  EXPECT_FALSE(all["longest_sleeps"].empty());
  const outcome read = run({"python3", TRACE_CHECK, path("all.json")});
  EXPECT_EQ(read.status, 0) << read.err;
  EXPECT_THAT(read.out, HasSubstr(" call=40 "));
}

TEST_P(TraceOfAJob, HasAPartOfTheOperationsWhereTheyAreSampled) {
  ASSERT_EQ(traced({"HEDDLE_TRACE_SAMPLE=1000000"}).status, 0);
  const outcome read = checked();
  EXPECT_EQ(read.status, 0) << read.err;
  EXPECT_THAT(read.out, Not(HasSubstr("call=20")));
}

TEST_P(TraceOfAJob, HasTheOperationsThatEndedWithALostPeer) {
  (void)traced({"HEDDLE_LOG=off"}, "lose");
  const outcome told = run({HEDDLE, "trace", path("0.json"), "--json"});
  ASSERT_EQ(told.status, 0) << told.err;
  const auto all = nlohmann::json::parse(told.out);
  std::size_t failed = 0;
  for (const auto& kind : all["kinds"]) failed += kind["failed"].get<std::size_t>();
  EXPECT_GE(failed, 1u);
}

TEST_P(TraceOfAJob, ThatCannotBeWrittenLeavesTheJobAlone) {
  const outcome how =
      job({"HEDDLE_TRACE=/absent/%r.json", std::string("HEDDLE_BACKENDS=") + GetParam()});
  EXPECT_EQ(how.status, 0);
  EXPECT_THAT(how.err, HasSubstr("warning: job: no trace of this rank: "));
}

INSTANTIATE_TEST_SUITE_P(Wires, TraceOfAJob, testing::Values("shm", "tcp"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(SettingsOfAJob, ThatNameAnUnknownBackendAreToldSo) {
  const outcome how = job({"HEDDLE_BACKENDS=shn,tcp"});
  EXPECT_EQ(how.status, 0);
  EXPECT_THAT(how.err, HasSubstr("warning: wire: HEDDLE_BACKENDS names 'shn', which is no backend: "
                                 "there are shm, "));
  const outcome info = run({"env", "HEDDLE_BACKENDS=shn,tcp", HEDDLE, "info"});
  EXPECT_THAT(info.out, HasSubstr("shn       not usable: unknown: there are shm, "));
}

TEST(SettingsOfAJob, WithUnknownBackendsAloneSayWhichThereAre) {
  const outcome how = job({"HEDDLE_BACKENDS=shn"});
  EXPECT_NE(how.status, 0);
  EXPECT_THAT(how.err, HasSubstr("shn: unknown: there are shm, "));
}

}  // namespace
}  // namespace heddle::test
