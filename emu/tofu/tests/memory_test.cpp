// SPDX-License-Identifier: BSD-3-Clause
// Registered memory: STADDs, tags, protection.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "lane.h"

using namespace nodes;

namespace {

constexpr std::size_t page = 65536;

/// What a put of 8 bytes to a STADD of our own VCQ comes to: its MRQ code.
int put_code(const lane& mine, utofu_stadd_t to, unsigned long flags = 0) {
  EXPECT_EQ(utofu_put_piggyback8(mine.vcq, mine.id, 1, to, 8, 9, flags | local, nullptr),
            UTOFU_SUCCESS);
  void* cbdata = nullptr;
  EXPECT_EQ(utofu_poll_tcq(mine.vcq, 0, &cbdata), UTOFU_ERR_NOT_FOUND) << "it was sent";
  utofu_mrq_notice notice;
  const int code = mine.await_mrq(notice);
  EXPECT_EQ(notice.notice_type, UTOFU_MRQ_TYPE_LCL_PUT);
  EXPECT_EQ(notice.vcq_id, mine.id);
  EXPECT_EQ(notice.edata, 9u);
  return code;
}

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}
std::ptrdiff_t mappings() {
  std::ifstream lines("/proc/self/maps");
  return std::count(std::istreambuf_iterator(lines), {}, '\n');
}

utofu_stadd_t must_register(const lane& mine, void* at, std::size_t bytes,
                            unsigned long flags = 0) {
  utofu_stadd_t stadd = 0;
  EXPECT_EQ(utofu_reg_mem(mine.vcq, at, bytes, flags, &stadd), UTOFU_SUCCESS);
  return stadd;
}

TEST(Memory, StaddsCountBytes) {
  alone({{"PAGE", "65536"}}, [] {
    const lane mine;
    EXPECT_EQ(must_register(mine, mine.memory.data() + 1000, 8), mine.stadd + 1000);
    EXPECT_EQ(put_code(mine, mine.stadd + 24), UTOFU_SUCCESS);
    EXPECT_EQ(mine.memory.as<std::uint64_t>(24), 1u);
  });
}

TEST(Memory, TheSamePagesOnOneCqHaveOneStaddAndOnAnotherAnother) {
  alone({}, [] {
    const lane mine(0, UTOFU_VCQ_FLAG_EXCLUSIVE), other(0, UTOFU_VCQ_FLAG_EXCLUSIVE);
    EXPECT_EQ(must_register(mine, mine.memory.data(), page), mine.stadd);
    EXPECT_NE(must_register(mine, mine.memory.data(), page, UTOFU_REG_MEM_FLAG_READ_ONLY),
              mine.stadd);
    EXPECT_NE(must_register(other, mine.memory.data(), page), mine.stadd);
  });
}

TEST(Memory, AReservedTagIsPredictable) {
  run(2, {}, [](unsigned me, board& all) {
    const lane mine;
    publish(all, me, mine);
    pages area(page);
    utofu_stadd_t by_tag = 0, said = 0;
    ASSERT_EQ(utofu_reg_mem_with_stag(mine.vcq, area.data(), page, 11, 0, &by_tag), UTOFU_SUCCESS);
    ASSERT_EQ(utofu_query_stadd(mine.id, 11, &said), UTOFU_SUCCESS);
    EXPECT_EQ(said, by_tag);
    EXPECT_EQ(utofu_reg_mem_with_stag(mine.vcq, area.data(), page, 11, 0, &said), UTOFU_ERR_USED);
    all.meet(2);
    const address peer = address_of(all, 1 - me);
    ASSERT_EQ(utofu_query_stadd(peer.id, 11, &said), UTOFU_SUCCESS);
    ASSERT_EQ(utofu_put_piggyback8(mine.vcq, peer.id, 42, said + 16, 8, 0, tcq, nullptr),
              UTOFU_SUCCESS);
    all.meet(2);
    EXPECT_EQ(area.as<std::uint64_t>(16), 42u);
    all.meet(2);
  });
}

