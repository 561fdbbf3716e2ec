// SPDX-License-Identifier: BSD-3-Clause
// Every command between two processes: what it does, and which notices it leaves.
#include <gmock/gmock.h>

#include "lane.h"

using namespace nodes;

namespace {

/// In which mode, and what kind of memory the target has.
struct way {
  const char* mode;
  memory_kind kind;
};

class Commands : public testing::TestWithParam<way> {
 protected:
  /// Process 0 gets its lane and the address of process 1's, which does nothing until 0 is done:
  /// all is done by the initiator.
  void between_two(const std::function<void(lane&, address)>& initiator,
                   const std::function<void(lane&, address)>& target_afterwards) {
    run(2, {{"MODE", GetParam().mode}}, [&](unsigned me, board& all) {
      lane mine(0, 0, 65536, GetParam().kind);
      publish(all, me, mine);
      all.meet(2);
      if (me == 0) {
        initiator(mine, address_of(all, 1));
        settle(mine, address_of(all, 1));
      }
      all.meet(2);
      if (me == 1) target_afterwards(mine, address_of(all, 0));
      all.meet(2);
    });
  }
};

std::string name_of(const testing::TestParamInfo<way>& info) {
  return std::string(info.param.mode) +
         (info.param.kind == memory_kind::memfd ? "_memfd" : "_private");
}

INSTANTIATE_TEST_SUITE_P(
    Ways, Commands,
    testing::Values(way{"inline", memory_kind::memfd}, way{"inline", memory_kind::private_pages},
                    way{"lazy", memory_kind::memfd}, way{"lazy", memory_kind::private_pages},
                    way{"engine", memory_kind::memfd}, way{"chaos", memory_kind::memfd},
                    way{"chaos", memory_kind::private_pages}),
    name_of);

void expect_nothing(const lane& mine) {
  utofu_mrq_notice notice;
  EXPECT_EQ(utofu_poll_mrq(mine.vcq, 0, &notice), UTOFU_ERR_NOT_FOUND);
}

TEST_P(Commands, APutWritesTheTargetAndLeavesAllThreeNotices) {
  int marker = 0;
  between_two(
      [&](lane& mine, address to) {
        mine.memory.as<std::array<char, 6>>(100) = {"hello"};
        ASSERT_EQ(utofu_put(mine.vcq, to.id, mine.stadd + 100, to.stadd + 200, 6, 77,
                            tcq | local | remote, &marker),
                  UTOFU_SUCCESS);
        void* cbdata = nullptr;
        EXPECT_EQ(mine.await_tcq(&cbdata), UTOFU_SUCCESS);
        EXPECT_EQ(cbdata, &marker);
        utofu_mrq_notice notice;
        EXPECT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
        EXPECT_EQ(notice.notice_type, UTOFU_MRQ_TYPE_LCL_PUT);
        EXPECT_EQ(notice.vcq_id, to.id);
        EXPECT_EQ(notice.edata, 77u);
        expect_nothing(mine);
      },
      [](lane& mine, address from) {
        EXPECT_STREQ(&mine.memory.as<char>(200), "hello");
        utofu_mrq_notice notice;
        EXPECT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
        EXPECT_EQ(notice.notice_type, UTOFU_MRQ_TYPE_RMT_PUT);
        EXPECT_EQ(notice.vcq_id, from.id);
        EXPECT_EQ(notice.edata, 77u);
        EXPECT_EQ(notice.rmt_stadd, mine.stadd + 206);
        expect_nothing(mine);
      });
}

TEST_P(Commands, AGetReadsTheTargetAndItsNoticesPointBehindTheData) {
  between_two(
      [](lane& mine, address to) {
        ASSERT_EQ(
            utofu_put_piggyback8(mine.vcq, to.id, 0x1122334455667788, to.stadd, 8, 0, tcq, nullptr),
            UTOFU_SUCCESS);
        ASSERT_EQ(
            utofu_get(mine.vcq, to.id, mine.stadd + 64, to.stadd, 8, 5, local | remote, nullptr),
            UTOFU_SUCCESS);
        utofu_mrq_notice notice;
        EXPECT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
        EXPECT_EQ(notice.notice_type, UTOFU_MRQ_TYPE_LCL_GET);
        EXPECT_EQ(notice.edata, 5u);
        EXPECT_EQ(notice.lcl_stadd, mine.stadd + 72);
        EXPECT_EQ(notice.rmt_stadd, to.stadd + 8);
        EXPECT_EQ(mine.memory.as<std::uint64_t>(64), 0x1122334455667788u);
      },
      [](lane& mine, address from) {
        utofu_mrq_notice notice;
        EXPECT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
        EXPECT_EQ(notice.notice_type, UTOFU_MRQ_TYPE_RMT_GET);
        EXPECT_EQ(notice.vcq_id, from.id);
        EXPECT_EQ(notice.rmt_stadd, mine.stadd + 8);
      });
}

TEST_P(Commands, APiggybackTakesItsDataAlongAtOnce) {
  between_two(
      [](lane& mine, address to) {
        std::array<unsigned char, 32> data{};
        for (std::size_t length = 1; length <= data.size(); ++length) {
          data.fill(static_cast<unsigned char>(length));
          ASSERT_EQ(utofu_put_piggyback(mine.vcq, to.id, data.data(), to.stadd + 64 * length,
                                        length, 0, tcq, nullptr),
                    UTOFU_SUCCESS);
          data.fill(0xff);  // ours again
          void* cbdata = nullptr;
          EXPECT_EQ(mine.await_tcq(&cbdata), UTOFU_SUCCESS);
        }
      },
      [](lane& mine, address) {
        for (std::size_t length = 1; length <= 32; ++length) {
          for (std::size_t i = 0; i < 64; ++i) {
            ASSERT_EQ(mine.memory.as<unsigned char>(64 * length + i), i < length ? length : 0);
          }
        }
      });
}

TEST_P(Commands, AnArmwChangesTheWordAndBringsTheOldValueBack) {
  between_two(
      [](lane& mine, address to) {
        const auto old_after = [&](int rc) {
          EXPECT_EQ(rc, UTOFU_SUCCESS);
          utofu_mrq_notice notice;
          EXPECT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
          EXPECT_EQ(notice.notice_type, UTOFU_MRQ_TYPE_LCL_ARMW);
          return notice.rmt_value;
        };
        const auto armw = [&](utofu_armw_op op, std::uint64_t value) {
          return old_after(utofu_armw8(mine.vcq, to.id, op, value, to.stadd, 1, local, nullptr));
        };
        EXPECT_EQ(armw(UTOFU_ARMW_OP_SWAP, 12), 0u);
        EXPECT_EQ(armw(UTOFU_ARMW_OP_ADD, ~std::uint64_t{0}), 12u);
        EXPECT_EQ(armw(UTOFU_ARMW_OP_XOR, 1), 11u);
        EXPECT_EQ(armw(UTOFU_ARMW_OP_AND, 8), 10u);
        EXPECT_EQ(armw(UTOFU_ARMW_OP_OR, 3), 8u);
        EXPECT_EQ(old_after(utofu_cswap8(mine.vcq, to.id, 11, std::uint64_t{7} << 40, to.stadd, 1,
                                         local, nullptr)),
                  11u);
        EXPECT_EQ(old_after(utofu_cswap8(mine.vcq, to.id, 11, 0, to.stadd, 1, local, nullptr)),
                  std::uint64_t{7} << 40);
        EXPECT_EQ(old_after(utofu_armw4(mine.vcq, to.id, UTOFU_ARMW_OP_ADD, 0xffff'ffff,
                                        to.stadd + 12, 1, local | remote, nullptr)),
                  0u);
        EXPECT_EQ(old_after(utofu_cswap4(mine.vcq, to.id, 0xffff'ffff, 9, to.stadd + 12, 1, local,
                                         nullptr)),
                  0xffff'ffffu);
      },
      [](lane& mine, address) {
        EXPECT_EQ(mine.memory.as<std::uint64_t>(0), std::uint64_t{7} << 40);
        EXPECT_EQ(mine.memory.as<std::uint32_t>(8), 0u);
        EXPECT_EQ(mine.memory.as<std::uint32_t>(12), 9u);
        utofu_mrq_notice notice;
        EXPECT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
        EXPECT_EQ(notice.notice_type, UTOFU_MRQ_TYPE_RMT_ARMW);
        EXPECT_EQ(notice.rmt_value, mine.stadd + 12);
      });
}

TEST_P(Commands, ANopOnlyAppearsInTheTcq) {
  between_two(
      [](lane& mine, address) {
        int marker = 0;
        ASSERT_EQ(utofu_nop(mine.vcq, tcq, &marker), UTOFU_SUCCESS);
        void* cbdata = nullptr;
        EXPECT_EQ(mine.await_tcq(&cbdata), UTOFU_SUCCESS);
        EXPECT_EQ(cbdata, &marker);
        expect_nothing(mine);
      },
      [](lane&, address) {});
}

TEST_P(Commands, DescriptorsOfAllKindsAreExecutedInOneGo) {
  between_two(
      [](lane& mine, address to) {
        std::array<std::byte, 512> block{};
        std::size_t used = 0, size = 0;
        void* at = block.data();
        const auto added = [&](int rc) {
          EXPECT_EQ(rc, UTOFU_SUCCESS);
          used += size;
          at = block.data() + used;
        };
        mine.memory.as<std::uint64_t>(0) = 0x0102030405060708;
        std::array<char, 20> text{"longer than eight"};
        added(utofu_prepare_put(mine.vcq, to.id, mine.stadd, to.stadd, 8, 1, remote, at, &size));
        EXPECT_EQ(size, 32u);
        added(utofu_prepare_put_piggyback(mine.vcq, to.id, text.data(), to.stadd + 8, 20, 2, remote,
                                          at, &size));
        EXPECT_EQ(size, 64u);
        added(utofu_prepare_put_piggyback8(mine.vcq, to.id, 5, to.stadd + 32, 8, 3, remote, at,
                                           &size));
        added(utofu_prepare_armw8(mine.vcq, to.id, UTOFU_ARMW_OP_ADD, 37, to.stadd + 32, 4, remote,
                                  at, &size));
        added(utofu_prepare_cswap4(mine.vcq, to.id, 42, 43, to.stadd + 32, 5, remote, at, &size));
        EXPECT_EQ(size, 32u);
        added(utofu_prepare_cswap8(mine.vcq, to.id, 43, 44, to.stadd + 32, 6, remote, at, &size));
        EXPECT_EQ(size, 64u);
        added(utofu_prepare_get(mine.vcq, to.id, mine.stadd + 64, to.stadd + 32, 8, 7,
                                remote | local, at, &size));
        added(utofu_prepare_nop(mine.vcq, tcq, at, &size));
        ASSERT_EQ(utofu_post_toq(mine.vcq, block.data(), used, &block), UTOFU_SUCCESS);
        void* cbdata = nullptr;
        EXPECT_EQ(mine.await_tcq(&cbdata), UTOFU_SUCCESS);
        EXPECT_EQ(cbdata, &block);
        EXPECT_EQ(mine.memory.as<std::uint64_t>(64), 44u);
      },
      [](lane& mine, address) {
        EXPECT_EQ(mine.memory.as<std::uint64_t>(0), 0x0102030405060708u);
        EXPECT_STREQ(&mine.memory.as<char>(8), "longer than eight");
        for (unsigned edata = 1; edata <= 7; ++edata) {
          utofu_mrq_notice notice;
          ASSERT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
          EXPECT_EQ(notice.edata, edata);
        }
      });
}

TEST_P(Commands, PutsAndGetsOfAllSizesAndAlignmentsMoveExactlyTheirBytes) {
  constexpr std::array<std::size_t, 12> sizes{1, 2, 3, 4, 7, 8, 31, 255, 256, 257, 1920, 1921};
  between_two(
      [&](lane& mine, address to) {
        for (std::size_t i = 0; i < 4096; ++i) {
          mine.memory.as<unsigned char>(i) = static_cast<unsigned char>(i * 7 + 1);
        }
        for (const std::size_t size : sizes) {
          for (std::size_t shift = 0; shift < 9; ++shift) {
            const unsigned long order = shift % 2 == 0 ? strong : 0;
            std::memset(mine.memory.data() + 8192, 0, 4096);
            ASSERT_EQ(utofu_put(mine.vcq, to.id, mine.stadd + 3, to.stadd + shift, size, 0, order,
                                nullptr),
                      UTOFU_SUCCESS);
            ASSERT_EQ(utofu_get(mine.vcq, to.id, mine.stadd + 8192 + 16, to.stadd + shift, size, 0,
                                order | local, nullptr),
                      UTOFU_SUCCESS);
            utofu_mrq_notice notice;
            ASSERT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
            ASSERT_EQ(std::memcmp(mine.memory.data() + 8192 + 16, mine.memory.data() + 3, size), 0);
            ASSERT_EQ(mine.memory.as<unsigned char>(8192 + 15), 0);
            ASSERT_EQ(mine.memory.as<unsigned char>(8192 + 16 + size), 0);
            void* cbdata = nullptr;
            while (utofu_poll_tcq(mine.vcq, 0, &cbdata) != UTOFU_ERR_NOT_FOUND) {
            }
          }
        }
      },
      [](lane&, address) {});
}

TEST_P(Commands, AStridedPutAndGetMoveEveryBlock) {
  between_two(
      [](lane& mine, address to) {
        for (std::size_t i = 0; i < 1000; ++i) {
          mine.memory.as<unsigned char>(i) = static_cast<unsigned char>(i % 251);
        }
        ASSERT_EQ(utofu_put_stride(mine.vcq, to.id, mine.stadd, to.stadd, 10, 100, 5, 3,
                                   local | remote, nullptr),
                  UTOFU_SUCCESS);
        ASSERT_EQ(utofu_get_stride_gap(mine.vcq, to.id, mine.stadd + 4096, to.stadd, 10, 100, 5, 4,
                                       local, 1920, 3, nullptr),
                  UTOFU_SUCCESS);
        utofu_mrq_notice notice;
        for (unsigned i = 1; i <= 5; ++i) ASSERT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
        EXPECT_EQ(notice.notice_type, UTOFU_MRQ_TYPE_LCL_PUT);
        for (unsigned i = 1; i <= 5; ++i) {
          ASSERT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
          EXPECT_EQ(notice.notice_type, UTOFU_MRQ_TYPE_LCL_GET);
          EXPECT_EQ(notice.lcl_stadd, mine.stadd + 4096 + (i - 1) * 100 + 10);
        }
        for (std::size_t i = 0; i < 500; ++i) {
          ASSERT_EQ(mine.memory.as<unsigned char>(4096 + i), i % 100 < 10 ? i % 251 : 0) << i;
        }
      },
      [](lane& mine, address) {
        for (std::size_t i = 0; i < 1000; ++i) {
          ASSERT_EQ(mine.memory.as<unsigned char>(i), i % 100 < 10 && i < 500 ? i % 251 : 0) << i;
        }
        for (unsigned i = 1; i <= 5; ++i) {
          utofu_mrq_notice notice;
          ASSERT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
          EXPECT_EQ(notice.rmt_stadd, mine.stadd + (i - 1) * 100 + 10);
        }
      });
}

TEST_P(Commands, PaddingOverwritesTheRestOfTheLineAndNoMore) {
  between_two(
      [](lane& mine, address to) {
        ASSERT_EQ(utofu_put_piggyback8(mine.vcq, to.id, 0x0101010101010101, to.stadd + 256, 8, 0,
                                       UTOFU_ONESIDED_FLAG_PADDING, nullptr),
                  UTOFU_SUCCESS);
      },
      [](lane& mine, address) {
        const std::string_view mode = GetParam().mode;
        for (std::size_t i = 0; i < 768; ++i) {
          const int filler = mode == "chaos" ? 0xa5 : 0;
          const int want = i < 256 || i >= 512 ? 0 : i < 264 ? 1 : filler;
          ASSERT_EQ(mine.memory.as<unsigned char>(i), want) << i;
        }
      });
}

TEST_P(Commands, DescriptorsOfVariantsCarryTheirNumbers) {
  between_two(
      [](lane& mine, address to) {
        std::array<std::byte, 64> desc{};
        std::size_t size = 0;
        mine.memory.as<std::array<char, 300>>(0).fill('x');
        ASSERT_EQ(utofu_prepare_put_stride_gap(mine.vcq, to.id, mine.stadd, to.stadd, 3, 100, 3, 9,
                                               local, 256, 255, desc.data(), &size),
                  UTOFU_SUCCESS);
        ASSERT_EQ(utofu_post_toq(mine.vcq, desc.data(), size, nullptr), UTOFU_SUCCESS);
        utofu_mrq_notice notice;
        for (int i = 0; i < 3; ++i) EXPECT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
        EXPECT_EQ(notice.edata, 9u);
        EXPECT_EQ(utofu_put_gap(mine.vcq, to.id, mine.stadd, to.stadd, 3, 0, 0, 1928, 0, nullptr),
                  UTOFU_ERR_INVALID_SIZE);
        EXPECT_EQ(utofu_put_gap(mine.vcq, to.id, mine.stadd, to.stadd, 3, 0, 0, 1920, 256, nullptr),
                  UTOFU_ERR_INVALID_SIZE);
        EXPECT_EQ(utofu_put_stride(mine.vcq, to.id, mine.stadd, to.stadd, 3, 8, 0, 0, 0, nullptr),
                  UTOFU_ERR_INVALID_NUMBER);
      },
      [](lane& mine, address) {
        for (std::size_t i = 0; i < 300; ++i) {
          ASSERT_EQ(mine.memory.as<char>(i), i % 100 < 3 ? 'x' : 0);
        }
      });
}

}  // namespace
