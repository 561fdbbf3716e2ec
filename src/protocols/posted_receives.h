// SPDX-License-Identifier: BSD-3-Clause
// posted_receives.h - receives whose message has not come, found by it in the order of their age.
//
// Exact receives (one source, one tag) hang in buckets hashed by both; receives with a wildcard
// hang in one list that costs nothing while it is empty.
#pragma once
#include <heddle/completion.h>
#include <heddle/matched_message.h>
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/slab_pool.h"
#include "protocols/list.h"
#include "protocols/match_buckets.h"

namespace heddle::protocols {

struct receive_list;

/// A receive nobody has sent for yet; or who takes a message, whose place is in `into`.
struct posted_receive {
  rank source = any_source;
  tag_match match{0};
  std::span<std::byte> into{};
  completion done{};
  std::uint64_t order = 0;     ///< age
  std::uint64_t since_ns = 0;  ///< first seen by a look at all; 0: not yet
  hook<posted_receive> in_bucket{};
  receive_list* filed_in = nullptr;     ///< by posted_receives
  posted_receive* next_free = nullptr;  ///< of its pool

  /// It takes the message itself, not its data: no span is that long.
  [[nodiscard]] bool takes() const noexcept { return into.size() == taker_size; }
  [[nodiscard]] detail::taken_message& place() const noexcept {
    return *reinterpret_cast<detail::taken_message*>(into.data());
  }
  static constexpr std::size_t taker_size = SIZE_MAX;
  [[nodiscard]] bool accepts(rank from, tag t) const noexcept {
    return (source == any_source || source == from) && match.accepts(t);
  }
};

struct receive_list : list<posted_receive, &posted_receive::in_bucket> {};

/// Holder only.
class posted_receives {
 public:
  /// Files a receive.
  posted_receive& post(rank source, const tag_match& match, std::span<std::byte> into,
                       const completion& done) {
    receive_list& in =
        is_exact(source, match) ? buckets_[match_bucket(source, match.value)] : wild_;
    return file(in, source, match, into, done);
  }
  /// Files who takes a message: always as a wildcard, where it costs receives nothing.
  void post_taker(rank source, const tag_match& match, detail::taken_message& place,
                  const completion& done);
  /// The oldest receive that accepts a message from `source` with `t`; still filed. Null as well
  /// where it is one that takes the message: see find_taker.
  [[nodiscard]] posted_receive* find(rank source, tag t) noexcept {
    posted_receive* known = first_accepting(buckets_[match_bucket(source, t)], source, t);
    return wild_.empty() ? known : older(known, source, t);
  }
  /// The same, where it is one that takes the message.
  [[nodiscard]] posted_receive* find_taker(rank source, tag t) noexcept;
  /// The receive posted with this completion, or null. Slow: looks at all.
  [[nodiscard]] posted_receive* find(const completion& done) noexcept;
  /// Those posted for `source` itself, oldest first; still filed. Slow: looks at all.
  [[nodiscard]] std::vector<posted_receive*> from(rank source);
  /// Takes a filed one out, which stays as it is until the next post().
  posted_receive& take(posted_receive& filed) noexcept {
    filed.filed_in->remove(filed);
    pool_.give_back(filed);
    return filed;
  }
  /// For all that are filed, in no order; slow.
  template <class F>
  void each(F&& f) {
    if (size() == 0) return;
    const auto each_of = [&](const receive_list& some) {
      for (posted_receive* r = some.front(); r != nullptr; r = receive_list::next(*r)) f(*r);
    };
    each_of(wild_);
    for (const receive_list& bucket : buckets_) each_of(bucket);
  }
  [[nodiscard]] std::size_t size() const noexcept { return pool_.in_use(); }

 private:
  posted_receive& file(receive_list& in, rank source, const tag_match& match,
                       std::span<std::byte> into, const completion& done) {
    posted_receive& r = pool_.take();
    r.source = source;
    r.match = match;
    r.into = into;
    r.done = done;
    r.order = next_order_++;
    r.since_ns = 0;
    r.filed_in = &in;
    in.push_back(r);
    return r;
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

  slab_pool<posted_receive> pool_;
  std::array<receive_list, match_buckets> buckets_;
  receive_list wild_;
  std::uint64_t next_order_ = 1;
};

}  // namespace heddle::protocols
