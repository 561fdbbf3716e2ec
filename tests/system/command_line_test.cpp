// SPDX-License-Identifier: BSD-3-Clause
// command_line_test.cpp - the command line of `heddle` itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "system/child.h"

namespace heddle::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::StartsWith;

TEST(CommandLine, TellsItsVersion) {
  EXPECT_THAT(run({HEDDLE, "--version"}).out, MatchesRegex("heddle [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(CommandLine, HelpComesOnStdoutAndIsNoFailure) {
  const auto how = run({HEDDLE, "run", "--help"});
  EXPECT_EQ(how.status, 0);
  EXPECT_THAT(how.out, AllOf(HasSubstr("Usage: heddle run [OPTIONS] [--] PROGRAM"),
                             HasSubstr("--keep-going"), HasSubstr("Examples:")));
  EXPECT_THAT(how.err, IsEmpty());
}

TEST(CommandLine, WrongUseGivesTwoAndSaysWhat) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> wrong{
      {{HEDDLE}, "subcommand is required"},
      {{HEDDLE, "wave"}, "no command 'wave'"},
      {{HEDDLE, "run", "-n", "2"}, "PROGRAM is required"},
      {{HEDDLE, "run", "--prefixx", "true"}, "--prefixx"},
      {{HEDDLE, "run", "-n", "0", "true"}, "not in range"},
      {{HEDDLE, "run", "-n", "two", "true"}, "--ranks"},
      {{HEDDLE, "run", "--bind", "moon", "true"}, "--bind"},
      {{HEDDLE, "run", "--env", "A", "true"}, "'A' sets no variable: write NAME=value"},
      {{HEDDLE, "run", "--env", "HEDDLE_RANK=1", "true"}, "HEDDLE_RANK is set by the launcher"},
      {{HEDDLE, "info", "--nothing"}, "--nothing"},
      {{HEDDLE, "info", "--scale", "1"}, "--scale"},
      {{HEDDLE, "info", "--ranks-per-host", "2"}, "requires --scale"},
      {{HEDDLE, "bench"}, "subcommand is required"},
      {{HEDDLE, "bench", "latency", "--op", "nonsense"}, "nonsense"},
      {{HEDDLE, "bench", "latency", "--op", "am", "--compare", "mpich"}, "no active messages"},
      {{HEDDLE, "bench", "overlap", "--compare", "bare"}, "not possible here"},
      {{HEDDLE, "bench", "overlap", "--compute-us", "nan"}, "not in range"},
      {{HEDDLE, "run", "-n", "1", "--bind", "9999", "--", "true"}, "CPU 9999 may not be used"},
      {{HEDDLE, "bench", "rate", "--threads", "2,1", "--compare", "bare"}, "--threads with 1"},
      {{HEDDLE, "bench", "latency-overhead", "--compare", "lock"}, "not possible here"},
      {{HEDDLE, "bench", "plot", "--format", "gif", "."}, "gif"},
      {{HEDDLE, "bench", "latency", "--backend", "nope"}, "nope"},
      {{HEDDLE, "bench", "latency", "--sizes", "many"}, "'many' is not a message size"},
      {{HEDDLE, "bench", "bandwidth", "--sizes", "2G"}, "give 0 to 1G"},
      {{HEDDLE, "bench", "bandwidth", "--sizes", "0"}, "no bandwidth without bytes"},
      {{HEDDLE, "bench", "rate", "--op", "put", "--sizes", "0"}, "at least one byte"},
      {{HEDDLE, "bench", "rate", "--ranks", "3"}, "must be even"},
      {{HEDDLE, "bench", "rate", "--window", "0"}, "--window"},
      {{HEDDLE, "bench", "rate", "--lanes", "2", "--shared-lane"}, "excludes"},
      {{HEDDLE, "bench", "mt-rate", "--threads", "1,0"}, "--threads"},
      {{HEDDLE, "bench", "mt-rate", "--op", "fetch-add"}, "fetch-add not in {am,get,put,tag}"},
      {{HEDDLE, "bench", "mt-pingpong", "--sizes", "0"}, "at least one byte"},
      {{HEDDLE, "bench", "overlap", "--small", "--sizes", "8"}, "excludes"},
      {{HEDDLE, "bench", "overlap", "--ranks", "3"}, "must be even"},
      {{HEDDLE, "bench", "gups", "--window", "8"}, "--window is for --atomic"},
      {{HEDDLE, "bench", "gups", "--memory", "lots"}, "--memory"},
      {{HEDDLE, "bench", "gups", "--compare", "lock", "--ranks", "4"}, "--compare needs --ranks 2"},
      {{HEDDLE, "bench", "rate", "--compare", "lock", "--ranks", "4"}, "measured by two ranks"},
      {{HEDDLE, "bench", "gups", "--compare", "ofi"}, "do not tell when they have arrived"},
      {{HEDDLE, "bench", "rate", "--backend", "shm", "--compare", "utofu"}, "for --backend utofu"},
      {{HEDDLE, "bench", "rate", "--backend", "utofu", "--compare", "ucx"}, "does not use uTofu"},
      {{HEDDLE, "bench", "mt-rate", "--op", "tag", "--compare", "utofu"}, "no tagged messages"},
      {{HEDDLE, "bench", "overlap", "--compare", "lock"}, "not possible here"},
      {{HEDDLE, "bench", "table", "--backend", "tcp"}, "tcp"},
      {{HEDDLE, "bench", "convolution", "--threads", "1,2"}, "takes one number"},
      {{HEDDLE, "bench", "convolution", "--block", "4"}, "--block"},
      {{HEDDLE, "bench", "latency-overhead", "--runs", "2", "--rounds", "2"}, "excludes"},
      {{HEDDLE, "bench", "latency-overhead", "--duration", "0"}, "--duration"},
      {{HEDDLE, "linktest"}, "Give -n N"},
      {{HEDDLE, "linktest", "-n", "1"}, "from 2 to 1000000"},
      {{HEDDLE, "linktest", "-n", "2", "--sizes", "0"}, "not a message size"},
      {{HEDDLE, "linktest", "-n", "2", "--backend", "nope"}, "nope"},
  };
  for (const auto& [command, text] : wrong) {
    const auto how = run(command);
    EXPECT_EQ(how.status, 2) << text;
    EXPECT_THAT(sorted_lines(how.err), ElementsAre(AllOf(StartsWith("heddle"), HasSubstr(text))));
    EXPECT_THAT(how.out, IsEmpty());
  }
}

TEST(CommandLine, AWrongOptionIsToldWithItsCommandAndWhereToReadOn) {
  EXPECT_EQ(run({HEDDLE, "bench", "latency", "--op", "nonsense"}).err,
            "heddle bench latency: --op: nonsense not in {am,fetch-add,get,put,tag}; "
            "see heddle bench latency --help\n");
}

TEST(CommandLine, ANumberOutOfItsRangeIsToldWithARangeThatCanBeRead) {
  EXPECT_THAT(run({HEDDLE, "info", "--pid", "-1"}).err, HasSubstr("not in range 1 to 2147483647;"));
  EXPECT_THAT(run({HEDDLE, "run", "--timeout", "0", "--", "true"}).err,
              HasSubstr("not in range 1 to 2147483647;"));
}

TEST(CommandLine, AResultFileThatCannotBeWrittenIsToldBeforeMeasuring) {
  const std::vector<std::vector<std::string>> all{
      {HEDDLE, "bench", "latency", "--json", "/nonexistent/x"},
      {HEDDLE, "linktest", "-n", "2", "--output", "/nonexistent/x"},
      {HEDDLE, "linktest", "-n", "2", "--output", "/dev/full"}};
  for (const auto& command : all) {
    const auto how = run(command);
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.err, testing::ContainsRegex("^heddle.*'/.*directory; choose .* with --"));
    EXPECT_THAT(sorted_lines(how.err), testing::SizeIs(1));
    EXPECT_THAT(how.out, IsEmpty());
  }
}

