// SPDX-License-Identifier: BSD-3-Clause
// hanging_test.cpp - jobs that hang on purpose, and what `heddle info --pid` says of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/counters.h>
#include <heddle/types.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "system/child.h"
#include "system/job_processes.h"

namespace heddle::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// Two ranks that hang as `how` says, once rank 0 has said that it does.
class hanging_job {
 public:
  explicit hanging_job(const std::string& how, const std::string& progress = "adaptive")
      : launcher_(heddle_run({"-n", "2", "--env", "HEDDLE_PROGRESS=" + progress, "--env",
                              "HEDDLE_LINGER_MS=700", "--env", "HEDDLE_TCP_CHUNK_BYTES=64K"},
                             {HANGING_JOB, how})) {
    launcher_.read_until("hangs");
  }
  [[nodiscard]] outcome asked(const std::vector<std::string>& options = {}) const {
    return ask(launcher_.pid(), options);
  }
  static outcome ask(pid_t pid, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words{HEDDLE, "info", "--pid", std::to_string(pid)};
    words.insert(words.end(), options.begin(), options.end());
    return run(words);
  }
  /// Asks until rank 0 tells what `right` looks for; what is not told for ever ends by the test's
  /// limit.
  json until(const std::function<bool(const json& rank0)>& right) const {
    for (;;) {
      const outcome told = asked({"--json"});
      const json all = json::parse(told.out, nullptr, false);
      if (told.status == 0 && !all.is_discarded() && all["worlds"][0]["rank"] == 0 &&
          right(all["worlds"][0]))
        return all["worlds"];
      usleep(20'000);
    }
  }

 private:
  child launcher_;
};

json lane_of(const json& world) {
  return world.contains("lanes") && !world["lanes"].empty() ? world["lanes"][0] : json::object();
}

bool has(const json& lane, const char* count) {
  return lane.contains(count) && lane[count] != 0;
}

class Hanging : public testing::TestWithParam<const char*> {};

TEST_P(Hanging, ForAMessageIsToldWithWhatCameInstead) {
  const hanging_job job("receive", GetParam());
  const json worlds = job.until([](const json& w) {
    return has(lane_of(w), "receive_count") && has(lane_of(w), "message_count");
  });
  const json lane = lane_of(worlds[0]);
  EXPECT_EQ(worlds[0]["size"], 2);
  EXPECT_EQ(worlds[0]["progress"], GetParam());
  EXPECT_EQ(lane["opened"], true);
  EXPECT_EQ(lane["receives"][0]["source"], 1);
  EXPECT_EQ(lane["receives"][0]["tag"], 77);
  EXPECT_EQ(lane["receives"][0]["bytes"], 24);
  EXPECT_EQ(lane["messages"][0]["source"], 1);
  EXPECT_EQ(lane["messages"][0]["tag"], 5);
  EXPECT_EQ(lane["messages"][0]["bytes"], 100);
  EXPECT_EQ(lane["peers"][0]["rank"], 1);
  EXPECT_EQ(lane["peers"][0]["route"], "shm");
  EXPECT_FALSE(has(lane_of(worlds[1]), "receive_count"));  // nor told, if it was at work just then
}

TEST_P(Hanging, InASendIsToldOnAnExclusiveLane) {
  const hanging_job job("send", GetParam());
  const json worlds = job.until([](const json& w) { return has(lane_of(w), "operation_count"); });
  const json lane = lane_of(worlds[0]);
  EXPECT_EQ(lane["exclusive"], true);
  EXPECT_EQ(lane["opened_by_thread"], worlds[0]["pid"]);
  EXPECT_EQ(lane["operations"][0]["kind"], "send");
  EXPECT_EQ(lane["operations"][0]["peer"], 1);
  EXPECT_EQ(lane["operations"][0]["tag"], 78);
  EXPECT_EQ(lane["operations"][0]["bytes"], 3'000'000);
}

INSTANTIATE_TEST_SUITE_P(Modes, Hanging, testing::Values("adaptive", "inline", "dedicated", "idle"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(HangingJob, InACollectiveIsTold) {
  const hanging_job job("barrier");
  const json worlds = job.until([](const json& w) { return has(lane_of(w), "receive_count"); });
  EXPECT_NE(lane_of(worlds[0])["receives"][0]["tag"].get<tag>() & reserved_tag_bit, 0u);
  EXPECT_THAT(job.asked().out, HasSubstr("from rank 1, a collective (tag 0x8"));
}

TEST(HangingJob, InAWaitForAllRanksIsTold) {
  const hanging_job job("launcher");
  job.until(
      [](const json& w) { return w["state"].get<std::string>().starts_with("in world::barrier"); });
}

TEST(HangingJob, ThatWaitsForARankWhichNeverJoinsSaysWhoIsMissing) {
  const hanging_job job("join");
  job.until([](const json& w) { return w["state"].get<std::string>().starts_with("joining"); });
  EXPECT_THAT(job.asked().out, HasSubstr("rank 0 of 2"));
  EXPECT_THAT(job.asked().out, HasSubstr("no world here of rank 1: ended, not made yet"));
}

TEST(HangingJob, WithAStoppedRankIsToldOfByTheOthers) {
  const hanging_job job("receive");
  const json worlds = job.until([](const json& w) { return has(lane_of(w), "receive_count"); });
  const pid_t stopped = worlds[1]["pid"];
  kill(stopped, SIGSTOP);
  while (contents(folder_of(stopped) / "status").find("State:\tT") == std::string::npos)
    usleep(1000);
  const std::string text = job.asked().out;
  EXPECT_THAT(text,
              HasSubstr("receives without a message: 1\n      from rank 1, tag 77, up to 24"));
  EXPECT_THAT(text,
              HasSubstr("messages that nobody has received: 1\n      from rank 1, tag 5, 100"));
  EXPECT_THAT(text, HasSubstr("rank 1 of 2, process " + worlds[1]["pid"].dump() +
                              ": the process is stopped"));
  kill(worlds[1]["pid"], SIGKILL);
}

TEST(HangingJob, TellsWhatItHasCountedUnderTheNamesOfTheTable) {
  const hanging_job job("receive");
  const json worlds = job.until([](const json& w) { return has(lane_of(w), "receive_count"); });
  for (const counter_row& row : lane_counter_table())
    EXPECT_TRUE(lane_of(worlds[0])["counters"].contains(row.name)) << row.name;
  for (const counter_row& row : peer_counter_table())
    EXPECT_TRUE(lane_of(worlds[0])["peers"][0]["counters"].contains(row.name)) << row.name;
  EXPECT_THAT(job.asked().out, HasSubstr("counted: in_flight 1"));
  EXPECT_THAT(
      job.asked({"--metrics"}).out,
      HasSubstr("# TYPE heddle_lane_unexpected_total counter\nheddle_lane_unexpected_total{"
                "rank=\"0\",lane=\"0\"} 1\nheddle_lane_unexpected_total{rank=\"1\",lane=\"0\"} 0"));
}

/// What a rank tells of a setting: its value and who has set it; null: nothing.
json setting_of(const json& world, const char* name) {
  for (const json& s : world["settings"])
    if (s["name"] == name) return {s["value"], s["origin"]};
  return nullptr;
}

TEST(HangingJob, TellsWhichSettingsAreGivenAndByWhom) {
  for (const char* how : {"receive", "join"}) {
    const hanging_job job(how);
    const json told = job.until([](const json& w) { return w.contains("settings"); })[0];
    EXPECT_EQ(setting_of(told, "HEDDLE_RECORDS"), json({"64", "program"}));
    EXPECT_EQ(setting_of(told, "HEDDLE_LINGER_MS"), json({"700", "environment"}));
    EXPECT_EQ(setting_of(told, "HEDDLE_TCP_CHUNK_BYTES"), json({"64K", "environment"}));
    EXPECT_EQ(setting_of(told, "HEDDLE_CREDIT_BYTES"), nullptr);
    EXPECT_EQ(setting_of(told, "HEDDLE_RANK"), nullptr);
    const std::string text = job.asked().out;
    EXPECT_THAT(text, HasSubstr("  HEDDLE_RECORDS=64, from the program\n"));
    EXPECT_THAT(text, HasSubstr("  HEDDLE_LINGER_MS=700, from the environment\n"));
  }
}

TEST(HangingJob, IsAskedRankByRankToo) {
  const hanging_job job("receive");
  const json worlds = job.until([](const json& w) { return has(lane_of(w), "receive_count"); });
  const outcome told = hanging_job::ask(worlds[1]["pid"]);
  EXPECT_EQ(told.status, 0);
  EXPECT_THAT(told.out, HasSubstr("rank 1 of 2"));
  EXPECT_THAT(told.out, Not(HasSubstr("rank 0 of 2")));
}

TEST(HangingJob, ThatIsNoneIsSaidToBeNone) {
  const outcome nobody = hanging_job::ask(99'999'999);
  EXPECT_EQ(nobody.status, 1);
  EXPECT_THAT(nobody.err, HasSubstr("heddle info: there is no process 99999999"));
  const outcome stranger = hanging_job::ask(getpid());
  EXPECT_EQ(stranger.status, 1);
  EXPECT_THAT(stranger.err, HasSubstr("have no world of Heddle: give the process id of a rank"));
}

/// What a process of user nobody reads from the socket of that name; -1: it cannot connect.
ssize_t read_as_nobody(const std::string& name) {
  if (setresuid(65534, 65534, 65534) != 0) return -2;
  const int asker = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (connect(asker, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) return -1;
  char byte = 0;
  return read(asker, &byte, 1);
}

TEST(HangingJob, TellsOtherUsersNothing) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to become another user";
  const hanging_job job("receive");
  const json worlds = job.until([](const json& w) { return has(lane_of(w), "receive_count"); });
  const std::string name = "heddle-" + worlds[0]["pid"].dump() + "-0-2-0";
  const pid_t other = fork();
  if (other == 0) _exit(read_as_nobody(name) == 0 ? 0 : 1);
  int how = -1;
  waitpid(other, &how, 0);
  EXPECT_EQ(how, 0);
  EXPECT_EQ(job.asked().status, 0);
}

}  // namespace
}  // namespace heddle::test
