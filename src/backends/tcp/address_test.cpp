// SPDX-License-Identifier: BSD-3-Clause
// address_test.cpp - which addresses rails get, and how they travel.
#include "backends/tcp/address.h"

#include <gtest/gtest.h>
#include <heddle/status.h>

#include "backends/tcp/interfaces.h"

namespace heddle::transport::tcp {
namespace {

interface_address on(const char* name, const char* ip) {
  return {name, *parse_ip(ip)};
}

const std::vector<interface_address> host{
    on("lo", "127.0.0.1"), on("lo", "::1"),         on("eth0", "fe80::1"),
    on("eth0", "fd00::2"), on("eth0", "192.0.2.2"), on("ib0", "fe80::7"),
    on("ib0", "fd01::3"),  on("eth1", "192.0.2.9"), on("tap0", "fe80::9")};

std::string chosen(const std::string& wanted, const std::vector<interface_address>& from = host) {
  std::string out;
  for (const rail& r : choose_rails(wanted, from)) {
    out += out.empty() ? "" : " ";
    for (const rail_address& a : r.addresses)
      out += (a == r.addresses.front() ? "" : "+") + a.text();
  }
  return out;
}

TEST(Interfaces, ANameStandsForItsAddressesIPv4FirstAndLinkLocalOnesOnlyWhereThereIsNoOther) {
  EXPECT_EQ(chosen("eth0"), "192.0.2.2+fd00::2");
  EXPECT_EQ(chosen("ib0"), "fd01::3");
  EXPECT_EQ(chosen("tap0"), "fe80::9");
  EXPECT_EQ(chosen("lo"), "127.0.0.1");
}

TEST(Interfaces, EveryItemOfTheListIsARail) {
  EXPECT_EQ(chosen("eth0,eth1,ib0"), "192.0.2.2+fd00::2 192.0.2.9 fd01::3");
  EXPECT_EQ(chosen("::1,fd00::2"), "::1 fd00::2");
}

TEST(Interfaces, AnEmptyListIsOneRailOfAllThatLeavesTheHostBridgesLast) {
  EXPECT_EQ(chosen(""), "fd00::2+192.0.2.2+fd01::3+192.0.2.9");
  EXPECT_FALSE(choose_rails("", host)[0].bound);
  EXPECT_TRUE(choose_rails("eth0", host)[0].bound);
  std::vector<interface_address> with_docker{on("docker0", "172.17.0.1"), on("eth0", "192.0.2.2")};
  with_docker[0].is_bridge = true;
  EXPECT_EQ(chosen("", with_docker), "192.0.2.2+172.17.0.1");
  EXPECT_EQ(chosen("", {host[0], host[1]}), "127.0.0.1");
  EXPECT_THROW(chosen("", {}), error);
}

TEST(Interfaces, ASubnetStandsForTheAddressesInIt) {
  EXPECT_EQ(chosen("192.0.2.0/24"), "192.0.2.2+192.0.2.9");
  EXPECT_EQ(chosen("192.0.2.8/29,fd00::/64"), "192.0.2.9 fd00::2");
  EXPECT_EQ(chosen("fd00::/15"), "fd00::2+fd01::3");
  EXPECT_EQ(chosen("0.0.0.0/0,!127.0.0.0/8"), "192.0.2.2+192.0.2.9");
}

TEST(Interfaces, WhatHasAMarkIsLeftOutWhetherItIsThereOrNot) {
  EXPECT_EQ(chosen("!eth0"), "fd01::3+192.0.2.9");
  EXPECT_EQ(chosen("!docker0,!172.17.0.0/16,!203.0.113.1"), chosen(""));
  EXPECT_EQ(chosen("!192.0.2.0/24,!fd01::3"), "fd00::2");
  EXPECT_EQ(chosen("eth0,!fd00::/8"), "192.0.2.2");
  EXPECT_EQ(chosen("!eth0,!eth1,!ib0"), "127.0.0.1");  // as on a host that has nothing else
  EXPECT_FALSE(choose_rails("!eth0", host)[0].bound);
}

/// Why it is refused.
std::string refused(const std::string& wanted) {
  try {
    return "not refused: " + chosen(wanted);
  } catch (const error& e) {
    return e.what();
  }
}

TEST(Interfaces, WhatMeansNothingHereIsRefusedAndSaysWhatThereIs) {
  for (const char* wanted : {"eth7", "203.0.113.1", "203.0.113.0/24", "eth0,!eth0", "eth0,,eth1"})
    EXPECT_NE(refused(wanted).find("ib0 (fd01::3)"), std::string::npos) << refused(wanted);
  for (const char* wanted : {"192.0.2.0/33", "192.0.2.0/", "192.0.2.0/x", "192.0.2.0/-1", "/8",
                             "fd00::/129", "!", "!192.0.2.0/33", "!eth0/3"})
    EXPECT_NE(refused(wanted).find(std::string("'") + wanted + "', which is no subnet such as"),
              std::string::npos)
        << refused(wanted);
  EXPECT_NE(refused("!lo,!eth0,!eth1,!ib0,!tap0").find("leaves out all"), std::string::npos);
}

TEST(Interfaces, RefusesMoreRailsThanThereMayBe) {
  EXPECT_THROW(chosen("lo,lo,lo,lo,lo,lo,lo,lo,lo"), error);
}

TEST(Interfaces, ARailHasSoManyAddressesAtMost) {
  std::vector<interface_address> many;
  for (int i = 1; i < 20; ++i) many.push_back(on("eth0", ("10.0.0." + std::to_string(i)).c_str()));
  EXPECT_EQ(choose_rails("eth0", many)[0].addresses.size(), max_addresses);
  EXPECT_EQ(choose_rails("", many)[0].addresses.size(), max_addresses);
}

TEST(Address, KnowsHowFarTwoAreTheSame) {
  const auto bits = [](const char* a, const char* b) {
    return parse_ip(a)->bits_in_common(*parse_ip(b));
  };
  EXPECT_EQ(bits("10.0.0.1", "10.0.0.1"), 32);
  EXPECT_EQ(bits("10.0.0.1", "10.0.0.0"), 31);
  EXPECT_EQ(bits("10.0.0.1", "10.128.0.1"), 8);
  EXPECT_EQ(bits("10.0.0.1", "138.0.0.1"), 0);
  EXPECT_EQ(bits("fd00::1", "fd00::1"), 128);
  EXPECT_EQ(bits("fd00::1", "fd00::3"), 126);
  EXPECT_EQ(bits("10.0.0.1", "fd00::1"), -1);
}

TEST(Address, KnowsLoopbackAndLinkLocal) {
  EXPECT_TRUE(parse_ip("127.3.2.1")->loopback());
  EXPECT_TRUE(parse_ip("::1")->loopback());
  EXPECT_FALSE(parse_ip("::2")->loopback());
  EXPECT_FALSE(parse_ip("10.0.0.1")->loopback());
  EXPECT_TRUE(parse_ip("fe80::1")->link_local());
  EXPECT_FALSE(parse_ip("fd00::1")->link_local());
  EXPECT_FALSE(parse_ip("10.0.0.300"));
  EXPECT_FALSE(parse_ip(""));
}

TEST(Address, AddressesSurviveTheTripAndTheKernelsForm) {
  std::vector<rail_address> all{*parse_ip("192.0.2.2"), *parse_ip("fd00::2")};
  all[0].port = 1234;
  all[1].port = 65535;
  const whereabouts said{all, every_algorithm};
  EXPECT_EQ(parse_whereabouts(encode(said)), said);
  for (const auto& r : all) EXPECT_EQ(from_socket(to_socket(r).get()), r);
}

}  // namespace
}  // namespace heddle::transport::tcp
