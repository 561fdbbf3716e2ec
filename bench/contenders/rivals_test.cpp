// SPDX-License-Identifier: BSD-3-Clause
// rivals_test.cpp - what the rivals' programs are told, and by which environment; real short rounds
// of every rival that is installed.
#include "contenders/rivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

#include "exit_status.h"

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::ThrowsMessage;

rival_task two_threads(const std::string& backend) {
  return {.what = {.what = kind::rate, .op = operation::put, .threads = 2, .time = 50ms},
          .backend = backend,
          .cores = {0, 3},
          .limit = 20s};
}

command told(rival who, const rival_task& t, const std::string& scratch = "/scratch") {
  return peer_command(who, {"/libexec/peer", "/bin/launcher"}, t, scratch);
}

/// The word after `option`.
std::string value_of(const std::vector<std::string>& words, const std::string& option) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == option) return words[i + 1];
  }
  return "missing";
}

TEST(PeerCommand, LetsThePeerOutliveOurLimitSoThatWeSayThatItWasKilled) {
  const rival_task t = two_threads("shm");
  EXPECT_EQ(limit_of(t), 21s);
  const command c = told(rival::ucx, t);
  EXPECT_GT(std::stoi(value_of(c.arguments, "--limit-s")), 21);
}

TEST(PeerCommand, KeepsOpenMpiOnSharedMemory) {
  const command c = told(rival::openmpi, two_threads("shm"));
  EXPECT_EQ(c.program, "/bin/launcher");
  EXPECT_EQ(c.arguments[2], "/libexec/peer");
  EXPECT_EQ(c.end_signal, SIGTERM);
  EXPECT_THAT(c.settings,
              IsSupersetOf({"OMPI_MCA_btl=self,vader", "OMPI_MCA_osc=sm", "OMPI_MCA_pml=ob1",
                            "OMPI_MCA_plm=isolated", "OMPI_MCA_orte_tmpdir_base=/scratch"}));
}

