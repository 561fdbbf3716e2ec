// SPDX-License-Identifier: BSD-3-Clause
// segment_test.cpp - memory for peers: what other processes can get of it.
#include "memory/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

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

}  // namespace
}  // namespace heddle::memory
