// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "bootstrap/bootstrap.h"
#include "bootstrap/launcher_protocol.h"
#include "bootstrap/passed_file.h"
#include "bootstrap/table_writer.h"
#include "bootstrap/ways.h"
#include "support/blobs.h"
#include "support/refusal.h"
#include "support/resource_limits.h"
#include "support/scale.h"

namespace heddle::bootstrap {
namespace {

using protocol::frame_kind;
using test::refusal;
using testing::AllOf;
using testing::HasSubstr;

/// A clean environment: none of the launchers' variables set.
class Join : public testing::Test {
 protected:
  Join() { clear(); }
  ~Join() override { clear(); }

 private:
  static void clear() {
    for (const char* name :
         {"HEDDLE_BOOT", "HEDDLE_BOOT_FD", "HEDDLE_RENDEZVOUS", "HEDDLE_RANK", "HEDDLE_SIZE",
          "HEDDLE_SECRET_FILE", "PMIX_NAMESPACE", "PMI_FD", "PMI_RANK", "PMI_SIZE",
          "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS"})
      unsetenv(name);
  }
};

/// Plays the launcher of a job of one rank in the test's own thread: answers are queued before
/// they are asked for, since the socket keeps them.
class JoinUnderALauncher : public Join {
 protected:
  JoinUnderALauncher() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    rank_end_.reset(ends[0]);
    launcher_end_.reset(ends[1]);
    setenv("HEDDLE_BOOT_FD", std::to_string(rank_end_.get()).c_str(), 1);
  }