TEST(PeerCommand, KeepsOpenMpiOnLoopbackTcp) {
  const command c = told(rival::openmpi, two_threads("tcp"));
  EXPECT_THAT(c.settings,
              IsSupersetOf({"OMPI_MCA_btl=self,tcp", "OMPI_MCA_btl_tcp_if_include=lo",
                            "OMPI_MCA_osc=ucx", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"}));
}

TEST(PeerCommand, LetsOpenMpiYieldOnlyWhenThreadsShareCores) {
  const std::string yield = "OMPI_MCA_mpi_yield_when_idle=1";
  rival_task t = two_threads("shm");
  EXPECT_THAT(told(rival::openmpi, t).settings, Contains(yield));
  t.what.threads = 1;
  EXPECT_THAT(told(rival::openmpi, t).settings, Not(Contains(yield)));
}

TEST(PeerCommand, KeepsMpichOnOneWireAndThisMachine) {
  const command shm = told(rival::mpich, two_threads("shm"));
  EXPECT_THAT(shm.arguments, IsSupersetOf({"-launcher", "fork", "-iface", "lo", "/libexec/peer"}));
  EXPECT_THAT(shm.settings, Contains("UCX_TLS=shm,self"));
  EXPECT_THAT(shm.settings, Not(Contains("MPIR_CVAR_NOLOCAL=1")));
  const command tcp = told(rival::mpich, two_threads("tcp"));
  EXPECT_THAT(tcp.settings,
              IsSupersetOf({"MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"}));
}

TEST(PeerCommand, LetsUcxGoOverTheSameCard) {
  const command c = told(rival::ucx, two_threads("verbs"));
  EXPECT_THAT(c.settings, Contains("UCX_TLS=rc_v,ud_v,self"));
}

TEST(PeerCommand, OfUcxNeedsNoLauncher) {
  const command c = told(rival::ucx, two_threads("shm"));
  EXPECT_EQ(c.program, "/libexec/peer");
  EXPECT_EQ(c.arguments.front(), "rate");
  EXPECT_THAT(c.settings, Contains("UCX_TLS=shm,self"));
}

TEST(PeerCommand, OfUtofuHasAMachineOfItsOwnForEachRound) {
  const auto settings_in = [](const std::string& scratch) {
    return told(rival::utofu, two_threads("utofu"), scratch).settings;
  };
  EXPECT_THAT(settings_in("/dev/shm/one"), Contains("SOFTTOFU_JOB=one"));
  EXPECT_THAT(settings_in("/dev/shm/two"), Contains("SOFTTOFU_JOB=two"));
}

command uncached(const rival_task& t) {
  return told(rival::uncached, t, "/scratch/one");
}

TEST(PeerCommand, OfHeddleMeasuresTheSameWithoutRegistrations) {
  rival_task t = two_threads("utofu");
  t.what.lanes = 2;
  const command c = uncached(t);
  EXPECT_THAT(c.arguments,
              IsSupersetOf({"bench", "rate", "--op", "put", "--sizes", "8", "--threads", "2",
                            "--lanes", "2", "--backend", "utofu", "core"}));
  EXPECT_THAT(c.settings, Contains("HEDDLE_RCACHE=off"));
}

TEST(PeerCommand, OfHeddleIsAJobOfItsOwnAndBoundOnlyWhereWeAre) {
  rival_task t = two_threads("utofu");
  t.cores.clear();
  const command c = uncached(t);
  EXPECT_THAT(c.without, IsSupersetOf({"HEDDLE_BOOT_FD", "HEDDLE_RANK", "HEDDLE_SIZE"}));
  EXPECT_THAT(c.settings, Contains("SOFTTOFU_JOB=one"));
  EXPECT_THAT(c.arguments, Contains("none"));
}

TEST(PeerCommand, OfHeddlesGupsSaysItsMemoryAndWay) {
  rival_task t = two_threads("shm");
  t.what.what = kind::gups;
  t.what.memory_bytes = 4096;
  t.what.atomic = true;
  EXPECT_THAT(uncached(t).arguments,
              IsSupersetOf({"bench", "gups", "--memory", "4096", "--atomic"}));
  EXPECT_THAT(uncached(t).arguments, Not(Contains("--op")));
}

TEST(PeerCommand, ForgetsTheUsersOwnTuning) {
  for (const rival who : {rival::ucx, rival::ofi, rival::openmpi, rival::mpich}) {
    const command c = told(who, two_threads("shm"));
    EXPECT_THAT(c.without, IsSupersetOf({"UCX_", "OMPI_", "MPIR_", "PMI_"}));
  }
}

/// Whether the rival's program, and its launcher, are there.
bool is_there(rival who) {
  try {
    (void)find_peer(who);
  } catch (const std::runtime_error&) {
    return false;
  }
  return true;
}

/// Whether a process has `word` on its command line.
bool somebody_runs_with(const std::string& word) {
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(process.path() / "cmdline");
    std::ostringstream words;
    if (in) words << in.rdbuf();
    if (words.str().find(word) != std::string::npos) return true;
  }
  return false;
}

class Peers : public testing::TestWithParam<std::tuple<rival, std::string>> {
 protected:
  void SetUp() override {
    if (!is_there(who())) GTEST_SKIP() << name_of(who()) << " is not there";
  }
  static rival who() { return std::get<0>(GetParam()); }

  static rival_task task(kind what, operation op, int threads) {
    return {.what = {.what = what, .op = op, .threads = threads, .window = 4, .time = 5ms},
            .backend = std::get<1>(GetParam()),
            .limit = 60s};
  }
  /// Seconds per operation of one round; a rival that hangs is none of our faults.
  static double round(const rival_task& t) {
    try {
      return rival_round(who(), t).figures.front();
    } catch (const rival_failure& why) {
      if (std::string(why.what()).find("was killed") != std::string::npos) return 1;
      throw;
    }
  }
};

TEST_P(Peers, MeasureTaggedMessagesAndPuts) {
  for (const operation op : {operation::tag, operation::put}) {
    EXPECT_GT(round(task(kind::rate, op, 2)), 0) << name_of(op);
    const int threads = who() == rival::ucx || who() == rival::ofi ? 2 : 1;
    EXPECT_GT(round(task(kind::latency, op, threads)), 0) << name_of(op);
  }
}

TEST_P(Peers, ShareOnePathBetweenThreads) {
  rival_task t = task(kind::rate, operation::tag, 2);
  t.what.lanes = 1;
  EXPECT_GT(round(t), 0);
}

TEST_P(Peers, MeasureGetsFetchAddsAndBandwidth) {
  EXPECT_GT(round(task(kind::rate, operation::get, 2)), 0);
  EXPECT_GT(round(task(kind::rate, operation::fetch_add, 2)), 0);
  rival_task t = task(kind::bandwidth, operation::tag, 2);
  t.what.bytes = 100'000;
  EXPECT_GT(round(t), 0);
}

TEST_P(Peers, MeasureOverlapOnBothSidesAndTheCostOfGets) {
  rival_task t = task(kind::overlap, operation::tag, 1);
  t.what.window = 1;
  t.what.compute_us = 10;
  EXPECT_EQ(rival_round(who(), t).figures.size(), metrics_of(t.what).size());
  const rival_task gets = task(kind::overhead, operation::get, 2);
  const auto figures = rival_round(who(), gets).figures;
  ASSERT_EQ(figures.size(), 3u);
  EXPECT_LE(figures[1], figures[0]) << "the call is a part of the whole";
}

TEST_P(Peers, ThatTakeTooLongAreKilledAndLeaveNothingBehind) {
  rival_task t = task(kind::rate, operation::tag, 2);
  t.what.bytes = 1'000'000 + static_cast<std::size_t>(getpid());  // nobody else's
  const std::string mark = std::to_string(t.what.bytes);
  t.what.time = 50s;
  t.limit = -49s;
  EXPECT_THAT([&] { (void)rival_round(who(), t); },
              ThrowsMessage<rival_failure>(HasSubstr("took longer than 1 s and was killed")));
  for (int i = 0; i < 500 && somebody_runs_with(mark); ++i) std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(somebody_runs_with(mark));
}

INSTANTIATE_TEST_SUITE_P(All, Peers,
                         testing::Combine(testing::Values(rival::ucx, rival::ofi, rival::openmpi,
                                                          rival::mpich),
                                          testing::Values("shm", "tcp")),
                         [](const auto& each) {
                           return name_of(std::get<0>(each.param)) + "_" + std::get<1>(each.param);
                         });

TEST(UcxPeer, MeasuresActiveMessages) {
  if (!is_there(rival::ucx)) GTEST_SKIP();
  for (const kind what : {kind::rate, kind::latency}) {
    const rival_task t{.what = {.what = what, .op = operation::am, .threads = 2, .time = 5ms},
                       .backend = "shm"};
    EXPECT_GT(rival_round(rival::ucx, t).figures.front(), 0);
  }
}

class UtofuPeer : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_there(rival::utofu)) GTEST_SKIP() << "Heddle was built without uTofu";
  }
  static double round(const spec& s) {
    const rival_task t{.what = s, .backend = "utofu", .limit = 60s};
    return rival_round(rival::utofu, t).figures.front();
  }
};

