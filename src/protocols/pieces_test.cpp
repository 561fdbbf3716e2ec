// SPDX-License-Identifier: BSD-3-Clause
// pieces_test.cpp - long copies that take turns, through mappings and on a wire that copies.
#include "protocols/pieces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "support/lone_protocol.h"

namespace heddle::protocols {
namespace {

using transport::op_kind;

/// Gets of rank 1's memory, over a wire that copies in its post.
class Pieces : public LoneProtocol {
 protected:
  static constexpr std::uint64_t piece = pieces::piece_bytes;
  static constexpr std::uint32_t alive = 3;
  using sizes = std::vector<std::size_t>;

  Pieces() { peer_.native |= transport::only(op_kind::get); }

  request& get(std::span<std::byte> into) {
    request& r = begin(op_kind::get, into, owner_);
    r.by = carrier::pieces;
    return r;
  }
  /// The peer's memory can be mapped here.
  void is_mappable() {
    live_.set(alive);
    wire_.mapping.direct = there_.data();
    wire_.mapping.bytes = there_.size();
    wire_.mapping.live = &live_;
    wire_.mapping.generation = alive;
  }
  request& fetch(std::span<std::byte> into, memory::region_ref region = {1, 1}) {
    request& r = get(into);
    r.mappable = true;
    r.region = region;
    return r;
  }
  void all_turns() {
    while (!pieces_.none()) pieces_.move_next();
  }
  [[nodiscard]] sizes posted() const {
    sizes all;
    for (const transport::op& o : wire_.posted) all.push_back(o.memory.size());
    return all;
  }

