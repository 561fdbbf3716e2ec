// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/meeting_point.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <future>
#include <optional>
#include <utility>

#include "base/fd.h"
#include "bootstrap/host_gifts.h"
#include "bootstrap/meeting_point_host.h"
#include "bootstrap/meeting_point_protocol.h"
#include "support/blobs.h"
#include "support/resource_limits.h"

namespace heddle::bootstrap {
namespace {

using protocol::frame_kind;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t soon_ms = 1500, late_ms = 60'000;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(port);
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}

/// A port that nobody has now.
std::uint16_t free_port() {
  const unique_fd probe(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in a = loopback(0);
  socklen_t length = sizeof a;
  EXPECT_EQ(bind(probe.get(), reinterpret_cast<sockaddr*>(&a), length), 0);
  EXPECT_EQ(getsockname(probe.get(), reinterpret_cast<sockaddr*>(&a), &length), 0);
  return ntohs(a.sin_port);
}

/// How one rank fared: its answers, or why it has none.
struct fate {
  std::vector<blob> all;
  secret_bytes secret{};
  int local_ranks = 0;
  std::string why;
};

class MeetingPoint : public testing::Test {
 protected:
  [[nodiscard]] meeting_point place(int rank, int size) const {
    return {"127.0.0.1", std::to_string(port_), rank, size, secret_};
  }
  /// Joins and exchanges once, in a thread of its own.
  static std::future<fate> start(const meeting_point& where, std::uint64_t limit_ms = late_ms) {
    return std::async(std::launch::async, [where, limit_ms] {
      fate mine;
      try {
        const auto me = join_at_meeting_point(where, limit_ms);
        mine.secret = me->info().secret;
        mine.local_ranks = me->info().local_ranks;
        mine.all = test::blobs_of(me->exchange(blob(1, static_cast<std::byte>(where.rank))));
        me->barrier();
        me->joined();
      } catch (const error& e) {
        mine.why = e.what();
      }
      return mine;
    });
  }
  /// A stranger's connection to the port, once somebody listens.
  [[nodiscard]] unique_fd stranger() const {
    const sockaddr_in a = loopback(port_);
    for (;;) {
      unique_fd s(socket(AF_INET, SOCK_STREAM, 0));
      if (connect(s.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a) == 0) return s;
      usleep(1000);
    }
  }

  static blob next(sealed_link& link) {
    for (;;) {
      if (auto message = link.next()) return *message;
      if (!link.problem().empty()) return {};
      std::array<pollfd, 1> news{{{link.fd(), link.events(), 0}}};
      poll(news.data(), 1, -1);
      link.pump();
    }
  }
  /// A rank that has come, and does nothing more by itself.
  [[nodiscard]] sealed_link welcomed_guest(std::int32_t rank, std::int32_t size) const {
    using namespace meeting_point_protocol;
    sealed_link link(stranger(), secret_, sealed_link::side::guest, most_from_host(size));
    link.send(message(frame_kind::join, encode(request{size, {rank}})));
    link.pump();
    EXPECT_FALSE(next(link).empty());
    return link;
  }

  std::uint16_t port_ = free_port();
  secret_bytes secret_ = random_secret();
};

void expect_whole(const std::vector<fate>& job) {
  for (const fate& f : job) {
    EXPECT_EQ(f.why, "");
    ASSERT_EQ(f.all.size(), job.size());
    for (std::size_t r = 0; r < job.size(); ++r)
      EXPECT_EQ(f.all[r], blob(1, static_cast<std::byte>(r)));
    EXPECT_EQ(f.secret, job.front().secret);
    EXPECT_EQ(f.local_ranks, static_cast<int>(job.size()));
  }
}

TEST_F(MeetingPoint, AllRanksMeetWhicheverComesFirst) {
  std::vector<std::future<fate>> coming;
  for (const int rank : {3, 1, 0, 2}) coming.push_back(start(place(rank, 4)));
  std::vector<fate> job;
  for (auto& one : coming) job.push_back(one.get());
  expect_whole(job);
  EXPECT_NE(job.front().secret, secret_);
}

TEST_F(MeetingPoint, TwoJobsWithOneSecretFileHaveSecretsOfTheirOwn) {
  const fate first = start(place(0, 1)).get();
  const fate second = start(place(0, 1)).get();
  EXPECT_NE(first.secret, second.secret);
}

TEST_F(MeetingPoint, AWrongSecretIsTurnedAwayAndTheJobGoesOn) {
  auto zero = start(place(0, 2));
  meeting_point impostor = place(1, 2);
  impostor.secret = random_secret();
  EXPECT_THAT(start(impostor).get().why,
              AllOf(HasSubstr("turned this rank away"), HasSubstr("HEDDLE_SECRET_FILE")));
  auto one = start(place(1, 2));
  expect_whole({zero.get(), one.get()});
}

TEST_F(MeetingPoint, WhoIsHungUpOnInACrowdComesAgain) {
  const unique_fd listener(socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in a = loopback(port_);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a), 0);
  ASSERT_EQ(listen(listener.get(), 2), 0);
  const timeval patience{.tv_sec = 10, .tv_usec = 0};  // for one that does not come again
  ASSERT_EQ(setsockopt(listener.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  const auto accepted = [&] {
    return sealed_link(unique_fd(accept(listener.get(), nullptr, nullptr)), secret_,
                       sealed_link::side::host, meeting_point_protocol::most_from_stranger);
  };
  auto one = start(place(1, 2));
  {
    sealed_link unheard = accepted();
    while (!unheard.greeted()) unheard.pump();
    usleep(meeting_point_protocol::proof_limit_ns / 1000);
  }
  sealed_link link = accepted();
  EXPECT_FALSE(next(link).empty());
  link.send(
      meeting_point_protocol::message(frame_kind::failed, protocol::encode_text("come tomorrow")));
  link.pump();
  EXPECT_THAT(one.get().why, HasSubstr("come tomorrow"));
}

TEST_F(MeetingPoint, ScannersAndSilentStrangersHoldNobodyUp) {
  auto zero = start(place(0, 2));
  const unique_fd silent = stranger(), speaks = stranger();
  stranger().reset();
  ASSERT_EQ(send(speaks.get(), "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL), 18);
  char answer = 0;
  EXPECT_LE(recv(speaks.get(), &answer, 1, 0), 0);  // not a byte
  auto one = start(place(1, 2));
  expect_whole({zero.get(), one.get()});
}

TEST_F(MeetingPoint, StrangersTakeNotAllDescriptors) {
  const auto open_already = static_cast<rlim_t>(unique_fd(dup(STDERR_FILENO)).get());
  const test::limit few(RLIMIT_NOFILE, open_already + 64);
  auto zero = start(place(0, 2));
  std::vector<unique_fd> silent;
  for (int i = 0; i < 32; ++i) silent.push_back(stranger());
  auto one = start(place(1, 2));
  expect_whole({zero.get(), one.get()});
}

TEST_F(MeetingPoint, MissingRanksAreNamedToAllThatCame) {
  auto zero = start(place(0, 5), soon_ms);
  auto two = start(place(2, 5), soon_ms);
  const std::string told = "3 of 5 ranks are missing: 1, 3, 4";
  EXPECT_THAT(zero.get().why, AllOf(HasSubstr(told), HasSubstr("HEDDLE_JOIN_TIMEOUT_MS")));
  EXPECT_THAT(two.get().why, HasSubstr(told));
}

TEST_F(MeetingPoint, ARankZeroThatIsNotThereIsToldWithItsAddress) {
  const std::string why = start(place(1, 2), 1).get().why;
  EXPECT_THAT(why, AllOf(HasSubstr("127.0.0.1:" + std::to_string(port_)), HasSubstr("ECONNREFUSED"),
                         HasSubstr("is rank 0 started")));
}

TEST_F(MeetingPoint, TheSecondOfTwoProcessesWithOneRankIsRefusedByName) {
  auto zero = start(place(0, 3), soon_ms);
  const sealed_link first = welcomed_guest(1, 3);
  EXPECT_THAT(start(place(1, 3)).get().why,
              AllOf(HasSubstr("rank 1 has come already, from 127.0.0.1"),
                    HasSubstr("HEDDLE_RANK of its own")));
  EXPECT_THAT(zero.get().why, HasSubstr("1 of 3 ranks are missing: 2"));
}

TEST_F(MeetingPoint, TwoProcessesWithOneRankOnAHostEndTheMeeting) {
  auto zero = start(place(0, 3)), first = start(place(1, 3)), second = start(place(1, 3));
  for (auto* one : {&zero, &first, &second})
    EXPECT_THAT(one->get().why, HasSubstr("rank 1 has come already, from 127.0.0.1"));
}

TEST_F(MeetingPoint, ASecondRankZeroOnTheHostIsRefused) {
  const meeting_point_host zero(place(0, 2), soon_ms);
  EXPECT_THAT(start(place(0, 2)).get().why,
              AllOf(HasSubstr("port " + std::to_string(port_)), HasSubstr("HEDDLE_RANK=0")));
}

TEST_F(MeetingPoint, RanksThatDisagreeAboutTheSizeAreToldBothSizes) {
  auto zero = start(place(0, 2), soon_ms);
  EXPECT_THAT(start(place(1, 3)).get().why,
              AllOf(HasSubstr("HEDDLE_SIZE is 3"), HasSubstr("2 on rank 0")));
  (void)zero.get();
}

TEST_F(MeetingPoint, ARankThatGoesAwayWhileOthersJoinIsNamedToAll) {
  auto zero = start(place(0, 3));
  sealed_link two = welcomed_guest(2, 3);
  { const sealed_link one = welcomed_guest(1, 3); }
  EXPECT_THAT(zero.get().why, HasSubstr("rank 1 (127.0.0.1) went away"));
  EXPECT_EQ(next(two), meeting_point_protocol::message(frame_kind::starting, {}));
  const blob told = next(two);
  ASSERT_FALSE(told.empty());
  EXPECT_THAT(protocol::decode_text(std::span(told).subspan(1)),
              HasSubstr("rank 1 (127.0.0.1) went away"));
}

TEST_F(MeetingPoint, ARankZeroThatGoesAwayEndsTheOthers) {
  auto zero = std::make_unique<meeting_point_host>(place(0, 2), late_ms);
  auto one = start(place(1, 2));
  (void)zero->exchange(blob(sizeof secret_));  // that of the join
  zero.reset();
  EXPECT_THAT(one.get().why, HasSubstr("went away while the ranks joined"));
}

/// A rank in a process of its own, which joins when it is told.
class distant_rank {
 public:
  explicit distant_rank(const meeting_point& where) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    process_ = fork();
    if (process_ == 0) {
      char go = 0;
      if (read(ends[0], &go, 1) == 1) (void)join_at_meeting_point(where, late_ms);
      _exit(0);
    }
    close(ends[0]);
    go_.reset(ends[1]);
  }
  ~distant_rank() { kill_it(); }
  distant_rank(const distant_rank&) = delete;
  distant_rank& operator=(const distant_rank&) = delete;
  void start() { EXPECT_EQ(write(go_.get(), "!", 1), 1); }
  void kill_it() {
    kill(process_, SIGKILL);
    (void)waitpid(process_, nullptr, 0);
  }

 private:
  pid_t process_ = -1;
  unique_fd go_;
};

/// The test is rank 0.
class MeetingPointOfAHost : public MeetingPoint {
 protected:
  MeetingPointOfAHost() {
    const sockaddr_in a = loopback(port_);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a), 0);
    EXPECT_EQ(listen(listener_.get(), 8), 0);
  }
  /// Who leads the ranks of this host, once it has come.
  [[nodiscard]] sealed_link& leader() {
    link_.emplace(unique_fd(accept(listener_.get(), nullptr, nullptr)), secret_,
                  sealed_link::side::host, meeting_point_protocol::most_from_guest(4));
    return *link_;
  }
  /// The ranks that it has told of, when these are so many.
  [[nodiscard]] std::vector<int> ranks_told(std::size_t count) {
    std::vector<int> ranks;
    while (ranks.size() < count) {
      const auto said = meeting_point_protocol::parse(next(*link_));
      if (!said || said->kind != frame_kind::join) break;
      const auto told = meeting_point_protocol::decode_request(said->payload);
      if (!told) break;
      if (ranks.empty()) tell(frame_kind::welcome);
      ranks.insert(ranks.end(), told->ranks.begin(), told->ranks.end());
    }
    return ranks;
  }
  void tell(frame_kind kind, std::span<const std::byte> what = {}) {
    link_->send(meeting_point_protocol::message(kind, what));
    link_->pump();
  }

  unique_fd listener_{socket(AF_INET, SOCK_STREAM, 0)};
  std::optional<sealed_link> link_;
};

TEST_F(MeetingPointOfAHost, OneSpeaksForAllAndAnExchangeIsOneMessageEachWay) {
  std::vector<std::future<fate>> coming;
  coming.push_back(start(place(2, 4)));
  (void)leader();
  for (const int rank : {3, 1}) coming.push_back(start(place(rank, 4)));
  EXPECT_THAT(ranks_told(3), testing::UnorderedElementsAre(1, 2, 3));
  tell(frame_kind::starting);
  for (int exchange = 0; exchange < 3; ++exchange) {  // that of the join, the test's, its barrier
    std::vector<blob> all(4, blob(sizeof secret_));
    const auto said = meeting_point_protocol::parse(next(*link_));
    ASSERT_TRUE(said && said->kind == frame_kind::exchange);
    std::vector<int> givers;
    EXPECT_TRUE(host_gifts::decode(said->payload, 4, [&](int rank, auto given) {
      givers.push_back(rank);
      all[static_cast<std::size_t>(rank)].assign(given.begin(), given.end());
    }));
    EXPECT_THAT(givers, testing::UnorderedElementsAre(1, 2, 3));
    tell(frame_kind::everything, gathered(all).encoded());
  }
  for (auto& one : coming) {
    const fate mine = one.get();
    EXPECT_EQ(mine.why, "");
    EXPECT_EQ(mine.local_ranks, 3);
    ASSERT_EQ(mine.all.size(), 4u);
    EXPECT_EQ(mine.all[3], blob(1, std::byte{3}));
  }
}

TEST_F(MeetingPointOfAHost, ALeaderThatDiesIsNamedToItsRanks) {
  distant_rank one(place(1, 4));
  one.start();
  (void)leader();
  auto two = start(place(2, 4));
  EXPECT_THAT(ranks_told(2), testing::ElementsAre(1, 2));
  one.kill_it();
  EXPECT_THAT(two.get().why, HasSubstr("rank 1, which speaks for this host, has gone"));
}

TEST_F(MeetingPointOfAHost, ARankThatDiesIsNamedToItsLeaderAndToRankZero) {
  distant_rank two(place(2, 4));
  auto one = start(place(1, 4));
  (void)leader();
  two.start();
  EXPECT_THAT(ranks_told(2), testing::ElementsAre(1, 2));
  two.kill_it();
  tell(frame_kind::starting);
  EXPECT_FALSE(next(*link_).empty());  // it has given for the first exchange before
  tell(frame_kind::everything, gathered(std::vector<blob>(4, blob(sizeof secret_))).encoded());
  EXPECT_THAT(one.get().why, HasSubstr("rank 2 on this host has gone"));
  const auto said = meeting_point_protocol::parse(next(*link_));
  ASSERT_TRUE(said && said->kind == frame_kind::failed);
  EXPECT_THAT(protocol::decode_text(said->payload), HasSubstr("rank 2 on this host has gone"));
}

TEST_F(MeetingPointOfAHost, RanksHearWhyRankZeroEndsTheMeeting) {
  auto one = start(place(1, 4));
  (void)leader();
  auto two = start(place(2, 4));
  (void)ranks_told(2);
  tell(frame_kind::failed, protocol::encode_text("1 of 4 ranks are missing: 3"));
  EXPECT_THAT(one.get().why, HasSubstr("are missing: 3"));
  EXPECT_THAT(two.get().why, HasSubstr("are missing: 3"));
}

TEST_F(MeetingPoint, WhatALeaderGivesForRanksOfOthersEndsTheMeeting) {
  auto zero = start(place(0, 3));
  sealed_link one = welcomed_guest(1, 3), two = welcomed_guest(2, 3);
  const blob forged = host_gifts::encode({{2, blob(sizeof secret_)}});
  one.send(meeting_point_protocol::message(frame_kind::exchange, forged));
  two.send(meeting_point_protocol::message(frame_kind::exchange, forged));
  one.pump();
  two.pump();
  EXPECT_THAT(zero.get().why, HasSubstr("what rank 1 (127.0.0.1) gives for its host is malformed"));
}

TEST_F(MeetingPoint, TheEnvironmentIsCheckedWithTheCure) {
  const std::string file = testing::TempDir() + "/meeting-point-" + std::to_string(getpid());
  std::ofstream(file) << std::string(32, 's');
  chmod(file.c_str(), 0600);
  const auto refusal = [&](const char* address, const char* rank, const char* size) {
    setenv("HEDDLE_RENDEZVOUS", address, 1);
    setenv("HEDDLE_RANK", rank, 1);
    setenv("HEDDLE_SIZE", size, 1);
    setenv("HEDDLE_SECRET_FILE", file.c_str(), 1);
    try {
      const meeting_point where = place_from_environment();
      return where.host + " " + where.port;
    } catch (const error& e) {
      return std::string(e.what());
    }
  };
  EXPECT_EQ(refusal("n0:7077", "0", "2"), "n0 7077");
  EXPECT_EQ(refusal("[fd88::1]:7077", "1", "2"), "fd88::1 7077");
  for (const char* bad : {"n0", "n0:", ":7077", "n0:x", "n0:0", "n0:70777", "fd88::1", "n0:1x"})
    EXPECT_THAT(refusal(bad, "0", "2"), HasSubstr("write host:port")) << bad;
  for (const char* bad : {"2", "-1", "x", ""})
    EXPECT_THAT(refusal("n0:7077", bad, "2"), HasSubstr("HEDDLE_RANK")) << bad;
  EXPECT_EQ(refusal("n0:7077", "158975", "158976"), "n0 7077");
  for (const char* bad : {"0", "-1", "x", "", "99999999"})
    EXPECT_THAT(refusal("n0:7077", "0", bad), HasSubstr("HEDDLE_SIZE")) << bad;
  for (const char* name : {"HEDDLE_RENDEZVOUS", "HEDDLE_RANK", "HEDDLE_SIZE", "HEDDLE_SECRET_FILE"})
    unsetenv(name);
  unlink(file.c_str());
}

}  // namespace
}  // namespace heddle::bootstrap
