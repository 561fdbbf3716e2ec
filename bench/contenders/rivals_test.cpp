// SPDX-License-Identifier: BSD-3-Clause
// rivals_test.cpp - what the rivals' programs are told, and by which environment; real short rounds
// of every rival that is installed.
#include "contenders/rivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
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

task two_threads(const std::string& backend) {
  return {.what = {.what = kind::rate, .op = operation::put, .threads = 2, .time = 50ms},
          .backend = backend,
          .cores = {0, 3},
          .limit = 20s};
}

command told(rival who, const task& t, const std::string& scratch = "/scratch/one") {
  return peer_command(who, {"/libexec/peer", "/bin/launcher"}, t, scratch);
}

TEST(PeerCommand, KeepsEachLibraryOnOneWireAndThisMachine) {
  const struct {
    rival who;
    const char* backend;
    std::vector<std::string> arguments, settings;
  } table[]{{rival::openmpi,
             "shm",
             {"-n", "2", "/libexec/peer"},
             {"OMPI_MCA_btl=self,vader", "OMPI_MCA_osc=sm", "OMPI_MCA_pml=ob1",
              "OMPI_MCA_plm=isolated", "OMPI_MCA_orte_tmpdir_base=/scratch/one"}},
            {rival::openmpi,
             "tcp",
             {"rate"},
             {"OMPI_MCA_btl=self,tcp", "OMPI_MCA_btl_tcp_if_include=lo", "OMPI_MCA_osc=ucx",
              "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"}},
            {rival::mpich,
             "shm",
             {"-launcher", "fork", "-iface", "lo", "/libexec/peer"},
             {"UCX_TLS=shm,self"}},
            {rival::mpich,
             "tcp",
             {"rate"},
             {"MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"}},
            {rival::ucx, "shm", {"rate"}, {"UCX_TLS=shm,self"}},
            {rival::ucx, "verbs", {"rate"}, {"UCX_TLS=rc_v,ud_v,self"}},
            {rival::utofu, "utofu", {"rate"}, {"SOFTTOFU_JOB=one"}},
            {rival::bare, "tcp", {"rate", "am", "--backend", "tcp"}, {}},
            {rival::uncached,
             "utofu",
             {"bench", "rate", "--op", "put", "--sizes", "8", "--threads", "2", "--lanes", "2",
              "--backend", "utofu", "core"},
             {"SOFTTOFU_JOB=one", "HEDDLE_RCACHE=off"}}};
  for (const auto& [who, backend, arguments, settings] : table) {
    task t = two_threads(backend);
    t.what.lanes = 2;
    if (who == rival::bare) t.what.op = operation::tag;
    const command c = told(who, t);
    const bool launched = who == rival::openmpi || who == rival::mpich;
    EXPECT_EQ(c.program, launched ? "/bin/launcher" : "/libexec/peer");
    EXPECT_EQ(c.end_signal, SIGTERM);
    EXPECT_THAT(c.arguments, IsSupersetOf(arguments)) << name_of(who) << backend;
    EXPECT_THAT(c.settings, IsSupersetOf(settings)) << name_of(who) << backend;
    EXPECT_THAT(c.without, IsSupersetOf({"UCX_", "OMPI_", "MPIR_", "PMI_", "HEDDLE_RANK"}));
  }
  EXPECT_THAT(told(rival::mpich, two_threads("shm")).settings,
              Not(Contains("MPIR_CVAR_NOLOCAL=1")));
}

TEST(PeerCommand, LetsOpenMpiYieldOnlyWhenThreadsShareCores) {
  const std::string yield = "OMPI_MCA_mpi_yield_when_idle=1";
  task t = two_threads("shm");
  EXPECT_THAT(told(rival::openmpi, t).settings, Contains(yield));
  t.what.threads = 1;
  EXPECT_THAT(told(rival::openmpi, t).settings, Not(Contains(yield)));
}

