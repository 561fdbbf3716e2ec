// SPDX-License-Identifier: BSD-3-Clause
// shm_region_test.cpp - peers' regions: mapped ones, and copies by the kernel for other memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>

#include "backends/shm/test_rank.h"

namespace heddle::transport::shm {
namespace {

constexpr rights all = rights::all;

/// Memory of rank `of` that peers can address, for as long as it lives.
class exposed {
 public:
  exposed(test_rank& of, std::span<std::byte> memory, rights allowed, int memfd = -1)
      : owner_(of), region_(of.regions.add(memory, allowed, {memfd, memfd >= 0})) {
    owner_.dev->expose(region_);
  }
  ~exposed() { withdraw(); }
  void withdraw() {
    if (region_.ref.generation == 0 || owner_.dev == nullptr) return;
    owner_.dev->withdraw(region_);
    owner_.regions.remove(region_.ref);
    region_ = {};
  }
  [[nodiscard]] memory::region_ref ref() const { return region_.ref; }

 private:
  test_rank& owner_;
  memory::local_region region_;
};

/// Two ranks, and memory of rank 0 holding 0, 1, 2, ...
struct ShmRegion : testing::Test {
  ShmRegion() : ranks(test_ranks(2)), memory(256), here(64) { fill(memory); }
  static void fill(std::span<std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  }
  status get(memory::region_ref region, std::uint64_t offset) {
    return ranks[1]->copy(op_kind::get, 0, region, offset, here);
  }
  status put(memory::region_ref region, std::uint64_t offset) {
    return ranks[1]->copy(op_kind::put, 0, region, offset, here);
  }
  [[nodiscard]] bool native() const {
    return (ranks[1]->dev->describe().native & only(op_kind::put)) != 0;
  }

