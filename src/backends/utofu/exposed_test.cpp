// SPDX-License-Identifier: BSD-3-Clause
// exposed_test.cpp - regions as the hardware knows them: who may write, and how many there may be.
#include "backends/utofu/exposed.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace heddle::transport::utofu {
namespace {

constexpr std::size_t tags_of_a_queue = tag_end - tag_writable;

/// One queue, its regions, and the work requests of a peer that believes nothing but the hardware.
struct Exposed : testing::Test {
  Exposed() {
    const vcq& only = *vcqs.front();
    EXPECT_EQ(utofu_reg_mem(only.handle(), here.data(), here.size(), 0, &here_at), UTOFU_SUCCESS);
  }
  ~Exposed() override { (void)utofu_dereg_mem(vcqs.front()->handle(), here_at, 0); }

  memory::local_region expose(std::span<std::byte> what, rights allowed = rights::all) {
    const memory::local_region made = table.add(what, allowed);
    regions.add(made);
    return made;
  }
  void withdraw(const memory::local_region& what) {
    regions.remove(what.ref);
    table.remove(what.ref);
  }
  /// What the owner tells its peers.
  region_entry entry_of(const memory::local_region& region) {
    utofu_stadd_t at = 0;
    EXPECT_EQ(utofu_query_stadd(vcqs.front()->id(), tag_regions, &at), UTOFU_SUCCESS);
    at += region.ref.slot * sizeof(region_entry);
    EXPECT_EQ(utofu_get(vcqs.front()->handle(), vcqs.front()->id(), here_at, at,
                        sizeof(region_entry), 0, UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, nullptr),
              UTOFU_SUCCESS);
    EXPECT_EQ(outcome(), UTOFU_SUCCESS);
    region_entry found;
    std::memcpy(&found, here.data(), sizeof found);
    return found;
  }
  /// What the hardware says to a put of eight bytes there.
  int put(utofu_stadd_t there) {
    EXPECT_EQ(utofu_put_piggyback8(vcqs.front()->handle(), vcqs.front()->id(), 42, there, 8, 0,
                                   UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, nullptr),
              UTOFU_SUCCESS);
    return outcome();
  }
  /// The same of a get.
  int get(utofu_stadd_t there) {
    EXPECT_EQ(utofu_get(vcqs.front()->handle(), vcqs.front()->id(), here_at, there, 8, 0,
                        UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, nullptr),
              UTOFU_SUCCESS);
    return outcome();
  }
  int outcome() {
    utofu_mrq_notice notice;
    int code = UTOFU_ERR_NOT_FOUND;
    while ((code = utofu_poll_mrq(vcqs.front()->handle(), 0, &notice)) == UTOFU_ERR_NOT_FOUND) {
      void* cookie = nullptr;
      (void)utofu_poll_tcq(vcqs.front()->handle(), 0, &cookie);
      sched_yield();
    }
    return code;
  }

  settings config;
  std::vector<std::unique_ptr<vcq>> vcqs = make_vcqs(usable_tnis(), 1, 1);
  exposed_regions regions{vcqs, config};
  memory::region_table table;
  std::vector<std::byte> memory = std::vector<std::byte>(1 << 16), here = memory;
  utofu_stadd_t here_at = 0;
};

TEST_F(Exposed, TheHardwareRefusesToWriteWhereOnlyReadingIsAllowed) {
  const memory::local_region readable = expose(memory, rights::read);
  const utofu_stadd_t at = entry_of(readable).address;
  ASSERT_NE(at, 0u);
  EXPECT_EQ(put(at), UTOFU_ERR_MRQ_RMT_MEMORY);
  EXPECT_TRUE(
      std::all_of(memory.begin(), memory.end(), [](std::byte b) { return b == std::byte{0}; }));
  withdraw(readable);
  for (const rights allowed : {rights::write, rights::atomic, rights::all}) {
    const memory::local_region writable = expose(memory, allowed);
    EXPECT_EQ(put(entry_of(writable).address), UTOFU_SUCCESS);
    withdraw(writable);
  }
}

TEST_F(Exposed, WhatIsRevokedCannotBeReadAnyMore) {
  const memory::local_region lent = expose(memory, rights::read);
  const utofu_stadd_t at = entry_of(lent).address;
  EXPECT_EQ(get(at), UTOFU_SUCCESS);
  regions.revoke(lent);
  table.remove(lent.ref);
  EXPECT_NE(get(at), UTOFU_SUCCESS);
}

TEST_F(Exposed, ConstantDataCanBeRead) {
  static constexpr std::array<std::byte, 1 << 16> constant{};
  const memory::local_region region =
      expose({const_cast<std::byte*>(constant.data()), constant.size()}, rights::read);
  EXPECT_NE(entry_of(region).address, 0u);
  withdraw(region);
  EXPECT_EQ(regions.refused(), 0u);
}

TEST_F(Exposed, AnyNumberMayComeAndGo) {
  for (std::size_t i = 0; i < 5 * tags_of_a_queue; ++i) {
    const memory::local_region region = expose(memory);
    ASSERT_NE(entry_of(region).address, 0u);
    withdraw(region);
  }
  EXPECT_EQ(regions.refused(), 0u);
}

TEST_F(Exposed, WarnsOnceOfTheManyThatGoByMessages) {
  testing::internal::CaptureStderr();
  std::vector<memory::local_region> alive;
  for (std::size_t i = 0; i < tags_of_a_queue + 100; ++i) alive.push_back(expose(memory));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_EQ(regions.refused(), 100u);
  EXPECT_EQ(entry_of(alive.back()).address, 0u);
  for (const memory::local_region& region : alive) withdraw(region);
}

}  // namespace
}  // namespace heddle::transport::utofu