TEST(Memory, TagsOfVcqsOnOneCqDoNotMeet) {
  alone({}, [] {
    const lane first, second;
    utofu_stadd_t a = 0, b = 0;
    EXPECT_EQ(utofu_reg_mem_with_stag(first.vcq, first.memory.data(), 8, 0, 0, &a), UTOFU_SUCCESS);
    EXPECT_EQ(utofu_reg_mem_with_stag(second.vcq, first.memory.data(), 8, 0, 0, &b), UTOFU_SUCCESS);
    EXPECT_NE(a, b);
    EXPECT_EQ(utofu_reg_mem_with_stag(first.vcq, first.memory.data(), 8, 256, 0, &a),
              UTOFU_ERR_INVALID_STAG);
  });
}

TEST(Memory, ATagOfAnUnalignedAddressKeepsItsLowByte) {
  alone({}, [] {
    const lane mine;
    utofu_stadd_t stadd = 0;
    ASSERT_EQ(utofu_reg_mem_with_stag(mine.vcq, mine.memory.data() + 256 + 40, 64, 1, 0, &stadd),
              UTOFU_SUCCESS);
    EXPECT_EQ(stadd & 0xff'ffff'ffff, 40u);
    EXPECT_EQ(put_code(mine, stadd), UTOFU_SUCCESS);
    EXPECT_EQ(mine.memory.as<std::uint64_t>(256 + 40), 1u);
  });
}

TEST(Memory, ProtectionIsByPage) {
  alone({{"PAGE", "65536"}}, [] {
    const lane mine(0, 0, 4 * page);
    const utofu_stadd_t stadd = must_register(mine, mine.memory.data() + page + 8, 8);
    EXPECT_EQ(put_code(mine, stadd + page - 16), UTOFU_SUCCESS) << "the last word of the page";
    EXPECT_EQ(put_code(mine, stadd + page - 12), UTOFU_ERR_MRQ_RMT_LENGTH);
    EXPECT_EQ(put_code(mine, stadd + page - 8), UTOFU_ERR_MRQ_RMT_LENGTH);
  });
}

TEST(Memory, ReadOnlyMemoryCanBeReadAndNotWritten) {
  alone({}, [] {
    const lane mine;
    pages area(page);
    ASSERT_EQ(mprotect(area.data(), page, PROT_READ), 0);
    utofu_stadd_t stadd = 0;
    EXPECT_EQ(utofu_reg_mem(mine.vcq, area.data(), page, 0, &stadd), UTOFU_ERR_INVALID_ADDRESS);
    stadd = must_register(mine, area.data(), page, UTOFU_REG_MEM_FLAG_READ_ONLY);
    EXPECT_EQ(put_code(mine, stadd), UTOFU_ERR_MRQ_RMT_MEMORY);
    EXPECT_EQ(utofu_get(mine.vcq, mine.id, mine.stadd, stadd, 8, 0, local, nullptr), UTOFU_SUCCESS);
    utofu_mrq_notice notice;
    EXPECT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
  });
}

TEST(Memory, WhatIsNotMappedCannotBeRegistered) {
  alone({}, [] {
    const lane mine;
    utofu_stadd_t stadd = 0;
    EXPECT_EQ(utofu_reg_mem(mine.vcq, reinterpret_cast<void*>(page), 8, 0, &stadd),
              UTOFU_ERR_INVALID_ADDRESS);
    EXPECT_EQ(utofu_reg_mem(mine.vcq, mine.memory.data(), 2 * page, 0, &stadd),
              UTOFU_ERR_INVALID_ADDRESS)
        << "a hole behind the first page";
    EXPECT_EQ(utofu_reg_mem(mine.vcq, mine.memory.data(), 0, 0, &stadd), UTOFU_ERR_INVALID_SIZE);
    EXPECT_EQ(utofu_reg_mem(mine.vcq, mine.memory.data(), 8, 2, &stadd), UTOFU_ERR_INVALID_FLAGS);
  });
}

