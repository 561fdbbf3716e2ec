// SPDX-License-Identifier: BSD-3-Clause
// ways_test.cpp - peers with several addresses, of which some lead nowhere.
#include <sys/epoll.h>

#include <algorithm>

#include "backends/tcp/address_book.h"
#include "backends/tcp/connector.h"
#include "backends/tcp/test_job.h"

namespace heddle::transport::tcp {
namespace {

rail_address at(const char* ip, std::uint16_t port) {
  rail_address a = *parse_ip(ip);
  a.port = port;
  return a;
}

std::string places(const address_book& book, rank peer) {
  std::string out;
  for (const auto& e : book.find(peer)) out += std::to_string(e.place);
  return out;
}

TEST(AddressBook, GivesBackWhatWasAddedLast) {
  address_book book(3);
  EXPECT_FALSE(book.knows(1));
  const std::vector<address_book::entry> one{{at("10.0.0.1", 7000), 0}},
      two{{at("fd00::7", 65535), 2}, {at("192.0.2.9", 1), 0}};
  book.add(1, one);
  book.add(2, one);
  book.add(2, two);
  EXPECT_FALSE(book.knows(0));
  ASSERT_EQ(book.find(1).size(), 1u);
  EXPECT_EQ(book.find(1)[0].at, one[0].at);
  ASSERT_EQ(book.find(2).size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(book.find(2)[i].at, two[i].at);
    EXPECT_EQ(book.find(2)[i].place, two[i].place);
  }
}

TEST(AddressBook, TriesFirstWhatHasAnsweredAndLastWhatHasFailedOnly) {
  address_book book(3);
  const std::vector<address_book::entry> all{
      {at("10.0.0.1", 1), 0}, {at("10.0.0.1", 2), 1}, {at("10.0.0.1", 3), 2}};
  book.add(0, all);
  book.add(1, all);
  EXPECT_EQ(places(book, 0), "012");
  book.answered(0, 1);
  book.failed(0);
  EXPECT_EQ(places(book, 0), "120");
  EXPECT_EQ(places(book, 1), "120");
  book.answered(1, 0);
  EXPECT_EQ(places(book, 0), "102");
  EXPECT_EQ(places(book, 1), "012");
}

TEST(AddressBook, TakesLittleMemoryOfAPeerWithAnAddressOfEachFamily) {
  constexpr int ranks = 1000;
  address_book book(ranks);
  EXPECT_EQ(book.bytes(), 0u);
  const std::vector<address_book::entry> both{{at("10.0.0.1", 1), 0}, {at("fd00::1", 2), 1}};
  for (rank r = 0; r < ranks; ++r) book.add(r, both);
  EXPECT_LE(book.bytes(), 2u * 32 * ranks);  // a vector may have room for twice what it holds
}

/// Somebody who is connected to and says nothing.
struct silent_listener {
  rail_address where = *parse_ip("127.0.0.1");
  unique_fd fd = listen_at(where);
};

/// A port at which nobody listens.
rail_address closed_port() {
  rail_address where = *parse_ip("127.0.0.1");
  const unique_fd listener = listen_at(where);
  return where;
}

/// Two ranks; rank 0 is told that rank 1 has `others` before its own address.
struct told_job : test_job {
  explicit told_job(const std::vector<rail_address>& others) : test_job(2) {
    whereabouts said = *parse_whereabouts(nodes[1]->dev->address());
    said.addresses.insert(said.addresses.begin(), others.begin(), others.end());
    EXPECT_EQ(nodes[0]->dev->add_peer(1, encode(said), true), "");
  }
  [[nodiscard]] tcp_device& left() const { return static_cast<tcp_device&>(*nodes[0]->dev); }
  void talk() {
    const auto text = pattern(100);
    ASSERT_EQ(post(0, send_op(1, text)), status::done);
    ASSERT_TRUE(until([&] { return nodes[1]->messages.size() == 1; }));
    EXPECT_TRUE(nodes[0]->lost.empty());
    EXPECT_TRUE(nodes[1]->lost.empty());
  }
};

TEST(Ways, ThatAreRefusedOrUnreachableArePassedOver) {
  told_job job({closed_port(), at("203.0.113.1", 9), closed_port()});
  job.talk();
  EXPECT_EQ(job.left().ways_to(1)[0].place, 3u);
}

TEST(Ways, ThatDoNotAnswerDoNotKeepOthersWaitingAndAreTriedLastFromThenOn) {
  const silent_listener silent;
  told_job job({silent.where});
  job.talk();
  const auto ways = job.left().ways_to(1);
  EXPECT_EQ(ways[0].place, 1u);
  EXPECT_EQ(ways[1].to, silent.where);
}

TEST(Ways, ThatLeadToAnotherProcessArePassedOver) {
  test_job other(2);  // of the same secret: its rank 0 proves itself, but not as rank 1
  told_job job({parse_whereabouts(other[0].dev->address())->addresses.front()});
  const auto text = pattern(100);
  ASSERT_TRUE(job.until([&] {
    other.pump();
    return job[0].post(send_op(1, text)) == status::done;
  }));
  ASSERT_TRUE(job.until([&] { return job[1].messages.size() == 1; }));
}

TEST(Ways, AllAreTriedAtOnceAndYetOneConnectionIsMade) {
  test_job job(2);
  whereabouts said = *parse_whereabouts(job[1].dev->address());
  said.addresses.assign(max_addresses, said.addresses.front());
  ASSERT_EQ(job[0].dev->add_peer(1, encode(said), true), "");
  const auto text = pattern(100);
  ASSERT_EQ(job[0].post(send_op(1, text)), status::busy_queue);
  const std::uint64_t until_ms = now_ms() + 3 * connector::patience_ms;
  while (now_ms() < until_ms) job[0].poll();  // nobody answers yet
  ASSERT_EQ(job.post(0, send_op(1, text)), status::done);
  ASSERT_TRUE(job.until([&] { return job[1].messages.size() == 1; }));
  for (int i = 0; i < 100; ++i) job.pump();
  EXPECT_TRUE(job[0].lost.empty());
  EXPECT_TRUE(job[1].lost.empty());
}

TEST(Ways, WakeASleepingLaneWhenTheNextIsToBeTried) {
  const silent_listener silent;
  told_job job({silent.where});
  const auto text = pattern(100);
  ASSERT_EQ(job[0].post(send_op(1, text)), status::busy_queue);
  while (!job[0].lane->arm()) job[0].poll();
  const unique_fd set = make_epoll();
  ASSERT_TRUE(watch(set.get(), job[0].lane->fd(), 0, EPOLLIN));
  epoll_event e{};
  EXPECT_EQ(::epoll_wait(set.get(), &e, 1, 60'000), 1);
  ASSERT_EQ(job.post(0, send_op(1, text)), status::done);
}

TEST(Ways, AreAllNamedWhenNoneLeadsToThePeer) {
  test_job job(2);
  whereabouts said = *parse_whereabouts(job[1].dev->address());
  const rail_address first = closed_port(), second = closed_port();
  said.addresses = {first, second};
  ASSERT_EQ(job[0].dev->add_peer(1, encode(said), true), "");
  const auto text = pattern(100);
  ASSERT_TRUE(job.until([&] {
    (void)job[0].post(send_op(1, text));
    return !job[0].lost.empty();
  }));
  const std::string& why = job[0].reasons[0];
  EXPECT_NE(why.find("at 127.0.0.1: Connection refused; "), std::string::npos) << why;
}

/// Two ranks of which only rank 1 has a way to the other, as to one behind a firewall.
struct one_way_job : test_job {
  one_way_job() : test_job(2) {
    whereabouts said = *parse_whereabouts(nodes[1]->dev->address());
    said.addresses = {closed_port()};
    EXPECT_EQ(nodes[0]->dev->add_peer(1, encode(said), true), "");
  }
  void until_rank_0_gave_up() {
    ASSERT_TRUE(until([&] {
      (void)nodes[0]->post(send_op(1, text));
      return nodes[0]->lost == std::vector<rank>{1};
    }));
  }
  const std::vector<std::byte> text = pattern(100);
};

// The peer has a moment for that, which passes if this process has no core meanwhile: then once
// more.
TEST(Ways, WhoFindsNoneUsesTheOneThatThePeerIsMaking) {
  for (int tries = 1;; ++tries) {
    one_way_job job;
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(job[0].post(send_op(1, job.text)), status::busy_queue);
      job[0].poll();
    }
    ASSERT_EQ(job.post(1, send_op(0, job.text)), status::done);
    if (job.post(0, send_op(1, job.text)) == status::done) {
      EXPECT_TRUE(job.until([&] { return job[0].messages.size() + job[1].messages.size() == 2; }));
      EXPECT_TRUE(job[0].lost.empty());
      return;
    }
    ASSERT_LT(tries, 20);
  }
}

TEST(Ways, WhoFindsNoneStillServesThePeerThatFindsOne) {
  one_way_job job;
  job.until_rank_0_gave_up();
  std::vector<std::byte> memory(job.text.size());
  const memory::region_ref region = job[0].regions.add(memory, rights::all).ref;
  EXPECT_EQ(job.run(1, put_op(0, region, 0, job.text)), status::done);
  EXPECT_EQ(memory, job.text);
  EXPECT_EQ(job.post(0, send_op(1, job.text)), status::peer_lost);
  EXPECT_TRUE(job[1].lost.empty());
  job.nodes[1].reset();
  for (int i = 0; i < 100; ++i) job[0].poll();
  EXPECT_EQ(job[0].lost, std::vector<rank>{1}) << "it is told once";
}

TEST(Ways, APeerThatTheEngineHasDroppedIsNotServed) {
  one_way_job job;
  job.until_rank_0_gave_up();
  job[0].lane->drop(*job[0].lane->reach(1, 0));
  ASSERT_TRUE(job.until([&] {
    (void)job[1].post(send_op(0, job.text));
    return job[1].lost == std::vector<rank>{0};
  }));
}

/// What a rank that listens on `iface` says of one of another host that gives these addresses.
std::string refusal(const std::string& iface, std::vector<rail_address> theirs) {
  const test_job job(2, iface);
  return job.nodes[1]->dev->add_peer(0, encode({std::move(theirs), 0}), false);
}

TEST(Ways, ThatCannotLeadToAnotherHostAreRefusedWithTheCure) {
  const std::string loop = refusal("lo", {at("127.0.0.1", 1)});
  EXPECT_NE(loop.find("loopback does not leave the host"), std::string::npos) << loop;
  EXPECT_NE(loop.find("HEDDLE_TCP_IFACE"), std::string::npos) << loop;
  const std::string other = refusal("lo", {at("fd00::1", 1)});
  EXPECT_NE(other.find("not the same IP version"), std::string::npos) << other;
}

TEST(Ways, ToAnAddressThatBothHostsHaveAreNotTaken) {
  for (const interface_address& i : list_interfaces()) {
    if (i.address.loopback() || i.address.link_local()) continue;
    rail_address same = i.address;
    same.port = 1;
    const std::string why = refusal(i.address.text(), {same});
    EXPECT_NE(why.find("both hosts have that address"), std::string::npos) << why;
    rail_address other = same;
    other.ip[3] ^= 1;
    EXPECT_EQ(refusal(i.address.text(), {same, other}), "");
    return;
  }
  GTEST_SKIP() << "this host has loopback only";
}

}  // namespace
}  // namespace heddle::transport::tcp
