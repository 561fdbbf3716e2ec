// SPDX-License-Identifier: BSD-3-Clause
// benchmarks_test.cpp - every benchmark of `heddle bench` for a very short time: it ends, and its
// records are there. What they say is not judged: that would be a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "system/child.h"

namespace heddle::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

using words = std::vector<std::string>;

/// What one run of `heddle bench` wrote.
class benchmark_run {
 public:
  explicit benchmark_run(const words& arguments, const words& program = {HEDDLE, "bench"}) {
    const auto file = std::filesystem::path(testing::TempDir()) /
                      ("heddle-bench-" + std::to_string(getpid()) + ".json");
    words command{"timeout", "120"};
    command.insert(command.end(), program.begin(), program.end());
    command.insert(command.end(), arguments.begin(), arguments.end());
    command.insert(command.end(), {"--json", file.string()});
    how_ = run(command);
    EXPECT_EQ(how_.status, 0) << how_.err;
    std::ifstream in(file);
    records_ = nlohmann::json::parse(in, nullptr, false);
    EXPECT_TRUE(records_.is_array());
    std::filesystem::remove(file);
  }
  [[nodiscard]] const std::string& printed() const { return how_.out; }
  /// Of the first record that has these.
  [[nodiscard]] double median(const words& op_and_metric) const {
    for (const auto& r : records_)
      if (words{r.at("op"), r.at("metric")} == op_and_metric) return r.at("median").get<double>();
    ADD_FAILURE() << op_and_metric[0] << ' ' << op_and_metric[1];
    return 0;
  }
  /// The distinct values of one field, numbers as text.
  [[nodiscard]] std::set<std::string> values(const char* field) const {
    std::set<std::string> all;
    for (const auto& r : records_) {
      all.insert(r.at(field).is_string() ? r.at(field).get<std::string>() : r.at(field).dump());
    }
    return all;
  }

 private:
  outcome how_;
  nlohmann::json records_;
};

/// `arguments` and what makes a run short.
words briefly(words arguments) {
  arguments.insert(arguments.end(), {"--rounds", "2", "--time-ms", "2"});
  return arguments;
}

TEST(Benchmarks, PingPongsOfSeveralThreadCounts) {
  for (const char* backend : {"shm", "tcp"}) {
    const benchmark_run r(briefly({"mt-pingpong", "--threads", "1,2,3", "--lanes", "2", "--sizes",
                                   "8,4K", "--backend", backend}));
    EXPECT_THAT(r.values("benchmark"), Contains("mt-pingpong"));
    EXPECT_THAT(r.values("threads"), IsSupersetOf({"1", "2", "3"}));
    EXPECT_THAT(r.values("bytes"), IsSupersetOf({"8", "4096"}));
    EXPECT_THAT(r.values("metric"), IsSupersetOf({"one-way", "bandwidth", "scaling"}));
    EXPECT_THAT(r.printed(), HasSubstr("heddle T=3 / heddle T=1"));
  }
}

TEST(Benchmarks, RatesOfSeveralThreadCounts) {
  for (const char* op : {"put", "get", "am", "tag"}) {
    for (const char* lanes : {"--shared-lane", "--lane-per-thread"}) {
      const benchmark_run r(briefly({"mt-rate", "--op", op, "--threads", "1,2", lanes}));
      EXPECT_THAT(r.values("op"), Contains(op));
      EXPECT_THAT(r.values("metric"), IsSupersetOf({"rate", "scaling"}));
    }
  }
}

TEST(Benchmarks, EndWithALockPerLaneToo) {
  for (const char* op : {"put", "get", "fetch-add", "am", "tag"}) {
    for (const char* kind : {"latency", "rate"}) {
      const benchmark_run r(briefly({kind, "--op", op, "--backend", "tcp", "--threads", "2",
                                     "--shared-lane", "--lock-lanes"}));
      EXPECT_THAT(r.values("op"), Contains(op));
    }
  }
}

TEST(Benchmarks, PingPongGoesOnBesideLargeMessages) {
  for (const char* backend : {"shm", "tcp"}) {
    const benchmark_run r(briefly({"latency", "--op", "tag", "--backend", backend, "--beside", "1M",
                                   "--compare", "unloaded"}));
    EXPECT_THAT(r.values("library"), IsSupersetOf({"heddle", "unloaded", "heddle/unloaded"}));
  }
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--op", "am", "--beside", "1M"},
        {"--op", "tag", "--beside", "1M", "--compare", "ucx"},
        {"--op", "tag", "--compare", "unloaded"}}) {
    std::vector<std::string> words{HEDDLE, "bench", "latency"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    const auto how = run(words);
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.err, HasSubstr("--beside"));
  }
}

// Those that can: the others refuse it, as they do other wrong usage.
TEST(Benchmarks, RunHeddleInAnotherWayBesideThemOrRefuse) {
  std::size_t ran = 0;
  for (const char* name : {"latency", "bandwidth", "rate", "mt-pingpong", "mt-rate", "gups",
                           "overlap", "latency-overhead"}) {
    const auto how = run({HEDDLE, "bench", name, "--compare", "lock,uncached", "--rounds", "1",
                          "--time-ms", "1", "--backend", "shm"});
    if (how.status == 2) continue;
    ++ran;
    EXPECT_EQ(how.status, 0) << name << how.err;
    EXPECT_THAT(how.out, Not(HasSubstr("left out"))) << name;
  }
  EXPECT_EQ(ran, 6u);
}

