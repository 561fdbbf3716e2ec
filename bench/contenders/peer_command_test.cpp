// SPDX-License-Identifier: BSD-3-Clause
// peer_command_test.cpp - what the rivals' programs are told, and by which environment.
#include "contenders/peer_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <stdexcept>

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
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

TEST(PeerCommand, LetsThePeerOutliveOurLimitSoThatWeSayThatItWasKilled) {
  const rival_task t = two_threads("shm");
  EXPECT_EQ(limit_of(t), 21s);
  const command c = peer_command(rival::ucx, somewhere, t, "/scratch");
  EXPECT_GT(std::stoi(value_of(c.arguments, "--limit-s")), 21);
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

TEST(PeerCommand, LetsUcxGoOverTheSameCard) {
  const command c =
      peer_command(rival::ucx, {"/libexec/peer", ""}, two_threads("verbs"), "/scratch");
  EXPECT_THAT(c.settings, Contains("UCX_TLS=rc_v,ud_v,self"));
}

TEST(PeerCommand, OfUcxNeedsNoLauncher) {
  const command c = peer_command(rival::ucx, {"/libexec/peer", ""}, two_threads("shm"), "/scratch");
  EXPECT_EQ(c.program, "/libexec/peer");
  EXPECT_EQ(c.arguments.front(), "rate");
  EXPECT_THAT(c.settings, Contains("UCX_TLS=shm,self"));
}

TEST(PeerCommand, OfUtofuHasAMachineOfItsOwnForEachRound) {
  const auto settings_in = [](const std::string& scratch) {
    return peer_command(rival::utofu, {"/libexec/peer", ""}, two_threads("utofu"), scratch)
        .settings;
  };
  EXPECT_THAT(settings_in("/dev/shm/one"), Contains("SOFTTOFU_JOB=one"));
  EXPECT_THAT(settings_in("/dev/shm/two"), Contains("SOFTTOFU_JOB=two"));
}

command uncached(const rival_task& t) {
  return peer_command(rival::uncached, {"/bin/heddle", ""}, t, "/scratch/one");
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
    const command c = peer_command(who, somewhere, two_threads("shm"), "/scratch");
    EXPECT_THAT(c.without, IsSupersetOf({"UCX_", "OMPI_", "MPIR_", "PMI_"}));
  }
}

}  // namespace
}  // namespace heddle::bench