TEST(CommandLine, AFullDiskIsAFailureWithItsCause) {
  const auto records = run({HEDDLE, "bench", "latency", "--backend", "shm", "--rounds", "1",
                            "--time-ms", "1", "--json", "/dev/full"});
  EXPECT_EQ(records.status, 1);
  EXPECT_THAT(sorted_lines(records.err), ElementsAre(HasSubstr("No space left on device")));
  const auto output = run({"sh", "-c", HEDDLE " info >/dev/full"});
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.err,
              testing::AnyOf(HasSubstr("is the disk full?"),  // at the end, or on the way
                             HasSubstr("No space left on device")));
}

TEST(CommandLine, ALimitOfFileSizesIsAFailureWithItsCauseAndNoSignal) {
  const std::string folder = testing::TempDir() + "limited";
  const auto how = run({"sh", "-c", "ulimit -f 8; exec \"$@\"", "sh", HEDDLE, "linktest", "-n", "2",
                        "--sizes", "8", "--output", folder});
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, HasSubstr("File too large"));
}

/// The command with outputs whose reader is gone before it starts.
std::vector<std::string> unread(std::vector<std::string> command, const char* outputs = ">&3") {
  const std::string script = std::string("exec 3> >(:); wait $!; exec \"$@\" ") + outputs;
  command.insert(command.begin(), {"bash", "-c", script, "bash"});
  return command;
}

