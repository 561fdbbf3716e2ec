// observing_test.cpp - what a job lets operators see: its log, and what is wrong with its settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
