// SPDX-License-Identifier: BSD-3-Clause
// compare_hosts_test.cpp - what people see of hosts that differ.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "info/host_facts.h"

namespace heddle::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

host_report host(const std::string& name, const std::string& memory) {
  return {name,
          {{"facts", {{"heddle", "0.1.0"}, {"memory", memory}}},
           {"addresses", {{"eth0", {"10.0.0.1", "fd88::1"}}}}}};
}

TEST(CompareHosts, WhatIsAlikeIsShownOnce) {
  const auto text = compare_hosts({host("a", "8 GiB"), host("b", "8 GiB")});
  EXPECT_THAT(text, AllOf(HasSubstr("2 hosts: a, b\n"), HasSubstr("\n  memory  8 GiB\n"),
                          HasSubstr("do not differ"), Not(HasSubstr("!"))));
}

TEST(CompareHosts, WhatDiffersIsMarkedWithEachValueAndItsHosts) {
  const auto text = compare_hosts({host("a", "4 GiB"), host("b", "8 GiB"), host("c", "8 GiB")});
  EXPECT_THAT(text, AllOf(HasSubstr("\n! memory  8 GiB  b, c\n          4 GiB  a\n"),
                          HasSubstr("! 1 of 2 facts differ"), HasSubstr("\n  heddle  0.1.0\n")));
}

TEST(CompareHosts, AFactThatOneHostDoesNotTellDiffers) {
  auto silent = host("b", "");
  silent.told["facts"].erase("memory");
  EXPECT_THAT(compare_hosts({host("a", "4 GiB"), silent}), HasSubstr("not told  b\n"));
  EXPECT_THAT(compare_hosts({host("a", "4 GiB"), {"b", nlohmann::ordered_json::object()}}),
              HasSubstr("! 2 of 2 facts differ"));
}

TEST(CompareHosts, AddressesAreListedByHostAndInterface) {
  const auto text =
      compare_hosts({host("a", "8"), {"long-name", nlohmann::ordered_json::object()}});
  EXPECT_THAT(text, AllOf(HasSubstr("  a          eth0  10.0.0.1 fd88::1\n"),
                          HasSubstr("  long-name  none but its own")));
}

}  // namespace
}  // namespace heddle::tools
