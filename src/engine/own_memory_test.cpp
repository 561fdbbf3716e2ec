// SPDX-License-Identifier: BSD-3-Clause
// own_memory_test.cpp - memory that Heddle allocates: a file's only where peers map it, and to its
// own rank no other memory than it is.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "support/ranks.h"
#include "support/wires.h"

namespace heddle::test {
namespace {

/// Whether `at` lies in a mapping of a file.
bool is_of_a_file(const void* at) {
  std::ifstream maps("/proc/self/maps");
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> begin >> dash >> end;
    if (begin <= address && address < end) return line.find("/memfd:") != std::string::npos;
  }
  return false;
}

/// All memory that Heddle allocates in a world of so many ranks.
void expect_files(int ranks, const settings& config, bool expected) {
  run_ranks(ranks, config, [expected](world& w) {
    const region some = w.allocate(100);
    const auto array = w.symmetric<std::uint64_t>(3);
    EXPECT_EQ(is_of_a_file(some.memory().data()), expected);
    EXPECT_EQ(is_of_a_file(array.local().data()), expected);
    w.barrier();
  });
}

TEST(OwnMemory, IsAFilesWhereItsWireMapsOrReachesFiles) {
  for (const known_wire& wire : wires()) {
    if (!why_not_over(wire.name).empty()) continue;
    SCOPED_TRACE(wire.name);
    run_ranks(2, settings_for(wire.name), [](world& w) {
      const region some = w.allocate(100);
      const transport::traits& wire_can = w.core().network().devices().front()->describe();
      EXPECT_EQ(is_of_a_file(some.memory().data()), wire_can.maps_files || wire_can.reaches_files);
      w.barrier();
    });
  }
}

TEST(OwnMemory, IsAFilesOnlyWhereAPeerMapsIt) {
  expect_files(2, settings_for("shm,tcp"), true);
  expect_files(1, settings_for("shm,tcp"), false);
  settings unmapped = settings_for("shm");
  unmapped.faults = "map=off";
  expect_files(2, unmapped, false);
}

TEST(OwnMemory, IsMappedForItsOwnRankWhereItLies) {
  for (const int ranks : {1, 2}) {
    run_ranks(ranks, settings_for("shm"), [](world& w) {
      lane l(w);
      const region mine = w.allocate(100, rights::read | rights::write);
      const remote_region again = w.import(mine.key());
      ASSERT_TRUE(again.mapped());
      EXPECT_EQ(again.mapped_memory().data(), mine.memory().data());
      EXPECT_EQ(again.bytes(), 100u);
      EXPECT_EQ(l.put(std::uint64_t{7}, again.at_item<std::uint64_t>(1)), status::done);
      EXPECT_EQ(mine.memory()[8], std::byte{7});
      std::uint64_t old = 0;
      EXPECT_EQ(l.fetch_add(again.at_item<std::uint64_t>(1), std::uint64_t{1}, old),
                status::denied);
      EXPECT_EQ(l.put(std::uint64_t{7}, again.at_item<std::uint64_t>(12)), status::out_of_bounds);
      w.barrier();
    });
  }
}

TEST(OwnMemory, StaysForWhoHasItMappedWhenItIsWithdrawn) {
  run_ranks(1, settings_for("shm"), [](world& w) {
    lane l(w);
    region mine = w.allocate(1 << 20);
    const remote_region again = w.import(mine.key());
    std::byte& first = again.mapped_memory().front();
    mine.withdraw();
    first = std::byte{1};
    EXPECT_EQ(first, std::byte{1});
    EXPECT_TRUE(again.mapped_memory().empty());
    EXPECT_EQ(l.put(std::uint64_t{7}, again.at_item<std::uint64_t>(0)), status::withdrawn);
  });
}

}  // namespace
}  // namespace heddle::test