TEST_F(UtofuPeer, MeasuresEveryOperationOfOneThread) {
  for (const operation op : {operation::put, operation::get, operation::fetch_add, operation::am}) {
    for (const kind what : {kind::rate, kind::latency}) {
      EXPECT_GT(round({.what = what, .op = op, .time = 5ms}), 0) << name_of(what) << name_of(op);
    }
  }
}

TEST_F(UtofuPeer, MovesMessagesOfEverySize) {
  for (const std::uint64_t bytes : {1, 4, 32, 33, 4096, 100'000}) {
    for (const operation op : {operation::put, operation::get, operation::am}) {
      const spec s{.what = kind::rate, .op = op, .bytes = bytes, .window = 4, .time = 2ms};
      EXPECT_GT(round(s), 0) << bytes;
    }
  }
}

TEST_F(UtofuPeer, LetsThreadsShareVcqsOrHaveTheirOwn) {
  for (const int lanes : {0, 1, 2}) {
    for (const operation op : {operation::put, operation::get, operation::am}) {
      const spec s{
          .what = kind::rate, .op = op, .threads = 3, .lanes = lanes, .window = 4, .time = 5ms};
      EXPECT_GT(round(s), 0) << lanes;
    }
  }
}

// The peer verifies the table, and fails when updates are missing.
TEST_F(UtofuPeer, LosesNoUpdateOfGups) {
  for (const bool atomic : {false, true}) {
    spec s{.what = kind::gups,
           .op = operation::put,
           .threads = 3,
           .lanes = 2,
           .window = 8,
           .time = 5ms};
    s.memory_bytes = 8 << 20;
    s.atomic = atomic;
    EXPECT_GT(round(s), 0);
  }
}

TEST_F(UtofuPeer, SaysWhenThereAreNotEnoughCqs) {
  EXPECT_THAT([] { (void)round({.what = kind::rate, .threads = 60, .time = 5ms}); },
              ThrowsMessage<rival_failure>(HasSubstr("is there a CQ left")));
}

TEST(Rivals, UseOnlyTheWireThatTheyHave) {
  const rival_task put{.what = {.op = operation::put}, .backend = "shm"};
  EXPECT_THROW(check_rival(rival::utofu, put), tools::usage_error);
  const rival_task over_utofu{.what = {.op = operation::put}, .backend = "utofu"};
  EXPECT_THROW(check_rival(rival::mpich, over_utofu), tools::usage_error);
}

TEST(Rivals, OverVerbsAreThoseThatUseThem) {
  rival_task t{.what = {.op = operation::put}, .backend = "verbs"};
  EXPECT_THROW(check_rival(rival::openmpi, t), tools::usage_error);
  EXPECT_THROW(check_rival(rival::ofi, t), tools::usage_error);
  t.what.op = operation::tag;
  EXPECT_THROW(check_rival(rival::verbs, t), tools::usage_error);
  t = {.what = {.op = operation::put}, .backend = "tcp"};
  EXPECT_THROW(check_rival(rival::verbs, t), tools::usage_error);
}

TEST(Rivals, OfUtofuHaveNoTaggedMessages) {
  const rival_task t{.what = {.op = operation::tag}, .backend = "utofu"};
  EXPECT_THROW(check_rival(rival::utofu, t), tools::usage_error);
}

TEST(Rivals, OfMpiAndLibfabricHaveNoActiveMessages) {
  const rival_task t{.what = {.op = operation::am}, .backend = "shm"};
  EXPECT_THROW(check_rival(rival::mpich, t), tools::usage_error);
  EXPECT_THROW(check_rival(rival::ofi, t), tools::usage_error);
}

TEST(Rivals, AreLibraries) {
  const rival_task t{.what = {.op = operation::tag}, .backend = "shm"};
  EXPECT_THROW(check_rival(rival::bare, t), tools::usage_error);
}

TEST(Rivals, WithoutTheirProgramsNameThePackage) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const auto finding = [](rival who) { return [who] { (void)find_peer(who); }; };
  EXPECT_THAT(finding(rival::openmpi),
              ThrowsMessage<std::runtime_error>(ContainsRegex("openmpi-bin|libopenmpi-dev")));
  EXPECT_THAT(finding(rival::mpich),
              ThrowsMessage<std::runtime_error>(ContainsRegex("apt install mpich|libmpich-dev")));
  setenv("PATH", path.c_str(), 1);
}

record of(const std::string& library, const std::string& metric, double median) {
  record r;
  r.library = library;
  r.metric = metric;
  r.median = median;
  return r;
}

TEST(RecordsOfARound, GiveTheFiguresOfHeddle) {
  const auto rate =
      figures_in({of("bare", "rate", 1), of("heddle", "rate", 20)}, {.what = kind::rate});
  EXPECT_EQ(rate.figures, std::vector<double>{20});
  const auto gups = figures_in({of("heddle", "updates", 0.002), of("heddle", "lost_updates", 0)},
                               {.what = kind::gups});
  EXPECT_EQ(gups.figures, (std::vector<double>{0.002, 0}));
}

TEST(RecordsOfARound, ThatAreMissingAreAFailure) {
  EXPECT_THROW((void)figures_in({}, {.what = kind::rate}), rival_failure);
}

}  // namespace
}  // namespace heddle::bench