  pieces pieces_{where_, lone_.path};
  fragments fragments_{lone_.path, lone_.ops, lone_.counters};
  test_owner owner_{lone_.path, lone_.ops, [this](request& r) {
                      return r.by == carrier::messages ? fragments_.start(r) : pieces_.start(r);
                    }};
  std::vector<std::byte> into_ = std::vector<std::byte>(2 * piece + 10);
  std::vector<std::byte> there_ = std::vector<std::byte>(2 * piece + 10, std::byte{7});
  detail::live_word live_;
};

TEST_F(Pieces, OneIsCopiedInATurn) {
  request& r = get(into_);
  EXPECT_EQ(pieces_.start(r), status::posted);
  EXPECT_EQ(r.at, stage::turn);
  EXPECT_EQ(posted(), sizes{piece});
  EXPECT_EQ(pieces_.move_next(), 1u);
  EXPECT_EQ(posted(), (sizes{piece, piece}));
  EXPECT_TRUE(owner_.ends.empty());
  EXPECT_EQ(pieces_.move_next(), 1u);
  EXPECT_EQ(posted(), (sizes{piece, piece, 10}));
  EXPECT_EQ(owner_.ends, std::vector{status::done});
  EXPECT_TRUE(pieces_.none());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(wire_.posted[i].offset, i * piece);
    EXPECT_EQ(wire_.posted[i].memory.data(), &into_[i * piece]);
  }
}

TEST_F(Pieces, WhatIsNoLongerThanOneIsDoneAtOnce) {
  EXPECT_EQ(pieces_.start(get(std::span(into_).first(piece))), status::done);
  EXPECT_EQ(posted(), sizes{piece});
  EXPECT_TRUE(pieces_.none());
}

TEST_F(Pieces, TransfersTakeTurns) {
  std::array<std::vector<std::byte>, 2> each;
  for (auto& memory : each) {
    memory.resize(2 * piece);
    EXPECT_EQ(pieces_.start(get(memory)), status::posted);
  }
  pieces_.move_next();
  EXPECT_EQ(owner_.ends.size(), 1u);
  EXPECT_EQ(wire_.posted.back().memory.data(), &each[0][piece]);
  pieces_.move_next();
  EXPECT_EQ(wire_.posted.back().memory.data(), &each[1][piece]);
  EXPECT_EQ(owner_.ends.size(), 2u);
}

TEST_F(Pieces, TheNextOneWaitsForTheEndOfWhatTheWireDoesByItself) {
  wire_.answer = status::posted;
  request& r = get(into_);
  EXPECT_EQ(pieces_.start(r), status::posted);
  EXPECT_EQ(r.at, stage::wire);
  EXPECT_TRUE(pieces_.none());
  take_in_hand(r);
  pieces_.ended(r, status::done);
  EXPECT_EQ(r.at, stage::turn);
  EXPECT_EQ(r.moved, piece);
  pieces_.move_next();
  EXPECT_EQ(wire_.posted.back().offset, piece);
}

TEST_F(Pieces, OneThatFailsIsTheLast) {
  wire_.answer = status::posted;
  request& r = get(into_);
  EXPECT_EQ(pieces_.start(r), status::posted);
  take_in_hand(r);
  pieces_.ended(r, status::withdrawn);
  EXPECT_EQ(owner_.ends, std::vector{status::withdrawn});
  EXPECT_TRUE(pieces_.none());
  EXPECT_EQ(posted(), sizes{piece});
}

TEST_F(Pieces, OneThatTheWireHasNoRoomForGoesOnWhereItWas) {
  EXPECT_EQ(pieces_.start(get(into_)), status::posted);
  wire_.room = 0;
  pieces_.move_next();
  EXPECT_TRUE(pieces_.none()) << "it waits for room, not for its turn";
  makes_room();
  all_turns();
  EXPECT_EQ(posted(), (sizes{piece, piece, 10}));
  EXPECT_EQ(owner_.ends, std::vector{status::done});
}

TEST_F(Pieces, TheRestGoesByMessagesWhereTheWireRefusesIt) {
  EXPECT_EQ(pieces_.start(get(into_)), status::posted);
  wire_.refused = transport::only(op_kind::get);
  pieces_.move_next();
  ASSERT_FALSE(wire_.messages.empty());
  EXPECT_EQ(sent()[0].kind, message_kind::rma_get);
  EXPECT_EQ(sent()[0].offset, piece);
  EXPECT_TRUE(owner_.ends.empty());
}

TEST_F(Pieces, AllGoesByMessagesWhereTheWireDoesNoneOfIt) {
  peer_.native = transport::only(op_kind::send);
  EXPECT_EQ(pieces_.start(get(into_)), status::posted);
  EXPECT_EQ(last().kind, message_kind::rma_get);
}

TEST_F(Pieces, AreReadThroughAMappingWhereThereIsOne) {
  is_mappable();
  request& r = fetch(into_);
  EXPECT_TRUE(pieces_.is_mapped(r));
  EXPECT_EQ(pieces_.start(r), status::posted);
  EXPECT_EQ(std::ranges::count(into_, std::byte{7}), static_cast<std::ptrdiff_t>(piece));
  all_turns();
  EXPECT_EQ(into_, there_);
  EXPECT_EQ(owner_.ends, std::vector{status::done});
  EXPECT_TRUE(wire_.posted.empty());
  EXPECT_EQ(wire_.imports, 1) << "it stays mapped";
}

TEST_F(Pieces, NothingIsReadBesideAMapping) {
  is_mappable();
  request& r = fetch(into_);
  r.base = 1;
  EXPECT_EQ(pieces_.start(r), status::posted);
  pieces_.move_next();
  pieces_.move_next();
  EXPECT_EQ(posted(), sizes{10}) << "the wire says what is wrong with it";
}

TEST_F(Pieces, AMappingIsForgottenWhenItsOwnerHasWithdrawnTheRegion) {
  is_mappable();
  const std::span one = std::span(into_).first(10);
  EXPECT_EQ(pieces_.start(fetch(one)), status::done);
  live_.set(0);
  EXPECT_EQ(pieces_.start(fetch(one)), status::done);
  EXPECT_EQ(posted(), sizes{10}) << "by the wire";
  EXPECT_EQ(wire_.imports, 2);
  // Another region, mapped now, takes the places of those that are gone.
  live_.set(alive);
  EXPECT_EQ(pieces_.start(fetch(one, {2, 1})), status::done);
  live_.set(0);
  EXPECT_EQ(pieces_.start(fetch(one, {2, 1})), status::done);
  const auto kept = std::ranges::count_if(
      peer_.mapped, [](const mapped_region& each) { return each.mapping != nullptr; });
  EXPECT_LE(kept, 1) << "they keep the owner's memory";
}

TEST_F(Pieces, OnlySoManyRegionsOfAPeerStayMapped) {
  is_mappable();
  const std::span one = std::span(into_).first(10);
  const auto fetch_from = [&](std::uint32_t slot) {
    EXPECT_EQ(pieces_.start(fetch(one, {slot, 1})), status::done);
    return wire_.imports;
  };
  const auto most = static_cast<std::uint32_t>(peer_.mapped.size());
  for (std::uint32_t slot = 1; slot <= most; ++slot) (void)fetch_from(slot);
  EXPECT_EQ(fetch_from(most), static_cast<int>(most)) << "the last is still there";
  EXPECT_EQ(fetch_from(most + 1), static_cast<int>(most) + 1);
  EXPECT_EQ(fetch_from(most), static_cast<int>(most) + 1);
  EXPECT_EQ(fetch_from(1), static_cast<int>(most) + 2) << "the oldest has made room";
}

TEST_F(Pieces, WhatCannotBeMappedIsTheWires) {
  wire_.no_region = true;
  EXPECT_FALSE(pieces_.is_mapped(fetch(into_)));
  wire_.no_region = false;
  EXPECT_FALSE(pieces_.is_mapped(fetch(into_))) << "another process's own";
  is_mappable();
  EXPECT_FALSE(pieces_.is_mapped(fetch(into_, {0, 0}))) << "no region";
  EXPECT_FALSE(pieces_.is_mapped(get(into_))) << "its sender says nothing of it";
}

}  // namespace
}  // namespace heddle::protocols
