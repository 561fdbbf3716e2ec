// SPDX-License-Identifier: BSD-3-Clause
// traits.h - what a device can do, as data.
#pragma once
#include <cstddef>
#include <cstdint>

#include "transport/op.h"

namespace heddle::transport {

/// Which atomics: each of atomic_op on 4 and on 8 bytes.
class atomic_set {
 public:
  [[nodiscard]] static constexpr atomic_set all() noexcept { return atomic_set((1u << bits) - 1); }
  /// Without min, max and those of floating numbers: what a network that does atomics by itself
  /// needs to have. The engine makes the others of its compare_swap.
  [[nodiscard]] static constexpr atomic_set common() noexcept {
    return atomic_set(bit(atomic_op::min, 4) - 1);
  }
  [[nodiscard]] static constexpr atomic_set none() noexcept { return atomic_set(0); }
  [[nodiscard]] constexpr atomic_set with(atomic_op op, unsigned width) const noexcept {
    return atomic_set(set_ | bit(op, width));
  }
  [[nodiscard]] constexpr bool has(atomic_op op, unsigned width) const noexcept {
    return (set_ & bit(op, width)) != 0;
  }
  [[nodiscard]] constexpr bool includes(atomic_set other) const noexcept {
    return (set_ & other.set_) == other.set_;
  }
  [[nodiscard]] friend constexpr bool operator==(atomic_set, atomic_set) noexcept = default;

 private:
  static constexpr unsigned bits = 2 * (static_cast<unsigned>(last_atomic_op) + 1);
  explicit constexpr atomic_set(unsigned set) noexcept : set_(set) {}
  [[nodiscard]] static constexpr unsigned bit(atomic_op op, unsigned width) noexcept {
    return 1u << (2 * static_cast<unsigned>(op) + (width == 8 ? 1 : 0));
  }
  std::uint32_t set_;
};

/// What a device can do. Constant once all peers are added; what it is before says nothing of them.
struct traits {
  op_set native = only(op_kind::send);     ///< kinds post() takes; the engine emulates the others
  atomic_set atomics = atomic_set::all();  ///< which of them, where `native` has atomic
  bool cpu_atomics = true;                 ///< they and the CPU's on one word see each other
  std::size_t max_message = 0;             ///< bytes of header + data in one send
  std::size_t max_op = SIZE_MAX;           ///< bytes of one put, get or delivery
  std::size_t max_inline = 0;              ///< of a put that long post() is done with the data
  std::size_t depth = SIZE_MAX;            ///< ops of an endpoint in flight, at most
  std::size_t lanes = SIZE_MAX;            ///< make_endpoint() has numbers below this
  /// Sends to one peer arrive in order in any case. And a send posted after a put to the same peer
  /// arrives after the put's bytes.
  bool send_after_put = true;
  /// The bytes of a put to a peer are there before those of a put posted after it.
  bool put_after_put = false;
  /// op::tells works for some puts that are not larger than max_op: they and their notifications
  /// take one trip.
  bool put_tells = false;
  /// A put that has ended is visible to the peer. False: it has only left, so that the engine does
  /// without it.
  bool ends_remotely = true;
  /// Puts, gets and atomics wait until the peer polls its lane.
  bool target_polls = false;
  /// post() itself copies the bytes of a put or get: the engine gives it large ones in pieces.
  bool copies_in_post = false;
  /// Reaches peers on other hosts. False: those of its own host only, and is told to no others
  /// where a rank has its host for itself.
  bool leaves_host = true;
  /// import() maps memory of peers that is a file's (backing::memfd).
  bool maps_files = false;
  /// It is software that reaches the memory of this host's processes by itself where that is a
  /// file's, and through the kernel where it is not: what Heddle allocates is a file's then.
  bool reaches_files = false;
  bool defers = false;  ///< post() may leave output for the next poll() to send (batching)
  /// post() may answer posted for an op that ends as `unsupported`: whoever cannot know at once.
  bool refuses_late = false;
};

/// What the engine uses of `t.native`. Two ways to one word that do not see each other lose
/// updates, so a device whose atomics the CPU does not see does all the common ones, or none.
[[nodiscard]] constexpr op_set usable_ops(const traits& t) noexcept {
  op_set usable = t.native;
  if (!t.ends_remotely) usable &= static_cast<op_set>(~only(op_kind::put));
  if (!t.cpu_atomics && !t.atomics.includes(atomic_set::common()))
    usable &= static_cast<op_set>(~only(op_kind::atomic));
  return usable;
}

/// Whether all atomics on a peer that this device reaches have to be its own.
[[nodiscard]] constexpr bool owns_atomics(const traits& t) noexcept {
  return !t.cpu_atomics && (usable_ops(t) & only(op_kind::atomic)) != 0;
}

}  // namespace heddle::transport
