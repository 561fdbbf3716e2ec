// SPDX-License-Identifier: BSD-3-Clause
// rounds_test.cpp - a library of known cost: on a clock that only this cost moves, harness and
// kernels report it exactly.
#include "harness/rounds.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/kernels.h"

namespace heddle::bench {
namespace {

using std::chrono::nanoseconds;
using time_point = std::chrono::steady_clock::time_point;

time_point virtual_now;
time_point read_virtual_clock() {
  return virtual_now;
}

constexpr nanoseconds cost{250};

/// A library whose partner is itself: what it begins costs 250 ns and has happened.
class known_path {
 public:
  using place = std::size_t;
  static constexpr bool handler_answers = true;

  [[nodiscard]] place at(std::size_t offset) const { return offset; }
  [[nodiscard]] std::byte* here(std::size_t offset) { return &table_[offset]; }
  void put_word(std::uint64_t value, place to, std::uint64_t bytes = sizeof(std::uint64_t)) {
    pay();
    std::memcpy(&table_[to], &value, bytes);
  }
  void put(place) { pay(); }
  void put_told(place) { arrive(); }
  void get(place) { pay(); }
  void fetch_add(place) { pay(); }
  void send(message) { pay(); }
  void recv(message) {}
  void deliver(message) { pay(); }
  void call(message) { arrive(); }
  [[nodiscard]] std::uint64_t arrived() const { return arrived_; }
  void await_arrived(std::uint64_t count) const { EXPECT_EQ(arrived_, count); }
  void drain() {}
  void flush() {}
  void progress() {}
  void notify() {}
  void await_notice() {}

 private:
  static void pay() { virtual_now += cost; }
  void arrive() {
    pay();
    ++arrived_;
  }
  std::vector<std::byte> table_ = std::vector<std::byte>(3 << 20);
  std::uint64_t arrived_ = 0;
};

struct known_library {
  static std::unique_ptr<known_path> make_path(int) { return std::make_unique<known_path>(); }
};

/// A partner that is always ready.
class nobody final : public partner {
 public:
  void tell(std::span<const std::byte>) override {}
  void hear(std::span<std::byte> bytes) override {
    for (std::byte& b : bytes) b = std::byte{1};
  }
};

constexpr operation all_operations[]{operation::put, operation::get, operation::fetch_add,
                                     operation::am, operation::tag};

round_result measured(const spec& s, time_source now) {
  known_library library;
  nobody other;
  rounds all(other, s, make_kernels(library, s, false), now);
  (void)all.lead();
  return all.lead();
}

spec of(kind what, operation op, std::uint64_t bytes) {
  return {.what = what, .op = op, .bytes = bytes, .time = std::chrono::milliseconds(10)};
}

TEST(Rounds, ReportTheKnownCostOfALibraryExactly) {
  for (const operation op : all_operations) {
    for (const kind what : {kind::latency, kind::rate}) {
      const spec s = of(what, op, 8);
      EXPECT_NEAR(measured(s, read_virtual_clock).figures.front(),
                  figure(s, share_of_trip(s) * 250e-9), 1e-6)
          << name_of(what) << name_of(op);
    }
  }
  const spec told = of(kind::latency, operation::put, 4096);
  EXPECT_NEAR(measured(told, read_virtual_clock).figures.front(), 0.125, 1e-9);
}

TEST(Rounds, TakeTheP99OfALatencyFromSingleOperations) {
  EXPECT_NEAR(measured(of(kind::latency, operation::get, 8), read_virtual_clock).p99, 0.25, 1e-9);
  EXPECT_EQ(measured(of(kind::rate, operation::get, 8), read_virtual_clock).p99, 0);
}

// In real time the library costs next to nothing: what is printed is the harness itself.
TEST(Rounds, PrintTheirOwnCostInRealTime) {
  for (const operation op : all_operations) {
    for (const kind what : {kind::latency, kind::rate}) {
      const spec s = of(what, op, 8);
      const double found = measured(s, std::chrono::steady_clock::now).figures.front();
      fmt::print("{} {} of nothing: {:.4g} {}\n", name_of(op), name_of(what), found,
                 metrics_of(s).front().unit);
      EXPECT_GT(found, 0);
    }
  }
}

/// Offers nothing at all.
struct empty_library {
  struct path {
    using place = std::size_t;
  };
  static std::unique_ptr<path> make_path(int) { return std::make_unique<path>(); }
};

TEST(Kernels, AreRefusedWhereALibraryDoesNotOfferTheOperation) {
  for (const operation op : all_operations) {
    empty_library library;
    EXPECT_THROW((void)make_kernel(library, {.what = {.op = op}}), not_offered);
  }
}

}  // namespace
}  // namespace heddle::bench