TEST(PeerCommand, OfHeddleIsBoundOnlyWhereWeAreAndSaysMemoryAndWayOfGups) {
  task t = two_threads("shm");
  t.cores.clear();
  t.what.what = kind::gups;
  t.what.memory_bytes = 4096;
  t.what.atomic = true;
  const std::vector<std::string> words = told(rival::uncached, t).arguments;
  EXPECT_THAT(words, IsSupersetOf({"bench", "gups", "--memory", "4096", "--atomic", "none"}));
  EXPECT_THAT(words, Not(Contains("--op")));
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

  static task work(kind what, operation op, int threads) {
    return {.what = {.what = what, .op = op, .threads = threads, .window = 4, .time = 5ms},
            .backend = std::get<1>(GetParam()),
            .limit = 60s};
  }
  /// Seconds per operation of one round; a rival that hangs is none of our faults.
  static double round(const task& t) {
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
    EXPECT_GT(round(work(kind::rate, op, 2)), 0) << name_of(op);
    const int threads = who() == rival::ucx || who() == rival::ofi ? 2 : 1;
    EXPECT_GT(round(work(kind::latency, op, threads)), 0) << name_of(op);
  }
}

TEST_P(Peers, MeasureGetsFetchAddsAndBandwidthAlsoByOnePathForTwoThreads) {
  EXPECT_GT(round(work(kind::rate, operation::get, 2)), 0);
  EXPECT_GT(round(work(kind::rate, operation::fetch_add, 2)), 0);
  task t = work(kind::bandwidth, operation::tag, 2);
  t.what.lanes = 1;
  t.what.bytes = 100'000;
  EXPECT_GT(round(t), 0);
}

TEST_P(Peers, MeasureOverlapOnBothSidesAndTheCostOfGets) {
  task t = work(kind::overlap, operation::tag, 1);
  t.what.window = 1;
  t.what.compute_us = 10;
  EXPECT_EQ(rival_round(who(), t).figures.size(), metrics_of(t.what).size());
  const task gets = work(kind::overhead, operation::get, 2);
  const auto figures = rival_round(who(), gets).figures;
  ASSERT_EQ(figures.size(), 3u);
  EXPECT_LE(figures[1], figures[0]) << "the call is a part of the whole";
}

TEST_P(Peers, ThatTakeTooLongAreKilledAndLeaveNothingBehind) {
  task t = work(kind::rate, operation::tag, 2);
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
    const task t{.what = {.what = what, .op = operation::am, .threads = 2, .time = 5ms},
                 .backend = "shm"};
    EXPECT_GT(rival_round(rival::ucx, t).figures.front(), 0);
  }
}

spec short_spec(kind what, operation op) {
  return {.what = what, .op = op, .bytes = what == kind::bandwidth ? 65536u : 8u, .time = 1ms};
}

bool is_bare(const spec& s, const std::string& backend) {
  try {
    check_rival(rival::bare, {.what = s, .backend = backend});
  } catch (const tools::usage_error&) {
    return false;
  }
  return true;
}

TEST(BarePeer, IsThereOnlyWhereSomethingBareCorresponds) {
  for (const auto& [name, op] : choices<operation>()) {
    EXPECT_EQ(is_bare(short_spec(kind::latency, op), "shm"), !is_round_trip(op)) << name;
    EXPECT_TRUE(is_bare(short_spec(kind::latency, op), "tcp")) << name;
  }
  EXPECT_FALSE(is_bare(short_spec(kind::rate, operation::am), "shm"));
  EXPECT_FALSE(is_bare(short_spec(kind::rate, operation::put), "tcp"));
  EXPECT_FALSE(is_bare(short_spec(kind::rate, operation::fetch_add), "tcp"));
  EXPECT_FALSE(is_bare({.what = kind::rate, .op = operation::put, .bytes = 16}, "shm"));
}

TEST(BarePeer, MeasuresEveryLimit) {
  spec computing = short_spec(kind::latency, operation::get);
  computing.target = target_mode::computing;
  spec copies = short_spec(kind::bandwidth, operation::tag);
  copies.buffers = buffer_kind::exposed;
  const std::pair<const char*, spec> table[]{{"shm", short_spec(kind::latency, operation::am)},
                                             {"tcp", short_spec(kind::latency, operation::am)},
                                             {"tcp", computing},
                                             {"shm", short_spec(kind::rate, operation::put)},
                                             {"shm", short_spec(kind::rate, operation::fetch_add)},
                                             {"tcp", short_spec(kind::rate, operation::tag)},
                                             {"shm", short_spec(kind::bandwidth, operation::tag)},
                                             {"shm", copies},
                                             {"tcp", copies}};
  for (const auto& [backend, s] : table) {
    // Ends that spin share the cores with whatever else runs.
    const task t{.what = s, .backend = backend, .limit = 240s};
    EXPECT_GT(rival_round(rival::bare, t).figures.front(), 0) << backend << name_of(s.what);
  }
}

