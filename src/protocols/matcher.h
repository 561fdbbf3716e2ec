// SPDX-License-Identifier: BSD-3-Clause
// matcher.h - which receive gets which message: posted receives on one side, unexpected messages on
// the other.
//
// Exact receives (one source, one tag) hang in buckets hashed by both; receives with a wildcard
// hang in one list that costs nothing while it is empty. Of the receives that accept a message the
// oldest gets it; of the messages a receive accepts the one that arrived first (invariant I13).
#pragma once
#include <heddle/completion.h>
#include <heddle/matched_message.h>
#include <heddle/status.h>
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/slab_pool.h"
#include "protocols/list.h"
#include "protocols/message.h"

namespace heddle::protocols {

struct peer;
struct request;

/// A message nobody has asked for yet.
struct unexpected {
  rank source = 0;
  peer* from = nullptr;  ///< that is `source`: one of its lanes
  heddle::tag tag = 0;
  std::uint64_t bytes = 0;
  std::array<std::byte, 64> small;     ///< the data of a short eager one
  std::unique_ptr<std::byte[]> large;  ///< of a longer one
  bool announced = false;              ///< by an RTS: `data_at` says where the data is
  announcement data_at;
  request* fetching = nullptr;  ///< announced: its data is on the way here already
  std::uint64_t early = 0;  ///< bytes of the budget for messages fetched before they are asked for
  std::uint64_t since_ns = 0;    ///< first seen by a look at all; 0: not yet
  std::uint64_t credit = 0;      ///< goes back to the sender when it is received
  bool held = false;             ///< taken by the program, and not yet received
  status failed = status::done;  ///< held: why its data cannot be had
  hook<unexpected> in_bucket, in_arrival;

  /// Eager data: `bytes` of it.
  [[nodiscard]] const std::byte* data() const noexcept {
    return large ? large.get() : small.data();
  }
  void copy(std::span<const std::byte> payload);
};

/// A receive of the program's gets none of the collectives' messages, whatever its mask.
inline tag_match of_one_kind(tag_match match) noexcept {
  if ((match.value & reserved_tag_bit) == 0) match.mask |= reserved_tag_bit;
  return match;
}

struct receive_list;

/// A receive nobody has sent for yet; or who takes a message, whose place is in `into`.
struct posted_receive {
  rank source = any_source;
  tag_match match{0};
  std::span<std::byte> into{};
  completion done{};
  std::uint64_t order = 0;     ///< age, by the matcher
  std::uint64_t since_ns = 0;  ///< first seen by a look at all; 0: not yet
  hook<posted_receive> in_bucket{};
  receive_list* filed_in = nullptr;     ///< by the matcher
  posted_receive* next_free = nullptr;  ///< of the matcher's pool

  /// It takes the message itself, not its data: no span is that long.
  [[nodiscard]] bool takes() const noexcept { return into.size() == taker_size; }
  [[nodiscard]] detail::taken_message& place() const noexcept {
    return *reinterpret_cast<detail::taken_message*>(into.data());
  }
  static constexpr std::size_t taker_size = SIZE_MAX;
  [[nodiscard]] bool exact() const noexcept { return source != any_source && match.exact(); }
  [[nodiscard]] bool accepts(rank from, tag t) const noexcept {
    return (source == any_source || source == from) && match.accepts(t);
  }
};

struct receive_list : list<posted_receive, &posted_receive::in_bucket> {};

/// Holder only.
class matcher {
 public:
  ~matcher();