TEST(Memory, OneDeregistrationEndsAllEqualOnes) {
  alone({}, [] {
    const lane mine;
    must_register(mine, mine.memory.data(), page);
    EXPECT_EQ(utofu_dereg_mem(mine.vcq, mine.stadd, 0), UTOFU_SUCCESS);
    EXPECT_EQ(put_code(mine, mine.stadd), UTOFU_ERR_MRQ_RMT_STADD);
    EXPECT_EQ(utofu_dereg_mem(mine.vcq, mine.stadd, 0), UTOFU_ERR_INVALID_STADD);
  });
}

TEST(Memory, CountedTheLastDeregistrationEndsThem) {
  alone({{"DEREG", "counted"}}, [] {
    const lane mine;
    must_register(mine, mine.memory.data(), page);
    EXPECT_EQ(utofu_dereg_mem(mine.vcq, mine.stadd, 0), UTOFU_SUCCESS);
    EXPECT_EQ(put_code(mine, mine.stadd), UTOFU_SUCCESS);
    EXPECT_EQ(utofu_dereg_mem(mine.vcq, mine.stadd, 0), UTOFU_SUCCESS);
    EXPECT_EQ(put_code(mine, mine.stadd), UTOFU_ERR_MRQ_RMT_STADD);
  });
}

TEST(Memory, AFreedTagIsNotGivenOutAgainAtOnce) {
  alone({}, [] {
    const lane mine;
    pages area(page);
    const utofu_stadd_t before = must_register(mine, area.data(), page);
    EXPECT_EQ(utofu_dereg_mem(mine.vcq, before, 0), UTOFU_SUCCESS);
    EXPECT_NE(must_register(mine, area.data(), page), before);
    EXPECT_EQ(put_code(mine, before), UTOFU_ERR_MRQ_RMT_STADD);
  });
}

TEST(Memory, TheTableHasAnEnd) {
  alone({{"STAGS", "3"}}, [] {
    const lane mine(0, 0, 4 * page);  // all four pages: one tag
    utofu_stadd_t last = 0;
    must_register(mine, mine.memory.data(), page);
    last = must_register(mine, mine.memory.data() + page, page);
    utofu_stadd_t more = 0;
    EXPECT_EQ(utofu_reg_mem(mine.vcq, mine.memory.data() + 2 * page, page, 0, &more),
              UTOFU_ERR_FULL);
    EXPECT_EQ(utofu_dereg_mem(mine.vcq, last, 0), UTOFU_SUCCESS);
    EXPECT_EQ(utofu_reg_mem(mine.vcq, mine.memory.data() + 2 * page, page, 0, &more),
              UTOFU_SUCCESS);
  });
}

TEST(Memory, WhatAPeerKnewOfATagIsForgottenWhenItIsRegisteredAnew) {
  run(2, {}, [](unsigned me, board& all) {
    const lane mine;
    publish(all, me, mine);
    pages first(page), second(page);
    utofu_stadd_t stadd = 0;
    const auto put_to_peer = [&](std::uint64_t value) {
      if (me != 0) return;
      EXPECT_EQ(utofu_query_stadd(address_of(all, 1).id, 0, &stadd), UTOFU_SUCCESS);
      EXPECT_EQ(
          utofu_put_piggyback8(mine.vcq, address_of(all, 1).id, value, stadd, 8, 0, 0, nullptr),
          UTOFU_SUCCESS);
    };
    for (pages* const area : {&first, &second}) {
      EXPECT_EQ(utofu_reg_mem_with_stag(mine.vcq, area->data(), page, 0, 0, &stadd), UTOFU_SUCCESS);
      all.meet(2);
      put_to_peer(area == &first ? 1 : 2);
      all.meet(2);
      EXPECT_EQ(utofu_query_stadd(mine.id, 0, &stadd), UTOFU_SUCCESS);
      EXPECT_EQ(utofu_dereg_mem(mine.vcq, stadd, 0), UTOFU_SUCCESS);
    }
    if (me == 1) {
      EXPECT_EQ(first.as<std::uint64_t>(), 1u);
      EXPECT_EQ(second.as<std::uint64_t>(), 2u);
    }
    all.meet(2);
  });
}

