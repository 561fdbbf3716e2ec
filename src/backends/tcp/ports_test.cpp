// SPDX-License-Identifier: BSD-3-Clause
// ports_test.cpp - listening within a range of ports, and being known by another address.
#include "backends/tcp/ports.h"

#include <fmt/format.h>
#include <unistd.h>

#include <set>

#include "backends/tcp/relay.h"
#include "backends/tcp/tcp.h"
#include "base/error.h"

namespace heddle::transport::tcp {
namespace {

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const error& e) {
    return e.what();
  }
  return {};
}

/// A loopback address that no other process uses.
rail_address local() {
  const auto id = static_cast<unsigned>(::getpid());
  return *parse_ip(
      fmt::format("127.{}.{}.{}", 1 + id / 62500 % 250, 1 + id / 250 % 250, 1 + id % 250));
}

/// So many ports in a row, none of which is taken at the moment.
port_range free_ports(std::uint16_t count) {
  for (std::uint16_t first = 20'000; first < 30'000;
       first = static_cast<std::uint16_t>(first + count)) {
    std::vector<unique_fd> all;
    for (std::uint16_t i = 0; i < count; ++i) {
      rail_address at = local();
      at.port = static_cast<std::uint16_t>(first + i);
      all.push_back(try_to_listen_at(at));
    }
    if (std::ranges::all_of(all, [](const unique_fd& f) { return static_cast<bool>(f); }))
      return {first, static_cast<std::uint16_t>(first + count - 1)};
  }
  ADD_FAILURE() << "no " << count << " free ports in a row";
  return {};
}

TEST(Ports, AreOneARangeOrAny) {
  EXPECT_EQ(parse_ports(""), (port_range{0, 0}));
  EXPECT_EQ(parse_ports("7000"), (port_range{7000, 7000}));
  EXPECT_EQ(parse_ports("7000-7099"), (port_range{7000, 7099}));
  EXPECT_EQ(parse_ports("1-65535"), (port_range{1, 65535}));
  for (const char* bad :
       {"x", "0", "7000-", "-7000", "7099-7000", "7000-70000", "7000-7001x", "1,2"})
    EXPECT_NE(refusal([&] { (void)parse_ports(bad); }).find("HEDDLE_TCP_PORTS"), std::string::npos)
        << bad;
}

TEST(Ports, AreTakenOneByOneUntilNoneIsLeft) {
  const port_range range = free_ports(3);
  std::vector<unique_fd> listeners;
  std::set<std::uint16_t> taken;
  for (std::uint32_t number : {5u, 5u, 6u}) {
    rail_address at = local();
    listeners.push_back(listen_within(at, range, number));
    EXPECT_GE(at.port, range.first);
    EXPECT_LE(at.port, range.last);
    taken.insert(at.port);
  }
  EXPECT_EQ(taken.size(), 3u);
  rail_address one_more = local();
  const std::string why = refusal([&] { (void)listen_within(one_more, range, 0); });
  EXPECT_NE(why.find("are taken"), std::string::npos) << why;
  EXPECT_NE(why.find("HEDDLE_TCP_PORTS"), std::string::npos) << why;
}

TEST(Ports, OfAnEarlierJobAreFreeWhileItsConnectionsAreNotQuiteOver) {
  const port_range range = free_ports(1);
  rail_address at = local();
  {
    const unique_fd listener = listen_within(at, range, 0);
    const unique_fd client = connect_to(local(), at);
    unique_fd server;
    while (!server) server = accept_from(listener.get());
    server.reset();  // closes first, and so waits
  }
  rail_address again = local();
  EXPECT_EQ(refusal([&] { (void)listen_within(again, range, 0); }), "");
  EXPECT_EQ(again.port, range.first);
}

TEST(Advertised, IsWhatPeersAreToldWithThePortThatIsListenedAt) {
  std::vector<rail_address> listening{*parse_ip("10.0.0.1"), *parse_ip("fd00::1")};
  listening[0].port = 7000;
  listening[1].port = 7001;
  EXPECT_EQ(with_ports({}, listening), listening);
  const auto told = with_ports({*parse_ip("fd00::9"), *parse_ip("192.0.2.1")}, listening);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].port, 7001);
  EXPECT_EQ(told[1].port, 7000);
  listening.pop_back();
  EXPECT_NE(refusal([&] {
              (void)with_ports({*parse_ip("fd00::9")}, listening);
            }).find("listens at 10.0.0.1 only"),
            std::string::npos);
}

TEST(Advertised, AllIsOfTheOnlyRailOrOneOfEach) {
  const auto v4 = *parse_ip("192.0.2.1"), v6 = *parse_ip("fd00::9");
  using rails = std::vector<std::vector<rail_address>>;
  EXPECT_EQ(parse_advertised("", 2), rails(2));
  EXPECT_EQ(parse_advertised("192.0.2.1,fd00::9", 1), (rails{{v4, v6}}));
  EXPECT_EQ(parse_advertised("192.0.2.1,fd00::9", 2), (rails{{v4}, {v6}}));
  EXPECT_NE(refusal([] { (void)parse_advertised("192.0.2.1", 2); }).find("for 2 rails"),
            std::string::npos);
  EXPECT_NE(refusal([] { (void)parse_advertised("here", 1); }).find("'here'"), std::string::npos);
}

// As behind a NAT: the rank listens at one address, and others get there by another.
TEST(Advertised, AddressIsWhereOthersConnect) {
  const settings plain = small_fragments();
  test_job job(1, "lo", plain);
  auto hidden = std::make_unique<test_node>();
  hidden->config = plain;
  hidden->config.others["HEDDLE_TCP_IFACE"] = "127.0.0.1";
  hidden->config.others["HEDDLE_TCP_ADVERTISE"] = "127.0.0.2";
  const auto open = [](test_node& n, rank self) {
    return std::move(tcp_factory()
                         .open(tcp_factory(), context{.self = self,
                                                      .size = 2,
                                                      .job_secret = test_secret,
                                                      .config = &n.config,
                                                      .regions = &n.regions})
                         .front()
                         .device);
  };
  hidden->dev = open(*hidden, 1);
  hidden->lane = hidden->dev->make_endpoint(0);
  const auto said = parse_whereabouts(hidden->dev->address());
  ASSERT_EQ(said->addresses.front().text(), "127.0.0.2");
  relay nat(*hidden->dev, said->addresses.front());
  job.nodes[0] = test_job::open(0, 2, "lo", plain);
  ASSERT_EQ(job[0].dev->add_peer(1, hidden->dev->address(), true), "");
  ASSERT_EQ(hidden->dev->add_peer(0, job[0].dev->address(), true), "");
  job.nodes.push_back(std::move(hidden));
  const auto text = pattern(100);
  const test_op o = send_op(1, text);
  ASSERT_TRUE(job.until([&] {
    nat.pump();
    return job[0].post(o) == status::done;
  }));
  ASSERT_TRUE(job.until([&] {
    nat.pump();
    return !job[1].messages.empty();
  }));
  EXPECT_EQ(job[1].messages[0], text);
  EXPECT_EQ(nat.records().size(), 1u);
}

}  // namespace
}  // namespace heddle::transport::tcp