  std::vector<std::unique_ptr<test_rank>> ranks;
  std::vector<std::byte> memory, here;
};

#define SKIP_UNLESS_NATIVE() \
  if (!native()) GTEST_SKIP() << "this kernel forbids process_vm_readv"

TEST_F(ShmRegion, GetsAndPutsOrdinaryMemoryByItself) {
  SKIP_UNLESS_NATIVE();
  const exposed region(*ranks[0], memory, all);
  ASSERT_EQ(get(region.ref(), 100), status::done);
  EXPECT_EQ(std::memcmp(here.data(), memory.data() + 100, here.size()), 0);
  ASSERT_EQ(put(region.ref(), 10), status::done);
  EXPECT_EQ(std::memcmp(here.data(), memory.data() + 10, here.size()), 0);
  EXPECT_EQ(memory[9], std::byte{9});
  EXPECT_EQ(memory[10 + 64], std::byte{10 + 64});
}

// Where the source begins at 1000 in its page and the destination at 1024, some CPUs let the kernel
// copy byte by byte.
TEST_F(ShmRegion, PutsAWordInOnePieceWhereverItComesFrom) {
  SKIP_UNLESS_NATIVE();
  const auto stamp = [](std::uint64_t round) { return round * 0x9E3779B97F4A7C15u; };
  const auto round_of = [](std::uint64_t word) { return word * 0xF1DE83E19937733Du; };
  struct alignas(4096) page {
    std::array<std::uint64_t, 512> words{};
  };
  const auto from = std::make_unique<page>(), to = std::make_unique<page>();
  const exposed region(*ranks[0], std::as_writable_bytes(std::span(to->words)), all);
  constexpr std::uint64_t rounds = 50'000;
  std::uint64_t torn = 0;
  std::thread looking([&] {
    const std::atomic_ref<std::uint64_t> word(to->words[128]);
    for (std::uint64_t seen = 0; seen != rounds;) {
      seen = round_of(word.load(std::memory_order_relaxed));  // alone: nothing else is read
      torn += seen > rounds ? 1 : 0;
    }
  });
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    from->words[125] = stamp(round);
    EXPECT_EQ(ranks[1]->copy(op_kind::put, 0, region.ref(), 1024,
                             std::as_writable_bytes(std::span(from->words)).subspan(1000, 8)),
              status::done);
  }
  looking.join();
  EXPECT_EQ(torn, 0u);
}

TEST_F(ShmRegion, CopiesMoreThanOnePiece) {
  SKIP_UNLESS_NATIVE();
  std::vector<std::byte> large(20'000'003), copy(large.size() - 5);
  fill(large);
  const exposed region(*ranks[0], large, all);
  ASSERT_EQ(ranks[1]->copy(op_kind::get, 0, region.ref(), 5, copy), status::done);
  EXPECT_EQ(std::memcmp(copy.data(), large.data() + 5, copy.size()), 0);
  EXPECT_EQ(ranks[1]->copy(op_kind::get, 0, region.ref(), 6, copy), status::out_of_bounds);
}

TEST_F(ShmRegion, RefusesWhatLeavesTheRegionAndTouchesNothing) {
  SKIP_UNLESS_NATIVE();
  const exposed region(*ranks[0], std::span(memory).subspan(64, 128), all);
  const std::vector<std::byte> before = memory;
  for (const std::uint64_t offset :
       {std::uint64_t{65}, std::uint64_t{129}, ~std::uint64_t{0}, ~std::uint64_t{0} - 63}) {
    EXPECT_EQ(put(region.ref(), offset), status::out_of_bounds);
    EXPECT_EQ(get(region.ref(), offset), status::out_of_bounds);
  }
  EXPECT_EQ(memory, before);
}

TEST_F(ShmRegion, ObeysTheRights) {
  SKIP_UNLESS_NATIVE();
  const exposed readable(*ranks[0], memory, rights::read);
  const exposed writable(*ranks[0], memory, rights::write);
  EXPECT_EQ(get(readable.ref(), 0), status::done);
  EXPECT_EQ(put(readable.ref(), 0), status::denied);
  EXPECT_EQ(get(writable.ref(), 0), status::denied);
  EXPECT_EQ(put(writable.ref(), 0), status::done);
}

TEST_F(ShmRegion, FindsNothingUnderAStaleOrForgedRef) {
  SKIP_UNLESS_NATIVE();
  exposed region(*ranks[0], memory, all);
  const memory::region_ref ref = region.ref();
  EXPECT_EQ(get({ref.slot, ref.generation + 1}, 0), status::withdrawn);
  EXPECT_EQ(get({ref.slot + 1, ref.generation}, 0), status::withdrawn);
  EXPECT_EQ(get({memory::region_table::slots, 1}, 0), status::withdrawn);
  EXPECT_EQ(get({~0u, ~0u}, 0), status::withdrawn);
  EXPECT_EQ(get({ref.slot, 0}, 0), status::withdrawn);
  region.withdraw();
  EXPECT_EQ(get(ref, 0), status::withdrawn);
  const exposed next(*ranks[0], memory, all);
  EXPECT_EQ(next.ref().slot, ref.slot);
  EXPECT_EQ(get(ref, 0), status::withdrawn);
  EXPECT_EQ(get(next.ref(), 0), status::done);
}

TEST_F(ShmRegion, AnswersOutOfBoundsWhenThePromisedMemoryIsNotThere) {
  SKIP_UNLESS_NATIVE();
  void* const gone = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const exposed region(*ranks[0], {static_cast<std::byte*>(gone), 4096}, all);
  EXPECT_EQ(get(region.ref(), 0), status::out_of_bounds);
  munmap(gone, 4096);
}

TEST_F(ShmRegion, DoesNotCopyWhenToldNotTo) {
  settings config = small_rings();
  config.others["HEDDLE_SHM_CMA"] = "off";
  auto two = test_ranks(2, config);
  EXPECT_EQ(two[0]->dev->describe().native, only(op_kind::send));
  const exposed region(*two[0], memory, all);
  EXPECT_EQ(two[1]->copy(op_kind::get, 0, region.ref(), 0, here), status::unsupported);
  EXPECT_EQ(two[1]->copy(op_kind::atomic, 0, region.ref(), 0, here), status::unsupported);
}

/// Rank 0's exposed memfd.
struct ShmImport : ShmRegion {
  static constexpr std::size_t bytes = 10'000;
  ShmImport()
      : file(make_sealed_memory("test", bytes)),
        mine(file.get(), bytes, "test"),
        region(*ranks[0], {mine.data(), bytes}, all, file.get()) {}
  std::shared_ptr<void> import(memory::region_ref ref) {
    return ranks[1]->dev->import(0, ref, target);
  }