// Programs register new files for as long as they run.

TEST(Memory, RegisteringFilesKeepsNoDescriptorsOfThem) {
  alone({}, [] {
    const lane mine;
    const auto before = open_descriptors();
    for (int round = 0; round < 50; ++round) {
      const pages area(page);
      const utofu_stadd_t stadd = must_register(mine, area.data(), page);
      ASSERT_EQ(open_descriptors(), before + 1) << "the program's own";
      ASSERT_EQ(utofu_dereg_mem(mine.vcq, stadd, 0), UTOFU_SUCCESS);
    }
  });
}

TEST(Memory, PeersDoNotKeepMappedWhatIsDeregistered) {
  run(2, {}, [](unsigned me, board& all) {
    const lane mine;
    publish(all, me, mine);
    const auto before = mappings();
    for (unsigned round = 0; round < 300; ++round) {
      const pages area(page);
      utofu_stadd_t stadd = 0;
      const unsigned tag = round % 200;
      ASSERT_EQ(utofu_reg_mem_with_stag(mine.vcq, area.data(), page, tag, 0, &stadd),
                UTOFU_SUCCESS);
      all.meet(2);
      const address peer = address_of(all, 1 - me);
      ASSERT_EQ(utofu_query_stadd(peer.id, tag, &stadd), UTOFU_SUCCESS);
      ASSERT_EQ(utofu_put_piggyback8(mine.vcq, peer.id, 42, stadd, 8, 0, 0, nullptr),
                UTOFU_SUCCESS);
      all.meet(2);
      ASSERT_EQ(area.as<std::uint64_t>(), 42u);
      ASSERT_EQ(utofu_query_stadd(mine.id, tag, &stadd), UTOFU_SUCCESS);
      ASSERT_EQ(utofu_dereg_mem(mine.vcq, stadd, 0), UTOFU_SUCCESS);
    }
    EXPECT_LT(mappings(), before + 50);
  });
}

TEST(Memory, IsReachedAlsoWhenItsDescriptorIsClosedOrAnotherFilesByThen) {
  run(2, {}, [](unsigned me, board& all) {
    const lane mine;
    publish(all, me, mine);
    pages closed(page), taken(page);
    utofu_stadd_t stadd = 0;
    ASSERT_EQ(utofu_reg_mem_with_stag(mine.vcq, closed.data(), page, 0, 0, &stadd), UTOFU_SUCCESS);
    ASSERT_EQ(utofu_reg_mem_with_stag(mine.vcq, taken.data(), page, 1, 0, &stadd), UTOFU_SUCCESS);
    taken.close_file();
    const pages other(page);  // under its number
    closed.close_file();
    all.meet(2);
    const address peer = address_of(all, 1 - me);
    for (const unsigned tag : {0u, 1u}) {
      ASSERT_EQ(utofu_query_stadd(peer.id, tag, &stadd), UTOFU_SUCCESS);
      ASSERT_EQ(utofu_put_piggyback8(mine.vcq, peer.id, 42, stadd, 8, 0, 0, nullptr),
                UTOFU_SUCCESS);
    }
    all.meet(2);
    EXPECT_EQ(closed.as<std::uint64_t>(), 42u);
    EXPECT_EQ(taken.as<std::uint64_t>(), 42u);
    EXPECT_EQ(other.as<std::uint64_t>(), 0u);
  });
}

