// SPDX-License-Identifier: BSD-3-Clause
// credit.h - how many bytes of unexpected messages two lanes may cause at each other.
//
// A sender takes credit for each tagged message that travels whole, and its receiver gives it back,
// many messages' at a time, once they have been received. Both sides count with the same costs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

namespace heddle::protocols {

/// What this lane knows of it for one peer, as its sender and as its receiver. Holder only.
class credit {
 public:
  /// Each may cause `limit` bytes at the other; so much as `portion` is given back at a time, and
  /// no less.
  void open(std::uint64_t limit, std::uint64_t portion) noexcept {
    limit_ = left_ = limit;
    portion_ = portion;
  }
  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  /// What a message of so many bytes takes of its receiver's memory while it is unexpected.
  [[nodiscard]] static constexpr std::uint64_t cost_of(std::size_t bytes) noexcept {
    return bytes + message_cost;
  }

  // --- the sender --------------------------------------------------------------------------
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  [[nodiscard]] bool covers(std::uint64_t cost) const noexcept { return cost <= left_; }
  void take(std::uint64_t cost) noexcept { left_ -= cost; }
  /// What was taken for a message that has not left after all.
  void take_back(std::uint64_t cost) noexcept { left_ += cost; }
  /// The receiver has given some back; 0 bytes tell that it receives. False: more than was taken.
  [[nodiscard]] bool add(std::uint64_t bytes, std::uint64_t now_ns) noexcept {
    if (bytes > limit_ - left_) return false;
    left_ += bytes;
    waited_for_since_ns_ = 0;
    came_ns_ = now_ns;
    return true;
  }
  /// So much will come while the receiver receives: it keeps less than a portion to itself.
  [[nodiscard]] bool may_cover(std::uint64_t cost) const noexcept {
    return cost <= limit_ - portion_;
  }
  /// How long a message has waited for some, the first of those that do.
  [[nodiscard]] std::uint64_t waited_ns(std::uint64_t now_ns) noexcept {
    if (waited_for_since_ns_ == 0) waited_for_since_ns_ = now_ns;
    return now_ns - waited_for_since_ns_;
  }
  [[nodiscard]] bool came_within(std::uint64_t ns, std::uint64_t now_ns) const noexcept {
    return came_ns_ != 0 && now_ns - came_ns_ < ns;
  }

  // --- the receiver ------------------------------------------------------------------------
  /// What the peer's unexpected messages use here.
  [[nodiscard]] std::uint64_t held() const noexcept { return held_; }
  /// A message is kept. False: the peer had no credit for it.
  [[nodiscard]] bool hold(std::uint64_t cost) noexcept {
    if (held_ + cost > limit_) return false;
    held_ += cost;
    return true;
  }
  void let_go(std::uint64_t cost) noexcept { held_ -= cost; }
  /// A message has been received that took credit, or that had been fetched early and took none.
  /// True: it is time to tell the peer.
  [[nodiscard]] bool owe(std::uint64_t cost) noexcept { return (owed_ += cost) >= portion_; }
  [[nodiscard]] bool count_early(std::uint64_t cost) noexcept {
    return (taken_early_ += cost) >= portion_;
  }
  /// All that is owed, which is given back now.
  [[nodiscard]] std::uint64_t settle() noexcept {
    taken_early_ = 0;
    return std::exchange(owed_, 0);
  }

 private:
  /// Beside its bytes: a number of the protocol, not of this program's memory.
  /// docs/guide/concepts.md tells it.
  static constexpr std::uint64_t message_cost = 184;

  std::uint64_t limit_ = 0, portion_ = 0;
  std::uint64_t left_ = 0;
  std::uint64_t came_ns_ = 0;              // when the peer last gave some back; 0: never
  std::uint64_t waited_for_since_ns_ = 0;  // a message waits for some; 0: none has since it came
  std::uint64_t held_ = 0, owed_ = 0;
  std::uint64_t taken_early_ = 0;  // of messages fetched early, since the peer was told
};

}  // namespace heddle::protocols