TEST(Benchmarks, OverlapHasARatioAndItsPartsForEachSide) {
  for (const char* preset : {"--small", "--rendezvous"}) {
    const benchmark_run r(briefly({"overlap", preset, "--ranks", "4"}));
    EXPECT_EQ(r.values("op"), (std::set<std::string>{"cache-line", "receiver", "sender"}));
    EXPECT_EQ(r.values("metric"), (std::set<std::string>{"alone", "compute", "isend", "one-way",
                                                         "overlap_ratio", "total", "wait"}));
  }
}

TEST(Benchmarks, ProgressModesTakeTurnsInOneJob) {
  for (const char* offload : {"idle", "dedicated"}) {
    const benchmark_run r(
        briefly({"adaptive", "--sizes", "8,64K", "--compute-us", "0,20", "--offload", offload}),
        {HEDDLE_STUDIES});
    EXPECT_EQ(r.values("op"), (std::set<std::string>{"adaptive", "cache-line", "inline", offload}));
    EXPECT_THAT(r.values("bytes"), IsSupersetOf({"8", "65536"}));
    EXPECT_THAT(r.values("metric"),
                IsSupersetOf({"total_0us", "total_20us", "ratio_0us", "ratio_20us"}));
    const double better =
        std::min(r.median({"inline", "total_0us"}), r.median({offload, "total_0us"}));
    EXPECT_DOUBLE_EQ(r.median({"adaptive", "ratio_0us"}),
                     r.median({"adaptive", "total_0us"}) / better);
    EXPECT_THAT(r.printed(), AllOf(HasSubstr("tag 65536 B"), HasSubstr("computing 20 us (sender)"),
                                   HasSubstr("adaptive / ")));
  }
  // Executors of their own only where each of the two ranks' has a core.
  const benchmark_run chosen(briefly({"adaptive", "--sizes", "8", "--compute-us", "0"}),
                             {HEDDLE_STUDIES});
  cpu_set_t cores;
  ASSERT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  EXPECT_THAT(chosen.values("op"), Contains(CPU_COUNT(&cores) >= 4 ? "dedicated" : "idle"));
}

TEST(Benchmarks, ABackgroundPingPongGoesOnWithoutPolls) {
  for (const char* backend : {"shm", "tcp"}) {
    for (const char* op : {"am", "tag"}) {
      const benchmark_run r(
          briefly({"background", "--op", op, "--backend", backend, "--sizes", "8,128K"}));
      EXPECT_EQ(r.values("benchmark"), std::set<std::string>{"background"});
      EXPECT_THAT(r.values("bytes"), IsSupersetOf({"8", "131072"}));
    }
  }
}

TEST(Benchmarks, GupsLosesNoAtomicUpdateAndIsVerified) {
  for (const char* backend : {"shm", "tcp"}) {
    for (const char* way : {"--atomic", "--lane-per-thread"}) {
      const benchmark_run r(briefly({"gups", way, "--backend", backend, "--threads", "1,2",
                                     "--ranks", "3", "--memory", "4M"}));
      EXPECT_THAT(r.values("metric"), IsSupersetOf({"updates", "lost_updates"}));
      EXPECT_THAT(r.printed(), AllOf(HasSubstr("verified"), Not(HasSubstr("FAILED"))));
    }
  }
}

// Each round of a rival is a machine of its own, so that CQs do not run out.
TEST(Benchmarks, OverUtofuHaveTofuItselfAndALockPerLaneBesideThem) {
  const words command{HEDDLE,      "bench", "latency",  "--backend", "utofu",     "--op", "put",
                      "--compare", "utofu", "--rounds", "1",         "--time-ms", "1"};
  const auto tried = run(command);
  if (tried.err.find("was not built") != std::string::npos) GTEST_SKIP() << tried.err;
  const words rates{"mt-rate", "--op", "get",     "--backend", "utofu",     "--threads", "1,4",
                    "--lanes", "2",    "--sizes", "4,1K",      "--compare", "utofu,lock"};
  const words gups{"gups",     "--backend", "utofu",     "--threads", "2",
                   "--memory", "4M",        "--compare", "utofu,lock"};
  for (const words& benchmark : {rates, gups}) {
    const benchmark_run r(briefly(benchmark));
    EXPECT_THAT(r.values("library"), IsSupersetOf({"heddle", "utofu", "lock", "heddle/utofu"}));
    EXPECT_THAT(r.printed(), Not(HasSubstr("left out")));
  }
}