class UtofuPeer : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_there(rival::utofu)) GTEST_SKIP() << "Heddle was built without uTofu";
  }
  static double round(spec s) {
    s.time = 5ms;
    const task t{.what = s, .backend = "utofu", .limit = 60s};
    return rival_round(rival::utofu, t).figures.front();
  }
};

TEST_F(UtofuPeer, MeasuresEveryOperationOfOneThread) {
  for (const operation op : {operation::put, operation::get, operation::fetch_add, operation::am}) {
    for (const kind what : {kind::rate, kind::latency})
      EXPECT_GT(round({.what = what, .op = op}), 0) << name_of(what) << name_of(op);
  }
}

TEST_F(UtofuPeer, MovesMessagesOfEverySizeAndByVcqsThatThreadsShareOrHaveTheirOwn) {
  spec s{.what = kind::rate, .window = 4};
  for (const operation op : {operation::put, operation::get, operation::am}) {
    s.op = op;
    s.threads = 1;
    for (const std::uint64_t bytes : {1u, 4u, 32u, 33u, 4096u, 100'000u}) {
      s.bytes = bytes;
      EXPECT_GT(round(s), 0) << bytes;
    }
    s.threads = 3;
    for (s.lanes = 0; s.lanes < 3; ++s.lanes) EXPECT_GT(round(s), 0) << s.lanes;
  }
}

// The peer verifies the table, and fails when updates are missing.
TEST_F(UtofuPeer, LosesNoUpdateOfGups) {
  spec s{.what = kind::gups, .op = operation::put, .threads = 3, .lanes = 2, .window = 8};
  s.memory_bytes = 8 << 20;
  for (const bool atomic : {false, true}) {
    s.atomic = atomic;
    EXPECT_GT(round(s), 0);
  }
}

TEST_F(UtofuPeer, SaysWhenThereAreNotEnoughCqs) {
  EXPECT_THAT([] { (void)round({.what = kind::rate, .threads = 60}); },
              ThrowsMessage<rival_failure>(HasSubstr("is there a CQ left")));
}

TEST(Rivals, RefuseWiresAndOperationsThatTheyDoNotHave) {
  const std::tuple<rival, operation, const char*> table[]{
      {rival::utofu, operation::put, "shm"},     {rival::mpich, operation::put, "utofu"},
      {rival::openmpi, operation::put, "verbs"}, {rival::ofi, operation::put, "verbs"},
      {rival::verbs, operation::tag, "verbs"},   {rival::verbs, operation::put, "tcp"},
      {rival::utofu, operation::tag, "utofu"},   {rival::mpich, operation::am, "shm"},
      {rival::ofi, operation::am, "shm"},        {rival::bare, operation::get, "shm"}};
  for (const auto& [who, op, backend] : table)
    EXPECT_THROW(check_rival(who, {.what = {.op = op}, .backend = backend}), tools::usage_error)
        << name_of(who) << name_of(op) << backend;
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

TEST(RecordsOfARound, GiveTheFiguresOfHeddleOrAreAFailure) {
  const auto of = [](const char* library, const char* metric, double median) {
    record r;
    r.library = library;
    r.metric = metric;
    r.median = median;
    return r;
  };
  const auto rate =
      figures_in({of("bare", "rate", 1), of("heddle", "rate", 20)}, {.what = kind::rate});
  EXPECT_EQ(rate.figures, std::vector<double>{20});
  const auto gups = figures_in({of("heddle", "updates", 0.002), of("heddle", "lost_updates", 0)},
                               {.what = kind::gups});
  EXPECT_EQ(gups.figures, (std::vector<double>{0.002, 0}));
  EXPECT_THROW((void)figures_in({}, {.what = kind::rate}), rival_failure);
}

}  // namespace
}  // namespace heddle::bench
