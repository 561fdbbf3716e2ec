// matcher.h - which receive gets which message: posted receives on one side, unexpected messages on
// the other.
//
// Exact receives (one source, one tag) hang in buckets hashed by both; receives with a wildcard
// hang in one list that costs nothing while it is empty. Of the receives that accept a message the
// oldest gets it; of the messages a receive accepts the one that arrived first (invariant I13).
#pragma once
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "protocols/record.h"

namespace heddle::protocols {

/// A message nobody has asked for yet.
struct unexpected {
  rank source = 0;
  heddle::tag tag = 0;
  std::uint64_t bytes = 0;
  std::array<std::byte, 64> small;     ///< the data of a short eager one
  std::unique_ptr<std::byte[]> large;  ///< of a longer one
  bool announced = false;              ///< a rendezvous request: `remote` says where the data is
  rendezvous remote;
  std::uint64_t credit = 0;  ///< goes back to the sender when it is taken
  hook<unexpected> in_bucket, in_arrival;

  /// Eager data: `bytes` of it.
  [[nodiscard]] const std::byte* data() const noexcept {
    return large ? large.get() : small.data();
  }
  void copy(std::span<const std::byte> payload);
};

/// Holder only.
class matcher {
 public:
  ~matcher();

  /// Files a receive. Its `what` has peer and match.
  void post(record& receive) noexcept;
  /// Takes a receive out again, matched or not wanted any more.
  void remove(record& receive) noexcept;
  /// The oldest receive that accepts a message from `source` with `t`; still filed.
  [[nodiscard]] record* find_receive(rank source, tag t) noexcept;
  /// The receive posted with this completion, or null. Slow: looks at all.
  [[nodiscard]] record* find_receive(const completion& done) noexcept;

  /// A receive with a wildcard, or null.
  [[nodiscard]] record* first_wild() noexcept { return wild_receives_.front(); }

  /// An unexpected message to be filled and kept: a used one where there is one.
  [[nodiscard]] std::unique_ptr<unexpected> fresh();
  /// A message that was taken and is no longer needed.
  void recycle(std::unique_ptr<unexpected> message) noexcept;
  /// Files a message nobody has asked for.
  void keep(std::unique_ptr<unexpected> message) noexcept;
  /// The first message that a receive with these arguments would take; still filed.
  [[nodiscard]] unexpected* find_message(rank source, const tag_match& match) noexcept;
  std::unique_ptr<unexpected> take(unexpected& message) noexcept;
  /// Drops the requests of a peer whose data cannot be had any more.
  void forget_requests(rank source) noexcept;

  [[nodiscard]] std::size_t unexpected_count() const noexcept { return unexpected_count_; }

 private:
  static constexpr std::size_t bucket_count = 1024;
  [[nodiscard]] static std::size_t bucket_of(rank source, tag t) noexcept;

  using message_list = list<unexpected, &unexpected::in_bucket>;
  using arrival_list = list<unexpected, &unexpected::in_arrival>;
  std::array<bucket_list, bucket_count> receives_;
  bucket_list wild_receives_;
  std::array<message_list, bucket_count> messages_;
  arrival_list arrivals_;
  std::uint64_t next_order_ = 1;
  std::size_t unexpected_count_ = 0;
  std::vector<std::unique_ptr<unexpected>> spare_;
};

}  // namespace heddle::protocols