TEST(Memory, BadLocalMemoryShowsInTheTcqWithItsCbdata) {
  alone({}, [] {
    const lane mine;
    int marker = 0;
    const auto code = [&](int rc) {
      EXPECT_EQ(rc, UTOFU_SUCCESS);
      void* cbdata = nullptr;
      const int found = mine.await_tcq(&cbdata);
      EXPECT_EQ(cbdata, &marker);
      utofu_mrq_notice notice;
      EXPECT_EQ(utofu_poll_mrq(mine.vcq, 0, &notice), UTOFU_ERR_NOT_FOUND);
      return found;
    };
    EXPECT_EQ(code(utofu_put(mine.vcq, mine.id, 0, mine.stadd, 8, 0, local, &marker)),
              UTOFU_ERR_TCQ_STADD);
    EXPECT_EQ(
        code(utofu_put(mine.vcq, mine.id, mine.stadd + page - 4, mine.stadd, 8, 0, 0, &marker)),
        UTOFU_ERR_TCQ_MEMORY);
    EXPECT_EQ(code(utofu_put(mine.vcq, mine.id, mine.stadd, mine.stadd, 8, 256, 0, &marker)),
              UTOFU_ERR_TCQ_LENGTH);
    EXPECT_EQ(code(utofu_get(mine.vcq, mine.id, 0, mine.stadd, 8, 0, 0, &marker)),
              UTOFU_ERR_TCQ_STADD);
  });
}

/// The engine may be in the middle of a copy when its memory is deregistered, and then unmapped.
TEST(Memory, DeregistrationWaitsForWhoIsReadingForAPut) {
  alone({{"MODE", "engine"}}, [] {
    const lane mine(0, 0, 1 << 20);
    for (int round = 0; round < 200; ++round) {
      const pages from(1 << 20, memory_kind::private_pages);
      const utofu_stadd_t local = must_register(mine, from.data(), from.size());
      void* cookie = nullptr;
      ASSERT_EQ(utofu_put(mine.vcq, mine.id, local, mine.stadd, from.size(), 0, 0, nullptr),
                UTOFU_SUCCESS);
      std::this_thread::sleep_for(std::chrono::microseconds(round));
      ASSERT_EQ(utofu_dereg_mem(mine.vcq, local, 0), UTOFU_SUCCESS);
      while (utofu_poll_tcq(mine.vcq, 0, &cookie) != UTOFU_ERR_NOT_FOUND) {
      }
    }
  });
}

TEST(Memory, AGetsBadLocalMemoryMayShowInTheMrqInstead) {
  alone({{"GET_ERRORS", "mrq"}}, [] {
    const lane mine;
    EXPECT_EQ(utofu_get(mine.vcq, mine.id, 0, mine.stadd, 8, 0, 0, nullptr), UTOFU_SUCCESS);
    utofu_mrq_notice notice;
    EXPECT_EQ(mine.await_mrq(notice), UTOFU_ERR_MRQ_LCL_STADD);
  });
}

TEST(Memory, LengthsAreCheckedAtTheCallOrLater) {
  for (const char* where : {"call", "tcq"}) {
    alone({{"SIZE_ERRORS", where}}, [&] {
      const lane mine;
      const bool at_call = *where == 'c';
      for (const std::size_t length : {std::size_t{0}, std::size_t{16777216}}) {
        const int rc = utofu_put(mine.vcq, mine.id, mine.stadd, mine.stadd, length, 0, 0, nullptr);
        EXPECT_EQ(rc, at_call ? UTOFU_ERR_INVALID_SIZE : UTOFU_SUCCESS);
        void* cbdata = nullptr;
        EXPECT_EQ(utofu_poll_tcq(mine.vcq, 0, &cbdata),
                  at_call ? UTOFU_ERR_NOT_FOUND : UTOFU_ERR_TCQ_LENGTH);
      }
    });
  }
}

TEST(Memory, AnArmwsTargetIsAligned) {
  alone({}, [] {
    const lane mine;
    EXPECT_EQ(utofu_armw8(mine.vcq, mine.id, UTOFU_ARMW_OP_ADD, 1, mine.stadd + 4, 0, 0, nullptr),
              UTOFU_ERR_INVALID_STADD);
    EXPECT_EQ(utofu_armw4(mine.vcq, mine.id, UTOFU_ARMW_OP_ADD, 1, mine.stadd + 4, 0, 0, nullptr),
              UTOFU_SUCCESS);
  });
}

}  // namespace