// 12 threads that get and put the same 12 words lose some of each other's updates.
TEST(Benchmarks, GupsTellsOfLostUpdatesByItsStatus) {
  words command{"timeout", "60",       HEDDLE, "bench",     "gups", "--backend",
                "tcp",     "--memory", "64",   "--ranks",   "3",    "--threads",
                "4",       "--rounds", "10",   "--time-ms", "20"};
  const auto lossy = run(command);
  EXPECT_EQ(lossy.status, 3) << lossy.out;
  EXPECT_THAT(lossy.out, HasSubstr("FAILED"));
  command.emplace_back("--atomic");
  const auto exact = run(command);
  EXPECT_EQ(exact.status, 0) << exact.out;
  EXPECT_THAT(exact.out, HasSubstr("verified"));
}

TEST(Benchmarks, AConvolutionIsVerifiedAndTimedInItsParts) {
  for (const char* backend : {"shm", "tcp"}) {
    const benchmark_run r(briefly({"convolution", "--backend", backend, "--block", "16"}));
    EXPECT_EQ(r.values("metric"), (std::set<std::string>{"compute1", "compute2", "isend", "one-way",
                                                         "ratio", "step", "wait"}));
    EXPECT_THAT(r.values("op"), IsSupersetOf({"overlap", "no-overlap"}));
    EXPECT_THAT(r.printed(), AllOf(HasSubstr("verified"), Not(HasSubstr("FAILED"))));
  }
}

TEST(Benchmarks, LatencyAndOverheadOfGetsFromEveryKindOfMemory) {
  const std::set<std::string> metrics{"latency_mean", "one-way", "overhead_mean", "rate_mean",
                                      "scaling"};
  const benchmark_run shm({"latency-overhead", "--backend", "shm", "--runs", "2", "--duration",
                           "0.002", "--threads", "1,2"});
  EXPECT_EQ(shm.values("metric"), metrics);
  EXPECT_EQ(shm.values("op"), (std::set<std::string>{"cache-line", "get-mapped", "get-unmapped"}));
  EXPECT_EQ(shm.values("threads"), (std::set<std::string>{"1", "2"}));
  const benchmark_run tcp(briefly({"latency-overhead", "--backend", "tcp"}));
  EXPECT_THAT(tcp.values("metric"), IsSupersetOf({"latency_mean", "overhead_mean", "rate_mean"}));
  EXPECT_EQ(tcp.values("op"), (std::set<std::string>{"cache-line", "get"}));
}

TEST(Benchmarks, OffloadedGetsAreCountedInCacheLines) {
  const benchmark_run r(briefly({"offload"}), {HEDDLE_STUDIES});
  EXPECT_EQ(r.values("op"), (std::set<std::string>{"cache-line", "dedicated", "inline"}));
  EXPECT_THAT(r.values("metric"),
              IsSupersetOf({"latency", "overhead", "overhead_lines", "added_lines"}));
  EXPECT_THAT(r.values("bytes"), IsSupersetOf({"4096", "8"}));
}

TEST(Benchmarks, EndAlsoWithManyMoreThreadsThanCores) {
  const std::vector<words> all{{"mt-pingpong", "--threads", "4"},
                               {"mt-rate", "--op", "tag", "--threads", "4", "--shared-lane"},
                               {"background", "--threads", "4"},
                               {"latency-overhead", "--threads", "4"},
                               {"convolution", "--threads", "4", "--block", "16"},
                               {"gups", "--threads", "4"},
                               {"overlap"}};
  for (const char* backend : {"shm", "tcp"}) {
    for (words command : all) {
      command.insert(command.end(), {"--ranks", "16", "--backend", backend});
      EXPECT_THAT(benchmark_run(briefly(command)).values("ranks"), Contains("16"));
    }
  }
}

// A receive is under way while the message that it answers is sent.
TEST(Benchmarks, EndWithOneOperationInFlightToo) {
  for (const char* op : {"put", "get", "fetch-add", "am", "tag"}) {
    for (const char* kind : {"latency", "rate"}) {
      const benchmark_run r(briefly({kind, "--op", op, "--backend", "tcp", "--window", "1"}));
      EXPECT_THAT(r.values("op"), Contains(op));
    }
  }
}

TEST(Benchmarks, RowsThatWereMeasuredAreNotMeasuredAgain) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("heddle-rows-" + std::to_string(getpid()));
  const words table{"table", "--rows", "crowded-shm-tag-latency", "--resume", folder.string()};
  const benchmark_run first(briefly(table));
  EXPECT_THAT(first.printed(), AllOf(HasSubstr("[1/1]"), Not(HasSubstr("measured before"))));
  const benchmark_run second(briefly(table));
  EXPECT_THAT(second.printed(), HasSubstr("measured before"));
  EXPECT_THAT(second.printed(), HasSubstr("at most 6 x pair"));
  std::filesystem::remove_all(folder);
}

TEST(Benchmarks, ComparedWithThemselvesHaveNotChanged) {
  const auto file = std::filesystem::path(testing::TempDir()) /
                    ("heddle-compared-" + std::to_string(getpid()) + ".json");
  const auto measured =
      run({HEDDLE, "bench", "latency", "--rounds", "2", "--time-ms", "2", "--json", file.string()});
  ASSERT_EQ(measured.status, 0) << measured.err;
  const auto compared = run({HEDDLE, "bench", "compare", file.string(), file.string()});
  EXPECT_EQ(compared.status, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("1 of 1 figures are the same"));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace heddle::test