/// A place for results that is gone at the end of a test.
class results_folder {
 public:
  results_folder() { std::filesystem::create_directory(path_); }
  ~results_folder() { std::filesystem::remove_all(path_); }
  results_folder(const results_folder&) = delete;
  results_folder& operator=(const results_folder&) = delete;
  [[nodiscard]] std::string operator/(const char* name) const { return path_ + '/' + name; }
  [[nodiscard]] nlohmann::json json(const char* name) const {
    std::ifstream file(path_ + '/' + name);
    return nlohmann::json::parse(file, nullptr, false);
  }

 private:
  const std::string path_ = testing::TempDir() + "results-" + std::to_string(getpid());
};

TEST(CommandLine, LinktestWritesItsFilesThoughNobodyReadsItsOutput) {
  for (const char* outputs : {">&3", ">&3 2>&3"}) {
    const results_folder folder;
    const auto how = run(unread({HEDDLE, "linktest", "-n", "2", "--sizes", "8", "--messages", "2",
                                 "--progress", "bar", "--output", folder / "links"},
                                outputs));
    EXPECT_EQ(how.status, 128 + SIGPIPE) << how.err;
    EXPECT_EQ(folder.json("links/linktest.json")["ranks"], 2);
    EXPECT_TRUE(std::filesystem::exists(folder / "links/linktest.h5"));
    EXPECT_THAT(how.err, testing::Not(HasSubstr("written")));
  }
}

TEST(CommandLine, LinktestWritesItsFilesThoughItsOutputGoesToAFullDisk) {
  const results_folder folder;
  const auto how = run({"sh", "-c", "exec \"$@\" >/dev/full", "sh", HEDDLE, "linktest", "-n", "2",
                        "--sizes", "8", "--messages", "2", "--output", folder / "links"});
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, HasSubstr("No space left on device"));
  EXPECT_EQ(folder.json("links/linktest.json")["ranks"], 2);
}

TEST(CommandLine, BenchWritesItsRecordsThoughNobodyReadsItsOutput) {
  const results_folder folder;
  const auto how = run(unread({HEDDLE, "bench", "latency", "--backend", "shm", "--rounds", "2",
                               "--time-ms", "1", "--json", folder / "records"}));
  EXPECT_EQ(how.status, 128 + SIGPIPE) << how.err;
  EXPECT_TRUE(folder.json("records").is_array());
}

// A ping's payload ends with the handler that answers it.
TEST(CommandLine, BenchAnswersLargeCallsFromMemoryThatLasts) {
  for (const char* backend : {"shm", "tcp"}) {
    const auto how = run({"timeout", "30", HEDDLE, "bench", "latency", "--op", "am", "--backend",
                          backend, "--sizes", "1M", "--rounds", "2", "--time-ms", "10"});
    EXPECT_EQ(how.status, 0) << how.err;
  }
}

TEST(CommandLine, HelpListsTheExitStatuses) {
  EXPECT_THAT(run({HEDDLE, "--help"}).out,
              AllOf(HasSubstr("Exit status"), HasSubstr("2        wrong use")));
}

TEST(CommandLine, TheProgramsOwnOptionsAreLeftToIt) {
  EXPECT_EQ(run({HEDDLE, "run", "echo", "-n", "--prefix", "--", "x"}).out, "--prefix -- x");
  EXPECT_EQ(run({HEDDLE, "run", "--", "echo", "-n", "--prefix", "--", "x"}).out, "--prefix -- x");
}

TEST(CommandLine, CompletionKnowsCommandsOptionsAndValues) {
  const std::string complete =
      "source <(" HEDDLE
      " --completion bash); try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _heddle; "
      "echo \"${COMPREPLY[*]}\"; }; try heddle in; try heddle run --ke; try heddle run --bind ''; "
      "try heddle bench lat; try heddle bench latency --js; try heddle linktest --mode ''";
  const auto how = run({"bash", "-c", complete});
  EXPECT_EQ(how.out,
            "info\n--keep-going\ncore numa none 0,2-3\nlatency latency-overhead\n--json\n"
            "paired parallel serial\n")
      << how.err;
  EXPECT_THAT(how.err, IsEmpty());
}

TEST(CommandLine, InfoListsSettingsWithValueAndOrigin) {
  const auto how = run({"env", "HEDDLE_LOG=error", HEDDLE, "info"});
  EXPECT_EQ(how.status, 0);
  EXPECT_THAT(how.out, AllOf(StartsWith("heddle "), HasSubstr("HEDDLE_BACKENDS"),
                             testing::ContainsRegex("HEDDLE_LOG +\\* error")));
}

