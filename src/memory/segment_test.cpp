// SPDX-License-Identifier: BSD-3-Clause
// segment_test.cpp - memory for peers: what other processes can get of it.
#include "memory/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <heddle/status.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "support/resource_limits.h"

namespace heddle::memory {
namespace {

constexpr std::size_t bytes = 4096;

std::byte* map(const segment& s, int access) {
  void* const at = mmap(nullptr, bytes, access, MAP_SHARED, s.fd(), 0);
  return at != MAP_FAILED ? static_cast<std::byte*>(at) : nullptr;
}

TEST(Segment, IsTheSameMemoryForWhoeverMapsIt) {
  const segment mine("test", bytes);
  std::byte* const theirs = map(mine, PROT_READ | PROT_WRITE);
  ASSERT_NE(theirs, nullptr);
  mine.memory()[0] = std::byte{1};
  EXPECT_EQ(theirs[0], std::byte{1});
  theirs[1] = std::byte{2};
  EXPECT_EQ(mine.memory()[1], std::byte{2});
  munmap(theirs, bytes);
}

TEST(Segment, ForReadingCanBeWrittenToByItsOwnerAlone) {
  const segment mine("test", bytes, peers::only_read);
  if ((fcntl(mine.fd(), F_GET_SEALS) & F_SEAL_FUTURE_WRITE) == 0)
    GTEST_SKIP() << "this kernel cannot do it (before Linux 5.1)";
  EXPECT_EQ(map(mine, PROT_READ | PROT_WRITE), nullptr);
  EXPECT_EQ(errno, EPERM);
  std::byte* const theirs = map(mine, PROT_READ);
  ASSERT_NE(theirs, nullptr);
  EXPECT_NE(mprotect(theirs, bytes, PROT_READ | PROT_WRITE), 0);
  mine.memory()[0] = std::byte{1};
  EXPECT_EQ(theirs[0], std::byte{1});
  munmap(theirs, bytes);
}

TEST(Segment, CannotChangeItsSizeOrItsSeals) {
  for (const peers may : {peers::write, peers::only_read}) {
    const segment mine("test", bytes, may);
    EXPECT_NE(ftruncate(mine.fd(), 0), 0);
    EXPECT_NE(ftruncate(mine.fd(), 2 * bytes), 0);
    EXPECT_NE(fcntl(mine.fd(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  }
}

TEST(Segment, BeyondTheLimitOfFileSizesIsRefusedWithTheCure) {
  const test::limit few(RLIMIT_FSIZE, bytes / 2);
  try {
    const segment mine("test", bytes, peers::write);
    FAIL() << "it was made";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("ulimit -v, -n, -f"), std::string::npos) << e.what();
  }
}

// --- huge pages --------------------------------------------------------------------------

constexpr std::size_t huge = 2u << 20;

/// Of the mapping that `at` lies in, what stands in /proc/self/smaps behind `field`.
std::string said_of(const void* at, const std::string& field) {
  std::ifstream smaps("/proc/self/smaps");
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%zx-%zx ", &begin, &end) == 2)
      inside = begin <= address && address < end;
    if (inside && line.starts_with(field + ":")) return line.substr(field.size() + 1);
  }
  return {};
}

bool kernel_has_huge_pages() {
  return std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good();
}

TEST(Segment, ThatFillsHalfOfItsHugePagesConsistsOfThemAndAsksForThem) {
  if (!kernel_has_huge_pages()) GTEST_SKIP() << "this kernel has none";
  for (const std::size_t size : {huge / 2, huge, huge + 1, 5 * huge / 2, 3 * huge - 1}) {
    for (const peers may : {peers::none, peers::write}) {
      const segment mine("test", size, may);
      EXPECT_EQ(mine.memory().size(), (size + huge - 1) / huge * huge);
      EXPECT_NE(said_of(mine.memory().data(), "VmFlags").find(" hg"), std::string::npos) << size;
    }
    const segment alone("test", size, peers::none);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(alone.memory().data()) % huge, 0u);
  }
}

TEST(Segment, ThatIsSmallerTakesNoMoreThanThePagesThatAreTouched) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, bytes, bytes + 1, huge / 2 - bytes}) {
    const segment mine("test", size, peers::none);
    EXPECT_LT(mine.memory().size(),
              std::max(size, std::size_t{1}) + static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
    EXPECT_EQ(said_of(mine.memory().data(), "VmFlags").find(" hg"), std::string::npos) << size;
  }
}

TEST(Segment, ForNobodyElseIsZeroedWritableAndHasNoDescriptor) {
  for (const std::size_t size : {bytes, 3 * huge}) {
    const segment mine("test", size, peers::none);
    EXPECT_EQ(mine.fd(), -1);
    EXPECT_EQ(mine.memory().front(), std::byte{0});
    EXPECT_EQ(mine.memory().back(), std::byte{0});
    mine.memory().back() = std::byte{1};
  }
}

TEST(Segment, ForNobodyElseIsGivenBackWhole) {
  const auto address_space = [] {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages;
  };
  { const segment warm_up("test", 3 * huge, peers::none); }
  const std::size_t before = address_space();
  for (int i = 0; i < 20; ++i) const segment mine("test", 3 * huge, peers::none);
  EXPECT_LT(address_space(), before + huge / bytes);
}

TEST(Segment, ThatIsTooLargeIsRefusedWhoeverIsToMapIt) {
  for (const peers may : {peers::none, peers::write})
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4})
      EXPECT_THROW(segment("test", size, may), error) << size;
}

}  // namespace
}  // namespace heddle::memory