  /// Joins while a thread answers with `reply` and keeps the connection.
  std::unique_ptr<session> join_with(std::vector<std::byte> reply, std::uint64_t limit_ms = 0) {
    std::thread launcher([&] {
      pollfd arrival{launcher_end_.get(), POLLIN, 0};
      poll(&arrival, 1, -1);
      auto request = protocol::receive_join(launcher_end_.get());
      connection_ = std::move(request.connection);
      answer(reply);
    });
    struct joiner {
      std::thread& t;
      ~joiner() { t.join(); }
    } wait{launcher};
    return join(limit_ms);
  }
  void answer(const std::vector<std::byte>& bytes) const {
    ASSERT_EQ(send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  void send_all(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }
  [[nodiscard]] static std::vector<std::byte> welcome_to(int rank, int size) {
    return protocol::encode(frame_kind::welcome,
                            protocol::encode(protocol::welcome{rank, size, size, {}}));
  }
  protocol::frame heard() {
    std::array<std::byte, 256> buffer;
    for (;;) {
      if (auto f = parser_.next()) return *f;
      const ssize_t got = recv(connection_.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) return {frame_kind::failed, {}};
      parser_.push(std::span(buffer).first(static_cast<std::size_t>(got)));
    }
  }

  unique_fd rank_end_, launcher_end_, connection_;
  protocol::frame_parser parser_{protocol::max_blob_bytes};
};

TEST_F(Join, AloneIsAWorldOfOneWhoseCollectivesEndAtOnce) {
  const auto me = join();
  EXPECT_EQ(me->info().rank, 0);
  EXPECT_EQ(me->info().size, 1);
  const blob mine{std::byte{1}, std::byte{2}};
  EXPECT_THAT(test::blobs_of(me->exchange(mine)), testing::ElementsAre(mine));
  me->barrier();
}

TEST_F(Join, OneOfSeveralProcessesThatCannotBeJoinedIsRefusedWithTheCure) {
  const std::vector<std::pair<const char*, const char*>> launchers{
      {"SLURM_STEP_NUM_TASKS", "add --mpi=pmix or --mpi=pmi2"},
      {"OMPI_COMM_WORLD_SIZE", "Open MPI 4"},
      {"PMI_SIZE", "-pmi-port"}};
  for (const auto& [name, cure] : launchers) {
    setenv(name, "4", 1);
    EXPECT_THAT(refusal([] { (void)join(); }),
                AllOf(HasSubstr(std::string(name) + "=4"), HasSubstr(cure)));
    setenv(name, "1", 1);
    EXPECT_EQ(join()->info().size, 1);
    unsetenv(name);
  }
}

TEST_F(Join, TheScriptOfABatchJobIsNoRank) {
  setenv("SLURM_NTASKS", "4", 1);
  EXPECT_EQ(join()->info().size, 1);
}

TEST_F(Join, OwnLauncherComesBeforeAMeetingPointAndThatBeforePmixAndThatBeforePmi1) {
  setenv("PMI_FD", "9", 1);
  EXPECT_EQ(way_to_join(), way::pmi1);
  setenv("PMIX_NAMESPACE", "job", 1);
  EXPECT_EQ(way_to_join(), way::pmix);
  setenv("HEDDLE_RENDEZVOUS", "h:1", 1);
  EXPECT_EQ(way_to_join(), way::meeting_point);
  setenv("HEDDLE_BOOT_FD", "3", 1);
  EXPECT_EQ(way_to_join(), way::run);
}

TEST_F(Join, TheWayThatIsForcedIsTakenBeforeAllOthers) {
  setenv("HEDDLE_BOOT_FD", "3", 1);
  setenv("PMI_FD", "9", 1);
  setenv("HEDDLE_BOOT", "pmi1", 1);
  EXPECT_EQ(way_to_join(), way::pmi1);
  setenv("HEDDLE_BOOT", "alone", 1);
  EXPECT_EQ(join()->info().size, 1);
}

TEST_F(Join, AForcedWayThatIsUnknownOrThatNobodyPreparedIsRefused) {
  setenv("HEDDLE_BOOT", "mpi", 1);
  EXPECT_THAT(refusal([] { (void)join(); }),
              HasSubstr("give run, rendezvous, pmix, pmi1 or alone"));
  setenv("HEDDLE_BOOT", "pmix", 1);
  EXPECT_THAT(refusal([] { (void)join(); }), HasSubstr("PMIX_NAMESPACE is not set"));
}

TEST_F(Join, ALibraryOfPmixThatCannotBeLoadedIsNamedWithTheCure) {
  if (test::sanitized) GTEST_SKIP() << "the sanitizer opens files as well";
  setenv("PMIX_NAMESPACE", "job", 1);
  const test::no_descriptors here;
  EXPECT_THAT(refusal([] { (void)join(); }),
              AllOf(HasSubstr("its library cannot be loaded"), HasSubstr("libpmix.so.2"),
                    HasSubstr("install libpmix2"), HasSubstr("LD_LIBRARY_PATH")));
}

TEST_F(Join, AJobOfOneRankIsNoneSoThatItsRankMayStartAJob) {
  setenv("PMI_FD", "9", 1);
  setenv("PMI_SIZE", "1", 1);
  EXPECT_EQ(way_to_join(), way::alone);
  setenv("PMIX_NAMESPACE", "slurm.pmix.7.0", 1);
  setenv("SLURM_STEP_NUM_TASKS", "1", 1);
  EXPECT_EQ(way_to_join(), way::alone);
}

TEST_F(Join, AnotherLaunchersJobInAStepOfOneIsJoined) {
  setenv("SLURM_STEP_NUM_TASKS", "1", 1);
  setenv("PMIX_NAMESPACE", "prterun-host-7", 1);
  EXPECT_EQ(way_to_join(), way::pmix);
}

TEST_F(Join, ASocketOfPmiThatIsNoneIsRefusedWithTheCure) {
  setenv("PMI_RANK", "0", 1);
  for (const char* bad : {"", "x", "0", "987654"}) {
    setenv("PMI_FD", bad, 1);
    EXPECT_THAT(refusal([] { (void)join(); }), HasSubstr("HEDDLE_BOOT=alone")) << bad;
  }
}

TEST_F(Join, ADescriptorThatIsNotTheLaunchersIsRefusedWithTheCure) {
  for (const char* bad : {"", "x", "-1", "3x", "0", "987654"}) {
    setenv("HEDDLE_BOOT_FD", bad, 1);
    EXPECT_THAT(refusal([] { (void)join(); }), HasSubstr("unset HEDDLE_BOOT_FD")) << bad;
  }
}

TEST_F(JoinUnderALauncher, TheWelcomeSaysWhoWeAre) {
  const auto me = join_with(welcome_to(2, 5));
  EXPECT_EQ(me->info().rank, 2);
  EXPECT_EQ(me->info().size, 5);
}

TEST_F(JoinUnderALauncher, ARefusalIsPassedOnInTheLaunchersWords) {
  EXPECT_THAT(refusal([&] {
                (void)join_with(
                    protocol::encode(frame_kind::failed, protocol::encode_text("joined twice")));
              }),
              HasSubstr("joined twice"));
}

TEST_F(JoinUnderALauncher, AMalformedWelcomeIsRefused) {
  EXPECT_THAT(refusal([&] { (void)join_with(protocol::encode(frame_kind::welcome, {})); }),
              HasSubstr("malformed"));
}

TEST_F(JoinUnderALauncher, ExchangeSendsOursAndReturnsEveryones) {
  const auto me = join_with(welcome_to(0, 2));
  const std::vector<blob> both{{std::byte{1}}, {std::byte{2}, std::byte{3}}};
  answer(protocol::encode(frame_kind::everything, protocol::encode_blobs(both)));
  EXPECT_EQ(test::blobs_of(me->exchange(both[0])), both);
  EXPECT_EQ(heard().kind, frame_kind::joining);
  const auto said = heard();
  EXPECT_EQ(said.kind, frame_kind::exchange);
  EXPECT_EQ(said.payload, both[0]);
}

TEST_F(JoinUnderALauncher, WhatAllHaveGivenMayComeAsAFile) {
  const auto me = join_with(welcome_to(0, 2));
  table_writer table(2);
  table.add(1, blob{std::byte{2}});
  table.add(0, blob{std::byte{1}});
  const unique_fd file = table.finish();
  for (int exchange = 0; exchange < 2; ++exchange) {
    const auto frame = protocol::encode(frame_kind::everything, {});
    ASSERT_EQ(send_with_file(connection_.get(), frame, file.get()),
              static_cast<ssize_t>(frame.size()));
    EXPECT_THAT(test::blobs_of(me->exchange({})),
                testing::ElementsAre(blob{std::byte{1}}, blob{std::byte{2}}));
  }
}

TEST_F(JoinUnderALauncher, AFileForWhichThereIsNoDescriptorIsRefusedWithTheCure) {
  const auto me = join_with(welcome_to(0, 2));
  const auto frame = protocol::encode(frame_kind::everything, {});
  ASSERT_EQ(send_with_file(connection_.get(), frame, connection_.get()),
            static_cast<ssize_t>(frame.size()));
  const test::no_descriptors here;
  EXPECT_THAT(refusal([&] { (void)me->exchange({}); }), HasSubstr("ulimit -n"));
}

TEST_F(JoinUnderALauncher, AnAnswerWithNeitherATableNorAFileIsRefused) {
  const auto me = join_with(welcome_to(0, 2));
  answer(protocol::encode(frame_kind::everything, {}));
  EXPECT_THAT(refusal([&] { (void)me->exchange({}); }), HasSubstr("malformed"));
}

TEST_F(JoinUnderALauncher, AJobMayHaveManyRanks) {
  constexpr int many = 158'976;
  const auto me = join_with(welcome_to(many - 1, many));
  EXPECT_EQ(me->info().size, many);
  const auto all = protocol::encode(frame_kind::everything,
                                    protocol::encode_blobs(std::vector<blob>(many, blob(1))));
  std::thread launcher([&] { send_all(all); });
  EXPECT_EQ(me->exchange(blob(1)).size(), std::size_t{many});
  launcher.join();
}

TEST_F(JoinUnderALauncher, AWordThatOthersAreStillStartedIsNoAnswer) {
  const auto me = join_with(welcome_to(0, 2));
  for (int second = 0; second < 3; ++second) answer(protocol::encode(frame_kind::starting, {}));
  answer(protocol::encode(frame_kind::failed, protocol::encode_text("rank 1 was killed")));
  EXPECT_THAT(refusal([&] { me->barrier(); }), HasSubstr("barrier: rank 1 was killed"));
}

TEST_F(JoinUnderALauncher, AFailedBarrierThrowsTheLaunchersReason) {
  const auto me = join_with(welcome_to(0, 2));
  answer(protocol::encode(frame_kind::failed, protocol::encode_text("rank 1 was killed")));
  EXPECT_THAT(refusal([&] { me->barrier(); }), HasSubstr("barrier: rank 1 was killed"));
}

TEST_F(JoinUnderALauncher, ALauncherThatGoesAwayFailsTheBarrier) {
  const auto me = join_with(welcome_to(0, 2));
  connection_.reset();
  EXPECT_THAT(refusal([&] { me->barrier(); }), HasSubstr("went away"));
}

TEST_F(JoinUnderALauncher, AnAnswerOutOfTurnOrMalformedIsRefused) {
  const auto me = join_with(welcome_to(0, 2));
  answer(protocol::encode(frame_kind::released, {}));
  EXPECT_THAT(refusal([&] { (void)me->exchange({}); }), HasSubstr("out of turn"));
  answer(protocol::encode(frame_kind::everything, protocol::encode_blobs(std::vector<blob>(1))));
  EXPECT_THAT(refusal([&] { (void)me->exchange({}); }), HasSubstr("malformed"));
}

TEST_F(JoinUnderALauncher, MoreBytesThanAllowedAreNotSent) {
  const auto me = join_with(welcome_to(0, 2));
  EXPECT_THAT(refusal([&] { (void)me->exchange(blob(protocol::max_blob_bytes + 1)); }),
              HasSubstr("at most 4096"));
}

TEST_F(JoinUnderALauncher, TheEndOfASessionSaysGoodbye) {
  auto me = join_with(welcome_to(0, 1));
  me.reset();
  EXPECT_EQ(heard().kind, frame_kind::joining);
  EXPECT_EQ(heard().kind, frame_kind::leave);
}

TEST_F(JoinUnderALauncher, TheLauncherLearnsHowLongWeWaitAndThatWeHaveJoined) {
  const auto me = join_with(welcome_to(0, 2), 2500);
  const auto said = heard();
  EXPECT_EQ(said.kind, frame_kind::joining);
  EXPECT_EQ(protocol::decode_limit(said.payload), 2500u);
  me->joined();
  EXPECT_EQ(heard().kind, frame_kind::joined);
}

TEST_F(JoinUnderALauncher, TheLauncherLearnsThatTheJobIsToEnd) {
  const auto me = join_with(welcome_to(0, 2));
  me->abort(42, "no input");
  EXPECT_EQ(heard().kind, frame_kind::joining);
  const auto said = heard();
  EXPECT_EQ(said.kind, frame_kind::abort);
  EXPECT_EQ(protocol::decode_ending(said.payload)->status, 42);
}

TEST_F(JoinUnderALauncher, TheSameProcessCanJoinAgainAfterwards) {
  join_with(welcome_to(1, 2)).reset();
  EXPECT_EQ(join_with(welcome_to(1, 2))->info().rank, 1);
}

}  // namespace
}  // namespace heddle::bootstrap
