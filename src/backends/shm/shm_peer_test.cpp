// SPDX-License-Identifier: BSD-3-Clause
// shm_peer_test.cpp - what is said by peers that lie, and what is left of peers that die.
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>

#include "backends/shm/forked_rank.h"
#include "backends/shm/link.h"
#include "backends/shm/ring_file.h"
#include "base/clock.h"

namespace heddle::transport::shm {
namespace {

using strings = std::vector<std::string>;

TEST(ShmAddPeer, TellsWhyAPeerCannotBeReached) {
  test_rank a(0), b(1);
  const address_blob good = blob_of(b);
  const auto changed = [&](const std::function<void(address_blob&)>& change) {
    address_blob blob = good;
    change(blob);
    return add(a, 1, blob);
  };
  EXPECT_THAT(add(a, 1, good, false), testing::HasSubstr("another host"));
  EXPECT_THAT(add(a, 2, good), testing::HasSubstr("that of rank 1"));
  EXPECT_THAT(changed([](auto& blob) { ++blob.magic; }), testing::HasSubstr("version"));
  EXPECT_THAT(changed([](auto& blob) { --blob.bytes; }), testing::HasSubstr("version"));
  EXPECT_THAT(changed([](auto& blob) { blob.pid = -1; }), testing::HasSubstr("no process"));
  EXPECT_THAT(changed([](auto& blob) { blob.pid = 0x3fff'ffff; }), testing::HasSubstr("watch"));
  EXPECT_THAT(changed([](auto& blob) { ++blob.owner.pid_namespace; }),
              testing::HasSubstr("in another pid namespace"));
  EXPECT_THAT(changed([](auto& blob) { blob.secret[3] ^= std::byte{1}; }),
              testing::HasSubstr("not the one"));
  EXPECT_THAT(changed([](auto& blob) { blob.segment_fd = -7; }), testing::HasSubstr("cannot open"));
  EXPECT_THAT(changed([](auto& blob) { blob.segment_fd = 1 << 30; }),
              testing::HasSubstr("cannot open"));
  const bell_pipe pipe = make_bell();
  EXPECT_THAT(changed([&](auto& blob) { blob.segment_fd = pipe.read.get(); }),
              testing::HasSubstr("not what it was said to be"));
  const owned_fd small = make_sealed_memory("small", 4096);
  EXPECT_THAT(changed([&](auto& blob) { blob.segment_fd = small.get(); }),
              testing::HasSubstr("4096 bytes instead of"));
  EXPECT_THAT(a.dev->add_peer(1, {}, true), testing::HasSubstr("0 bytes"));
  EXPECT_EQ(add(a, 1, good), "");
}

TEST(ShmAddPeer, RefusesMemoryThatCouldShrink) {
  test_rank a(0), b(1);
  const owned_fd loose(memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(loose.get(), sizeof(segment)), 0);
  address_blob blob = blob_of(b);
  blob.segment_fd = loose.get();
  EXPECT_THAT(add(a, 1, blob), testing::HasSubstr("not sealed"));
}

TEST(ShmCore, IsSharedWithPeersThatWaitThereAndNotWithOnesThatAreLost) {
  const auto ranks = test_ranks(3);
  for (const rank peer : {1, 2}) ASSERT_NE(ranks[0]->lane->reach(peer, 0), nullptr);
  EXPECT_FALSE(ranks[0]->lane->shares_core(5));
  (void)ranks[1]->lane->shares_core(5);  // says where it waits
  EXPECT_TRUE(ranks[0]->lane->shares_core(5));
  EXPECT_FALSE(ranks[0]->lane->shares_core(6));
  ranks[0]->drop(1);
  EXPECT_FALSE(ranks[0]->lane->shares_core(5));
}

/// Rank 0 of this process beside a segment that the test fills as it likes, as rank 1.
struct ShmLiar : testing::Test {
  ShmLiar() {
    ranks = test_ranks(2);
    blob = blob_of(*ranks[0]);
    file = open_of_process(getpid(), blob.segment_fd, file_kind::memory);
    view = mapping(file.get(), sizeof(segment), "rank 0's segment");
  }
  segment& victim() { return *reinterpret_cast<segment*>(view.data()); }
  void announce(std::uint64_t rank_word, std::uint64_t fd_word) {
    ASSERT_TRUE(victim().lanes[0].rings.append(rank_word << 32 | fd_word));
  }
  token secret_of_liar() { return blob_of(*ranks[1]).secret; }
  /// It might be about to end: that is waited for a little.
  void poll_until_lost() {
    const std::uint64_t begin = now_ns();
    while (ranks[0]->lost.empty() && now_ns() - begin < 10'000'000'000) {
      ranks[0]->poll();
      ranks[0]->lane->maintain();
    }
    EXPECT_EQ(ranks[0]->lost, std::vector<rank>{1});
  }

  std::vector<std::unique_ptr<test_rank>> ranks;
  address_blob blob;
  owned_fd file;
  mapping view;
};

TEST_F(ShmLiar, IsLostWhenItAnnouncesWhatIsNoRing) {
  const bell_pipe pipe = make_bell();
  announce(2, static_cast<std::uint64_t>(pipe.read.get()));
  poll_until_lost();
  EXPECT_EQ(ranks[0]->send(1, "x"), status::peer_lost);
  EXPECT_NE(static_cast<link*>(ranks[0]->lane->reach(1, 0))->why().find("not what it was said"),
            std::string::npos);
}

TEST_F(ShmLiar, IsIgnoredWhenItSpeaksForARankThatDoesNotExist) {
  announce(0x8000'0000, 5);
  announce(0xffff'ffff, 0xffff'ffff);
  announce(4, 1);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(ranks[0]->poll(), 0u);
  ASSERT_EQ(ranks[1]->send(0, "still works"), status::done);
  ranks[0]->poll();
  EXPECT_EQ(ranks[0]->got, strings{"still works"});
}

TEST_F(ShmLiar, IsLostWhenTheRingIsMeantForSomebodyElse) {
  const ring_file ring = create_ring({1, 0, 3, 0, secret_of_liar()}, 4096);
  announce(2, static_cast<std::uint64_t>(ring.fd.get()));
  poll_until_lost();
}

TEST_F(ShmLiar, IsLostAfterItsGoodMessagesWhenTheRingTurnsToNonsense) {
  ring_file ring = create_ring({1, 0, 0, 0, secret_of_liar()}, 4096);
  sync::ring_producer honest(ring.place);
  const message_head head;
  ASSERT_TRUE(honest.try_push(std::as_bytes(std::span(&head, 1)), {}, bytes_of("good")));
  const std::uint64_t nonsense = 0x8000'0000'0000'ffff;
  std::memcpy(ring.place.line(1), &nonsense, sizeof nonsense);
  announce(2, static_cast<std::uint64_t>(ring.fd.get()));
  ranks[0]->poll();
  EXPECT_EQ(ranks[0]->got, strings{"good"});
  EXPECT_EQ(ranks[0]->lost, std::vector<rank>{1});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ranks[0]->poll(), 0u);
  EXPECT_TRUE(ranks[0]->lane->arm());
}

TEST_F(ShmLiar, CannotMakeItsPeersRingSomethingElse) {
  victim().lanes[0].asleep.mark_asleep();
  const owned_fd precious = make_sealed_memory("precious", 4096);
  for (const int fd : {-2, 1 << 30, precious.get()}) {
    victim().lanes[0].bell.set(fd);
    victim().lanes[0].asleep.mark_asleep();
    EXPECT_EQ(ranks[1]->send(0, "x"), status::done);
  }
}

std::ptrdiff_t descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

struct ShmBelief : testing::Test, believer {};

TEST_F(ShmBelief, CostsNoDescriptorUntilThePeerIsNeeded) {
  const auto before = descriptors();
  for (rank like = 2; like < 20; ++like) {
    first.address.rank = like;
    EXPECT_EQ(add(here, like, first.address), "");
  }
  EXPECT_EQ(descriptors(), before);
}

TEST_F(ShmBelief, EndsWithTheLossOfAPeerThatIsNotWhatItSaid) {
  first.address.rank = 2;
  ASSERT_EQ(add(here, 2, first.address), "");
  EXPECT_EQ(here.send(2, "x"), status::peer_lost);
  here.poll();
  EXPECT_EQ(here.lost, std::vector<rank>{2});
  detail::remote_target target;
  EXPECT_THROW((void)here.dev->import(2, memory::region_table::symmetric_ref(0), target), error);
}

TEST_F(ShmBelief, OfAnOtherUserIsNoneBeforeOneOfItsPeersWasTried) {
  ++first.address.owner.user;
  first.address.rank = 2;
  EXPECT_THAT(add(here, 2, first.address), testing::HasSubstr("not the one"));
}

peer_address place_of(const forked_rank& peer) {
  const address_blob& said = peer.address;
  return {said.rank, said.pid, said.segment_fd, said.secret};
}

TEST_F(ShmBelief, IsNotFoundedOnAPeerThatEndsAsItIsTried) {
  const credentials& kind = first.address.owner;
  known_peers peers(false, 2);
  const auto ended = peers.open_first_of(kind, place_of(first));
  first.kill_it();
  EXPECT_FALSE(ended->allows_copies());
  EXPECT_TRUE(ended->is_gone());
  peers.add(kind, place_of(first), ended);
  const forked_rank second(
      here, [](test_rank&, int) {}, 2);
  EXPECT_NE(peers.open_first_of(kind, place_of(second)), nullptr);
}

TEST_F(ShmBelief, BecomesKnowledgeWhenAMessageComes) {
  forked_rank second(
      here, [](test_rank& me, int) { must_send(me, "first words"); }, 2);
  second.join();
  ASSERT_TRUE(here.sleep());
  EXPECT_EQ(here.got, strings{"first words"});
  EXPECT_EQ(here.send(2, "answer"), status::done);
  second.kill_it();
  ASSERT_TRUE(here.sleep());
  EXPECT_EQ(here.lost, std::vector<rank>{2});
}

TEST_F(ShmBelief, InAPeerThatHasEndedMeanwhileEndsAtTheFirstPost) {
  forked_rank second(
      here, [](test_rank&, int) {}, 2);
  second.join();
  second.kill_it();
  EXPECT_EQ(here.send(2, "x"), status::peer_lost);
  here.poll();
  EXPECT_EQ(here.lost, std::vector<rank>{2});
  EXPECT_EQ(here.send(0, "to myself"), status::done);
}

TEST_F(ShmBelief, IsEnoughToWakeAPeerWhoseRingNobodyHasLookedAt) {
  const bell_pipe sent = make_bell();
  forked_rank second(
      here,
      [&](test_rank& me, int) {
        must_send(me, "unread");
        ring_bell(sent.write.get());
        if (!me.sleep() || me.lost != std::vector<rank>{0}) _exit(6);
      },
      2);
  pollfd news{sent.read.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&news, 1, -1), 1);
  here.lane.reset();
  here.dev.reset();
  second.join();
}

void wait_for_go(int from) {
  char byte = 0;
  if (read(from, &byte, 1) != 1) _exit(4);
}

TEST(ShmDeath, DeliversWhatWasSentAndThenReportsTheLoss) {
  test_rank here(0);
  forked_rank there(here, [](test_rank& me, int go) {
    must_send(me, "one");
    wait_for_go(go);
    must_send(me, "two");
    must_send(me, "three");
  });
  here.open_lane();
  ASSERT_TRUE(here.sleep());
  EXPECT_EQ(here.got, strings{"one"});
  there.go_on();
  there.join();
  there.kill_it();
  here.poll();
  EXPECT_EQ(here.got, (strings{"one", "two", "three"}));
  here.lane->maintain();
  here.poll();
  EXPECT_EQ(here.lost, std::vector<rank>{1});
  EXPECT_EQ(here.send(1, "x"), status::peer_lost);
  EXPECT_TRUE(here.lane->idle());
}

/// As in a process that exits: its files go first.
TEST(ShmDeath, IsTheReasonAlsoWhereTheRingHasGoneBeforeTheProcess) {
  test_rank here(0);
  forked_rank there(here, [](test_rank& me, int go) {
    wait_for_go(go);
    must_send(me, "one");
    for (int fd = STDERR_FILENO + 1; fd < 1000; ++fd) {
      struct stat about {};
      if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) close(fd);
    }
  });
  here.open_lane();
  there.go_on();
  there.join();
  EXPECT_EQ(here.poll(), 0u);
  EXPECT_TRUE(here.lost.empty()) << "it may end yet";
  there.kill_it();
  here.lane->maintain();
  here.poll();
  EXPECT_EQ(here.lost, std::vector<rank>{1});
  EXPECT_NE(static_cast<link*>(here.lane->reach(1, 0))->why().find("has ended"), std::string::npos);
}

TEST(ShmDeath, WakesASleeperThatNeverTalkedToThePeer) {
  test_rank here(0);
  here.open_lane();
  forked_rank there(here, [](test_rank&, int) {});
  there.join();
  ASSERT_EQ(here.poll(), 0u);
  ASSERT_TRUE(here.lane->arm());
  std::thread killer([&] { there.kill_it(); });
  EXPECT_TRUE(here.sleep());
  killer.join();
  EXPECT_EQ(here.lost, std::vector<rank>{1});
  EXPECT_EQ(here.poll(), 0u);
  EXPECT_TRUE(here.lane->arm());  // said once
}

/// A thread that is told, as by valgrind 3.19 and old kernels, that there is no pidfd_open, nor
/// have the processes that it forks.
void without_pidfd(int told, const std::function<void()>& body) {
  std::thread([&] {
    std::array filter{
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(told)),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{filter.size(), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
      GTEST_SKIP() << "no filter can be set here";
    }
    body();
  }).join();
}

class ShmDeathWithoutPidfd : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Errors, ShmDeathWithoutPidfd, testing::Values(ENOSYS, EPERM));

TEST_P(ShmDeathWithoutPidfd, IsSeenByASleeperAndByASender) {
  without_pidfd(GetParam(), [] {
    test_rank here(0);
    here.open_lane();
    forked_rank there(here, [](test_rank& me, int) { must_send(me, "one"); });
    there.join();
    ASSERT_TRUE(here.sleep());
    EXPECT_EQ(here.got, strings{"one"});
    EXPECT_EQ(here.send(1, "still there"), status::done);
    EXPECT_EQ(here.poll(), 0u);
    ASSERT_TRUE(here.lane->arm());
    std::thread killer([&] { there.kill_it(); });
    EXPECT_TRUE(here.sleep());
    killer.join();
    EXPECT_EQ(here.lost, std::vector<rank>{1});
    EXPECT_EQ(here.send(1, "x"), status::peer_lost);
    EXPECT_TRUE(here.lane->arm());  // said once
  });
}

TEST(ShmDeath, WakesASenderBlockedOnTheRing) {
  test_rank here(0);
  forked_rank there(here, [](test_rank&, int) {});
  there.join();
  here.open_lane();
  while (here.send(1, "x") == status::done) {
  }
  here.poll();
  ASSERT_TRUE(here.lane->arm());
  std::thread killer([&] { there.kill_it(); });
  EXPECT_TRUE(here.sleep());
  killer.join();
  EXPECT_EQ(here.send(1, "x"), status::peer_lost);
}

TEST(ShmDeath, TakesTheDeadRanksRegionsAway) {
  test_rank here(0);
  const memory::region_ref ref = memory::region_table::symmetric_ref(0);
  forked_rank there(here, [&](test_rank& me, int) {
    static std::array<std::byte, 64> plain;
    static const owned_fd file = make_sealed_memory("region", 4096);
    static const mapping memory(file.get(), 4096, "region");
    me.dev->expose(me.regions.add_at(ref, {memory.data(), 4096}, rights::all, {file.get(), true}));
    me.dev->expose(
        me.regions.add_at(memory::region_table::symmetric_ref(1), plain, rights::all, {}));
  });
  there.join();
  here.open_lane();
  detail::remote_target target;
  const auto keep = here.dev->import(1, ref, target);
  ASSERT_NE(keep, nullptr);
  EXPECT_TRUE(target.live->is(target.generation));
  std::array<std::byte, 8> bytes{};
  const bool native = (here.dev->describe().native & only(op_kind::get)) != 0;
  EXPECT_EQ(here.copy(op_kind::get, 1, memory::region_table::symmetric_ref(1), 0, bytes),
            native ? status::done : status::unsupported);
  there.kill_it();
  if (native) {
    EXPECT_EQ(here.copy(op_kind::get, 1, memory::region_table::symmetric_ref(1), 0, bytes),
              status::peer_lost);
  }
  EXPECT_TRUE(here.sleep());
  EXPECT_FALSE(target.live->is(target.generation));
  EXPECT_THROW((void)here.dev->import(1, ref, target), error);
}

TEST(ShmDeath, LeavesOtherPeersAlone) {
  auto ranks = test_ranks(1);
  forked_rank there(*ranks[0], [](test_rank& me, int) { must_send(me, "x"); });
  there.join();
  ASSERT_TRUE(ranks[0]->sleep());
  there.kill_it();
  ASSERT_TRUE(ranks[0]->sleep());
  EXPECT_EQ(ranks[0]->lost, std::vector<rank>{1});
  EXPECT_EQ(ranks[0]->send(0, "to myself"), status::done);
  ranks[0]->poll();
  EXPECT_EQ(ranks[0]->got, (strings{"x", "to myself"}));
}

}  // namespace
}  // namespace heddle::transport::shm
