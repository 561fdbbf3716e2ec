// SPDX-License-Identifier: BSD-3-Clause
// unexpected_messages.h - messages that came before anybody asked for them, found by a receive in
// the order of their arrival.
#pragma once
#include <heddle/status.h>
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/slab_pool.h"
#include "protocols/list.h"
#include "protocols/match_buckets.h"
#include "protocols/message.h"
#include "protocols/spare_payloads.h"
#include "sync/cache_line.h"

namespace heddle::protocols {

struct peer;
struct request;

/// A message nobody has asked for yet. A flood keeps thousands: what all of them use is in the
/// first two lines, what announced ones use behind them.
struct alignas(sync::cache_line) unexpected {
  hook<unexpected> in_bucket, in_arrival;
  peer* from = nullptr;  ///< that is `source`: one of its lanes
  heddle::tag tag = 0;
  std::uint64_t bytes = 0;
  std::uint64_t credit = 0;         ///< goes back to the sender when it is received
  unexpected* next_free = nullptr;  ///< of the pool
  payload_memory large;             ///< of a longer eager one, in the place of `small`
  std::uint64_t early = 0;  ///< bytes of the budget for messages fetched before they are asked for
  std::uint64_t since_ns = 0;  ///< first seen by a look at all; 0: not yet
  rank source = 0;
  bool announced = false;           ///< by an RTS: `data_at` says where the data is
  bool held = false;                ///< taken by the program, and not yet received
  status failed = status::done;     ///< held: why its data cannot be had
  std::array<std::byte, 64> small;  ///< the data of a short eager one
  request* fetching = nullptr;      ///< announced: its data is on the way here already
  announcement data_at;

  /// Eager data: `bytes` of it.
  [[nodiscard]] const std::byte* data() const noexcept {
    return large ? large.get() : small.data();
  }
  void copy(std::span<const std::byte> payload);
  /// Its data is where `a` says, and `a.bytes` long.
  void announce(const announcement& a) noexcept {
    bytes = a.bytes;
    announced = true;
    fetching = nullptr;
    data_at = a;
  }
};

/// Owns them: also those that are taken out, until they are recycled. Holder only.
class unexpected_messages {
 public:
  /// An unexpected message to be filled and kept: a used one where there is one.
  [[nodiscard]] unexpected& fresh() { return pool_.take(); }
  /// A message that was taken out and is no longer needed.
  void recycle(unexpected& message) noexcept;
  /// Files a message nobody has asked for.
  void keep(unexpected& message) noexcept;
  /// The first message that a receive with these arguments would take; still filed.
  [[nodiscard]] unexpected* find(rank source, const tag_match& match) noexcept {
    return size_ == 0 ? nullptr : look_for(source, match);
  }
  /// Takes a filed one out.
  unexpected& take(unexpected& message) noexcept;
  /// For all that are filed, as they arrived.
  template <class F>
  void each(F&& f) {
    for (unexpected* m = arrivals_.front(); m != nullptr; m = arrival_list::next(*m)) f(*m);
  }
  /// Drops the announcements of a peer whose data cannot be had any more, but for those that are
  /// being fetched.
  void forget_announcements(const peer& from) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Messages that there is memory for.
  [[nodiscard]] std::size_t room() const noexcept { return pool_.size(); }

 private:
  [[nodiscard]] unexpected* look_for(rank source, const tag_match& match) noexcept;
  void rest() noexcept;

  using bucket_list = list<unexpected, &unexpected::in_bucket>;
  using arrival_list = list<unexpected, &unexpected::in_arrival>;
  std::array<bucket_list, match_buckets> buckets_;
  arrival_list arrivals_;
  std::size_t size_ = 0;
  std::size_t most_ = 0;  // filed at once since none was there
  std::uint32_t small_waves_ = 0;
  slab_pool<unexpected> pool_;
};

}  // namespace heddle::protocols