TEST(CommandLine, InfoTellsWhatAWakeCostsAndHowLongWaitsStayAwake) {
  const auto how = run({"env", "HEDDLE_SPIN_US=7", HEDDLE, "info"});
  EXPECT_EQ(how.status, 0);
  EXPECT_THAT(how.out, AllOf(testing::ContainsRegex("wake cost +[0-9.]+ us"),
                             HasSubstr("awake for 7 us before a sleep")));
}

TEST(CommandLine, WithMoreRanksThanCoresTheUsualSpinningIsKept) {
  cpu_set_t cores;
  ASSERT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  const auto how = run({"env", "HEDDLE_SPIN_US=auto", HEDDLE, "run", "-n",
                        std::to_string(CPU_COUNT(&cores) + 1), "--", HEDDLE, "info"});
  EXPECT_EQ(how.status, 0);
  EXPECT_THAT(how.out, HasSubstr("awake for 100 us before a sleep (HEDDLE_SPIN_US=auto)"));
}

TEST(CommandLine, InfoAsJsonIsOneObject) {
  const auto how = run({"env", "HEDDLE_LOG=error", HEDDLE, "info", "--json"});
  const auto all = nlohmann::json::parse(how.out);
  EXPECT_TRUE(all.contains("version"));
  EXPECT_FALSE(all.contains("problem"));
  const auto is_log = [](const nlohmann::json& row) { return row["name"] == "HEDDLE_LOG"; };
  const auto row = std::find_if(all["settings"].begin(), all["settings"].end(), is_log);
  ASSERT_NE(row, all["settings"].end());
  EXPECT_EQ((*row)["value"], "error");
  EXPECT_EQ((*row)["origin"], "environment");
}

/// What `heddle info --scale` tells of a job; nothing where it has no network to pretend others on.
std::optional<nlohmann::json> cost_of_joining(const char* ranks, const char* per_host,
                                              const char* setting = "HEDDLE_LOG=warn") {
  const auto how = run(
      {"env", setting, HEDDLE, "info", "--scale", ranks, "--ranks-per-host", per_host, "--json"});
  if (how.err.find("loopback does not leave the host") != std::string::npos) return {};
  EXPECT_EQ(how.status, 0) << how.err;
  return nlohmann::json::parse(how.out);
}

constexpr std::int64_t most_bytes = 16'000'000;  // of a rank that joins
constexpr int most_gets = 2 * 64 * 3;            // of groups on each level, once to find out whom
constexpr int most_pieces = 64;                  // of what all give, of 1 MiB each

TEST(CommandLine, JoiningTakesFewMessagesAndLittleMemoryInAJobOfManyRanksOnEachHost) {
  const auto told = cost_of_joining("158976", "48");
  if (!told) GTEST_SKIP() << "this host has no network but loopback";
  EXPECT_EQ((*told)["hosts"], 3312);
  for (const char* who : {"first_leader", "leader", "member"}) {
    const auto& cost = (*told)[who];
    EXPECT_LT(cost["most_memory_bytes"], most_bytes) << who;
    EXPECT_LT(cost["kept_memory_bytes"], 158'976 * 64) << who;
    EXPECT_LT(cost["gets"], 3 * most_gets + most_pieces) << who;
    EXPECT_LT(cost["puts"], 3 * 64 + most_pieces) << who;
  }
  EXPECT_EQ((*told)["member"]["gets"], 1);
  EXPECT_EQ((*told)["leader"]["host_messages"], 47 * (*told)["member"]["host_messages"].get<int>());
}

TEST(CommandLine, JoiningTakesFewMessagesAndLittleMemoryInAJobOfManyHosts) {
  const auto told = cost_of_joining("158976", "1");
  if (!told) GTEST_SKIP() << "this host has no network but loopback";
  for (const char* who : {"first_leader", "leader"}) {
    const auto& cost = (*told)[who];
    EXPECT_LT(cost["most_memory_bytes"], most_bytes) << who;
    EXPECT_LT(cost["table_bytes"], most_bytes) << who;
    EXPECT_LT(cost["gets"], 3 * most_gets + most_pieces) << who;
  }
}

/// The limits are part of what is told.
void expect_peers_below_the_limits(const nlohmann::json& told) {
  EXPECT_EQ(told["limits"]["idle_peer_bytes"], 64);
  EXPECT_EQ(told["limits"]["active_peer_bytes_per_lane"], 4096);
  for (const char* who : {"first_leader", "leader", "member"}) {
    EXPECT_GT(told[who]["idle_peer_bytes"], 0) << who;
    EXPECT_LE(told[who]["idle_peer_bytes"], 64) << who;
    EXPECT_LE(told[who]["idle_peer_bytes_48_lanes"], 64) << who;
  }
  EXPECT_GT(told["active_peer"]["bytes_per_lane"], 0);
  EXPECT_LE(told["active_peer"]["bytes_per_lane"], 4096);
  EXPECT_LE(told["active_peer"]["ring_blocks_per_lane"], 2) << "one for each direction";
}

TEST(CommandLine, PeersTakeNoMoreMemoryThanTheLimitsThatAreToldWithThem) {
  const auto told = cost_of_joining("20000", "8");
  if (!told) GTEST_SKIP() << "this host has no network but loopback";
  expect_peers_below_the_limits(*told);
}

TEST(CommandLine, PeersTakeNoMoreMemoryThanTheLimitsOverANetworkEither) {
  const auto told = cost_of_joining("40000", "8", "HEDDLE_BACKENDS=tcp");
  if (!told) GTEST_SKIP() << "this host has no network but loopback";
  EXPECT_EQ((*told)["active_peer"]["wire"], "tcp");
  expect_peers_below_the_limits(*told);
}

TEST(CommandLine, InfoShowsABadSettingAndFails) {
  const auto how = run({"env", "HEDDLE_LOG=loud", HEDDLE, "info"});
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.out, HasSubstr("HEDDLE_LOG=loud: accepted is off | error"));
}

