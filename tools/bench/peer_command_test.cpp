// peer_command_test.cpp - what the rivals' programs are told, and by which environment.
#include "bench/peer_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <stdexcept>

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

const peer_programs somewhere{"/libexec/peer", "/bin/launcher"};

rival_task two_threads(const std::string& backend) {
  return {.what = {.what = kind::rate, .op = operation::put, .threads = 2, .time = 50ms},
          .backend = backend,
          .cores = {0, 3},
          .limit = 20s};
}

/// The word after `option`.
std::string value_of(const std::vector<std::string>& words, const std::string& option) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == option) return words[i + 1];
  }
  return "missing";
}

TEST(PeerArguments, SayTheSpecInWordsOfTheCommandLine) {
  const auto words = peer_arguments(two_threads("shm"));
  EXPECT_EQ(words.front(), "rate");
  EXPECT_EQ(value_of(words, "--op"), "put");
  EXPECT_EQ(value_of(words, "--bytes"), "8");
  EXPECT_EQ(value_of(words, "--threads"), "2");
  EXPECT_EQ(value_of(words, "--window"), "64");
  EXPECT_EQ(value_of(words, "--time-ms"), "50");
  EXPECT_EQ(value_of(words, "--cores"), "0,3");
}

TEST(PeerArguments, LetThePeerOutliveOurLimitSoThatWeSayThatItWasKilled) {
  const rival_task t = two_threads("shm");
  EXPECT_EQ(limit_of(t), 21s);
  EXPECT_GT(std::stoi(value_of(peer_arguments(t), "--limit-s")), 21);
}

TEST(PeerArguments, HaveOnePathWhereTheLaneIsShared) {
  rival_task t = two_threads("shm");
  EXPECT_EQ(value_of(peer_arguments(t), "--paths"), "0");
  t.what.lanes = 1;
  EXPECT_EQ(value_of(peer_arguments(t), "--paths"), "1");
  t.what.lanes = 2;
  EXPECT_EQ(value_of(peer_arguments(t), "--paths"), "2");
}

TEST(PeerArguments, OfOverlapAreOfTaggedMessages) {
  rival_task t = two_threads("shm");
  t.overlap = overlap_task{computing::receiver, 20};
  const auto words = peer_arguments(t);
  EXPECT_EQ(words.front(), "overlap");
  EXPECT_EQ(value_of(words, "--op"), "tag");
  EXPECT_EQ(value_of(words, "--compute-us"), "20");
  EXPECT_EQ(value_of(words, "--computing"), "receiver");
}

TEST(PeerArguments, DoNotBindWhenThereAreNoCores) {
  rival_task t = two_threads("shm");
  t.cores.clear();
  EXPECT_THAT(peer_arguments(t), Not(Contains("--cores")));
}

TEST(PeerCommand, KeepsOpenMpiOnSharedMemory) {
  const command c = peer_command(rival::openmpi, somewhere, two_threads("shm"), "/scratch");
  EXPECT_EQ(c.program, "/bin/launcher");
  EXPECT_EQ(c.arguments[2], "/libexec/peer");
  EXPECT_EQ(c.end_signal, SIGTERM);
  EXPECT_THAT(c.settings,
              IsSupersetOf({"OMPI_MCA_btl=self,vader", "OMPI_MCA_osc=sm", "OMPI_MCA_pml=ob1",
                            "OMPI_MCA_plm=isolated", "OMPI_MCA_orte_tmpdir_base=/scratch"}));
}

TEST(PeerCommand, KeepsOpenMpiOnLoopbackTcp) {
  const command c = peer_command(rival::openmpi, somewhere, two_threads("tcp"), "/scratch");
  EXPECT_THAT(c.settings,
              IsSupersetOf({"OMPI_MCA_btl=self,tcp", "OMPI_MCA_btl_tcp_if_include=lo",
                            "OMPI_MCA_osc=ucx", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"}));
}

TEST(PeerCommand, LetsOpenMpiYieldOnlyWhenThreadsShareCores) {
  const std::string yield = "OMPI_MCA_mpi_yield_when_idle=1";
  rival_task t = two_threads("shm");
  EXPECT_THAT(peer_command(rival::openmpi, somewhere, t, "/").settings, Contains(yield));
  t.what.threads = 1;
  EXPECT_THAT(peer_command(rival::openmpi, somewhere, t, "/").settings, Not(Contains(yield)));
}

TEST(PeerCommand, KeepsMpichOnOneWireAndThisMachine) {
  const command shm = peer_command(rival::mpich, somewhere, two_threads("shm"), "/scratch");
  EXPECT_THAT(shm.arguments, IsSupersetOf({"-launcher", "fork", "-iface", "lo", "/libexec/peer"}));
  EXPECT_THAT(shm.settings, Contains("UCX_TLS=shm,self"));
  EXPECT_THAT(shm.settings, Not(Contains("MPIR_CVAR_NOLOCAL=1")));
  const command tcp = peer_command(rival::mpich, somewhere, two_threads("tcp"), "/scratch");
  EXPECT_THAT(tcp.settings,
              IsSupersetOf({"MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"}));
}

TEST(PeerCommand, OfUcxNeedsNoLauncher) {
  const command c = peer_command(rival::ucx, {"/libexec/peer", ""}, two_threads("shm"), "/scratch");
  EXPECT_EQ(c.program, "/libexec/peer");
  EXPECT_EQ(c.arguments.front(), "rate");
  EXPECT_THAT(c.settings, Contains("UCX_TLS=shm,self"));
}

TEST(PeerArguments, OfGupsSayItsMemoryAndWay) {
  rival_task t = two_threads("utofu");
  t.gups = gups_task{.memory_bytes = 4096, .atomic = true};
  const auto words = peer_arguments(t);
  EXPECT_EQ(words.front(), "gups");
  EXPECT_EQ(value_of(words, "--memory"), "4096");
  EXPECT_THAT(words, Contains("--atomic"));
}

TEST(PeerCommand, OfUtofuHasAMachineOfItsOwnForEachRound) {
  const auto settings_in = [](const std::string& scratch) {
    return peer_command(rival::utofu, {"/libexec/peer", ""}, two_threads("utofu"), scratch)
        .settings;
  };
  EXPECT_THAT(settings_in("/dev/shm/one"), Contains("SOFTTOFU_JOB=one"));
  EXPECT_THAT(settings_in("/dev/shm/two"), Contains("SOFTTOFU_JOB=two"));
}

TEST(PeerCommand, ForgetsTheUsersOwnTuning) {
  for (const rival who : {rival::ucx, rival::openmpi, rival::mpich}) {
    const command c = peer_command(who, somewhere, two_threads("shm"), "/scratch");
    EXPECT_THAT(c.without, IsSupersetOf({"UCX_", "OMPI_", "MPIR_", "PMI_"}));
  }
}

}  // namespace
}  // namespace heddle::bench