  owned_fd file;
  mapping mine;
  exposed region;
  detail::remote_target target;
};

TEST_F(ShmImport, GivesTheSameMemoryToBothRanks) {
  const auto keep = import(region.ref());
  ASSERT_NE(keep, nullptr);
  ASSERT_NE(target.direct, nullptr);
  EXPECT_NE(target.direct, mine.data());
  EXPECT_EQ(target.bytes, bytes);
  target.direct[9'999] = std::byte{42};
  EXPECT_EQ(mine.data()[9'999], std::byte{42});
}

TEST_F(ShmImport, MapsARegionOnceWhileItIsInUse) {
  const auto first = import(region.ref());
  std::byte* const at = target.direct;
  EXPECT_EQ(import(region.ref()), first);
  EXPECT_EQ(target.direct, at);
}

TEST_F(ShmImport, SeesTheWithdrawalAtOnceAndMayStillTouchTheMemory) {
  const auto keep = import(region.ref());
  EXPECT_TRUE(target.live->is(target.generation));
  const memory::region_ref ref = region.ref();
  region.withdraw();
  EXPECT_FALSE(target.live->is(target.generation));
  target.direct[0] = std::byte{1};
  EXPECT_THROW(import({ref.slot, ref.generation + 5}), error);
  ranks[1].reset();  // the mapping needs no device
  target.direct[1] = std::byte{1};
  EXPECT_FALSE(target.live->is(target.generation));
}

TEST_F(ShmImport, SaysNothingToMapForOrdinaryMemoryAndUnknownRanks) {
  const exposed plain(*ranks[0], memory, all);
  EXPECT_EQ(import(plain.ref()), nullptr);
  EXPECT_EQ(ranks[1]->dev->import(3, region.ref(), target), nullptr);
  EXPECT_EQ(target.direct, nullptr);
}

TEST_F(ShmImport, ThrowsForARegionThatCannotExist) {
  EXPECT_THROW(import({memory::region_table::slots, 1}), error);
  EXPECT_THROW(import({region.ref().slot, region.ref().generation + 1}), error);
  EXPECT_THROW(import({17, 0}), error);
}

TEST_F(ShmImport, RefusesMemoryThatCouldShrinkOrIsTooSmall) {
  const owned_fd loose(memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(loose.get(), bytes), 0);
  const exposed shrinkable(*ranks[0], {mine.data(), bytes}, all, loose.get());
  EXPECT_THROW(import(shrinkable.ref()), error);
  const owned_fd small = make_sealed_memory("small", bytes - 1);
  const exposed too_small(*ranks[0], {mine.data(), bytes}, all, small.get());
  EXPECT_THROW(import(too_small.ref()), error);
  const exposed no_file(*ranks[0], {mine.data(), bytes}, all, 999'999);
  EXPECT_THROW(import(no_file.ref()), error);
  const bell_pipe pipe = make_bell();
  const exposed not_memory(*ranks[0], {mine.data(), bytes}, all, pipe.read.get());
  EXPECT_THROW(import(not_memory.ref()), error);
}

TEST_F(ShmImport, FindsRegionsOfAHungUpRankWithdrawn) {
  const auto keep = import(region.ref());
  ASSERT_EQ(ranks[1]->send(0, "x"), status::done);
  ranks[0]->lane = nullptr;
  ranks[0]->dev = nullptr;
  ranks[1]->lane->maintain();
  ranks[1]->poll();
  EXPECT_EQ(ranks[1]->lost, std::vector<rank>{0});
  EXPECT_FALSE(target.live->is(target.generation));
  EXPECT_THROW(import(region.ref()), error);
}

}  // namespace
}  // namespace heddle::transport::shm