  /// Files a receive.
  posted_receive& post(rank source, const tag_match& match, std::span<std::byte> into,
                       const completion& done) {
    posted_receive& r = receives_pool_.take();
    r.source = source;
    r.match = match;
    r.into = into;
    r.done = done;
    r.order = next_order_++;
    r.since_ns = 0;
    r.filed_in = &list_of(r);
    r.filed_in->push_back(r);
    return r;
  }
  /// Files who takes a message: always as a wildcard, where it costs receives nothing.
  void post_taker(rank source, const tag_match& match, detail::taken_message& place,
                  const completion& done);
  /// The oldest receive that accepts a message from `source` with `t`; still filed. Null as well
  /// where it is one that takes the message: see find_taker.
  [[nodiscard]] posted_receive* find_receive(rank source, tag t) noexcept {
    posted_receive* known = first_accepting(receives_[bucket_of(source, t)], source, t);
    return wild_receives_.empty() ? known : older(known, source, t);
  }
  /// The same, where it is one that takes the message.
  [[nodiscard]] posted_receive* find_taker(rank source, tag t) noexcept;
  /// The receive posted with this completion, or null. Slow: looks at all.
  [[nodiscard]] posted_receive* find_receive(const completion& done) noexcept;
  /// Those posted for `source` itself, oldest first; still filed. Slow: looks at all.
  [[nodiscard]] std::vector<posted_receive*> receives_from(rank source);
  /// Takes a filed one out, which stays as it is until the next post().
  posted_receive& take(posted_receive& filed) noexcept {
    filed.filed_in->remove(filed);
    receives_pool_.give_back(filed);
    return filed;
  }
  /// For all that are filed, in no order; slow.
  template <class F>
  void each_receive(F&& f) {
    if (receives() == 0) return;
    const auto each = [&](const receive_list& some) {
      for (posted_receive* r = some.front(); r != nullptr; r = receive_list::next(*r)) f(*r);
    };
    each(wild_receives_);
    for (const receive_list& bucket : receives_) each(bucket);
  }
  [[nodiscard]] std::size_t receives() const noexcept { return receives_pool_.in_use(); }

  /// An unexpected message to be filled and kept: a used one where there is one.
  [[nodiscard]] std::unique_ptr<unexpected> fresh();
  /// A message that was taken and is no longer needed.
  void recycle(std::unique_ptr<unexpected> message) noexcept;
  /// Files a message nobody has asked for.
  void keep(std::unique_ptr<unexpected> message) noexcept;
  /// The first message that a receive with these arguments would take; still filed.
  [[nodiscard]] unexpected* find_message(rank source, const tag_match& match) noexcept {
    return unexpected_count_ == 0 ? nullptr : look_for_message(source, match);
  }
  std::unique_ptr<unexpected> take(unexpected& message) noexcept;
  /// For all that are filed, as they arrived.
  template <class F>
  void each_message(F&& f) {
    for (unexpected* m = arrivals_.front(); m != nullptr; m = arrival_list::next(*m)) f(*m);
  }
  /// Drops the announcements of a peer whose data cannot be had any more, but for those that are
  /// being fetched.
  void forget_announcements(const peer& from) noexcept;

  [[nodiscard]] std::size_t unexpected_count() const noexcept { return unexpected_count_; }

 private:
  static constexpr std::size_t bucket_count = 1024;
  [[nodiscard]] static std::size_t bucket_of(rank source, tag t) noexcept {
    const std::uint64_t mixed =
        (t ^ (static_cast<std::uint64_t>(source) << 40)) * 0x9e3779b97f4a7c15;  // golden ratio
    return mixed >> 54;  // the upper 10 bits are the best mixed
  }

  [[nodiscard]] receive_list& list_of(const posted_receive& r) noexcept {
    return r.exact() ? receives_[bucket_of(r.source, r.match.value)] : wild_receives_;
  }
  /// The first receive of `candidates` that accepts the message: lists are in order of age.
  [[nodiscard]] static posted_receive* first_accepting(const receive_list& candidates, rank source,
                                                       tag t) noexcept {
    for (posted_receive* r = candidates.front(); r != nullptr; r = receive_list::next(*r)) {
      if (r->accepts(source, t)) [[likely]]
        return r;
    }
    return nullptr;
  }
  [[nodiscard]] posted_receive* oldest(posted_receive* known, rank source, tag t) const noexcept;
  [[nodiscard]] posted_receive* older(posted_receive* known, rank source, tag t) const noexcept;
  [[nodiscard]] unexpected* look_for_message(rank source, const tag_match& match) noexcept;

  using message_list = list<unexpected, &unexpected::in_bucket>;
  using arrival_list = list<unexpected, &unexpected::in_arrival>;
  slab_pool<posted_receive> receives_pool_;
  std::array<receive_list, bucket_count> receives_;
  receive_list wild_receives_;
  std::array<message_list, bucket_count> messages_;
  arrival_list arrivals_;
  std::uint64_t next_order_ = 1;
  std::size_t unexpected_count_ = 0;
  std::vector<std::unique_ptr<unexpected>> spare_;
};

}  // namespace heddle::protocols