TEST(CommandLine, NamesThatAreNoSettingsAreToldOnceAJobAndIgnored) {
  const auto how = run(heddle_run(
      {"-n", "3", "--env", "HEDDLE_DIR=/opt", "--env", "HEDDLE_LOGS=off"}, {HEDDLE, "info"}));
  EXPECT_EQ(how.status, 0);
  EXPECT_THAT(sorted_lines(how.err),
              ElementsAre(AllOf(HasSubstr("HEDDLE_DIR"), HasSubstr("HEDDLE_LOGS (did you mean "
                                                                   "HEDDLE_LOG?)"))));
}

TEST(CommandLine, ANameThatIsNoSettingEndsTheJobWhereStrictnessIsAskedFor) {
  const auto how = run({"env", "HEDDLE_STRICT=1", "HEDDLE_LOGS=off", HEDDLE, "info"});
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.out, HasSubstr("Problem: HEDDLE_LOGS (did you mean HEDDLE_LOG?)"));
}

TEST(CommandLine, AProgramCanStartItselfAsAJob) {
  const auto how = run({SELF_LAUNCHER, "a word"});
  EXPECT_EQ(how.status, 0) << how.err;
  EXPECT_THAT(sorted_lines(how.out),
              ElementsAre("rank 0 of 3 heard a word", "rank 1 of 3 heard a word",
                          "rank 2 of 3 heard a word"));
}

TEST(CommandLine, OverlapIsMeasuredOnEitherSideOverEachWire) {
  for (const char* backend : {"shm", "tcp"}) {
    const auto how = run({HEDDLE, "bench", "overlap", "--backend", backend, "--sizes", "64K",
                          "--compute-us", "50", "--rounds", "2", "--time-ms", "5"});
    EXPECT_EQ(how.status, 0) << how.err;
    EXPECT_THAT(how.out, AllOf(HasSubstr("overlap tag 65536 B over " + std::string(backend)),
                               HasSubstr("sender"), HasSubstr("receiver")));
  }
}

class Compare : public testing::TestWithParam<const char*> {};

/// Runs a benchmark beside the library, or skips where the program names a package for it.
void compare_with(const std::string& library, std::vector<std::string> words) {
  words.insert(words.begin(), {HEDDLE, "bench"});
  words.insert(words.end(), {"--compare", library, "--rounds", "1", "--time-ms", "5"});
  const auto how = run(words);
  if (how.err.find("apt install") != std::string::npos) GTEST_SKIP() << how.err;
  EXPECT_EQ(how.status, 0) << how.err;
  EXPECT_THAT(how.out, HasSubstr(library));
}

TEST_P(Compare, RatesOfThreadsThatShareALane) {
  compare_with(GetParam(),
               {"rate", "--op", "put", "--backend", "shm", "--threads", "2", "--shared-lane"});
}

TEST_P(Compare, Overlap) {
  compare_with(GetParam(), {"overlap", "--backend", "tcp", "--sizes", "64K"});
}

INSTANTIATE_TEST_SUITE_P(Libraries, Compare, testing::Values("ucx", "openmpi", "mpich"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace heddle::test
