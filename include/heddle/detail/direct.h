// SPDX-License-Identifier: BSD-3-Clause
// direct.h - remote memory that this process has mapped: puts, gets and atomics as plain CPU
// instructions, inlined into the caller. What is not mapped goes to the engine instead.
#pragma once
#include <heddle/detail/signal.h>
#include <heddle/types.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace heddle::detail {

/// A peer's region as this process sees it. Constant after import, except the word behind `live`.
struct remote_target {
  std::byte* direct = nullptr;  ///< our mapping of its first byte; nullptr: not mapped
  std::uint64_t bytes = 0;
  const live_word* live =
      nullptr;  ///< set when direct is; generation 0 there: owner withdrew or died
  std::uint32_t generation = 0;
  rank owner = 0;
  rights allowed = rights::none;
  /// Of these, what plain instructions do through the mapping: none when there is no mapping, and
  /// not the atomics where a network does them by itself.
  rights mapped = rights::none;
};

/// True when `bytes` at `offset` may be touched here and now with plain instructions. Not when
/// there are none: then the addresses may be null, which memcpy does not take, and the engine
/// looks.
inline bool reachable(const remote_target& t, std::uint64_t offset, std::size_t bytes,
                      rights wanted) noexcept {
  return allows(t.mapped, wanted) && offset <= t.bytes && bytes - 1 < t.bytes - offset &&
         t.live->is(t.generation);
}

// A direct access has completed when the call returns, so what follows it must come after it, also
// where CPUs reorder (Arm): by program order alone a flag could be seen before the data that was
// put before it. On x86 both keep only the compiler from reordering.

/// Stores that follow are seen after those before. Pairs with order_loads(), and with the acquire
/// by which the owner looks at its memory.
inline void order_stores() noexcept {
#if !defined( \
    __SANITIZE_THREAD__)  // g++ warns of each fence there, also in programs that include us
  std::atomic_thread_fence(std::memory_order_release);
#endif
}
/// Loads that follow come after those before. Pairs with order_stores().
inline void order_loads() noexcept {
#if !defined(__SANITIZE_THREAD__)
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}
/// Stores before it are seen by everybody before the loads after it are done: what a release and an
/// acquire leave open (a store, then a load of another word). Pairs with itself at the peer.
inline void order_all() noexcept {
#if !defined(__SANITIZE_THREAD__)
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}
inline void put_direct(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
  order_stores();
}
inline void get_direct(std::byte* into, const std::byte* from, std::size_t bytes) noexcept {
  std::memcpy(into, from, bytes);
  order_loads();
}

/// A word of this process's memory that peers write. Acquire: pairs with order_stores() and
/// apply_atomic() there.
template <class T>
T read_shared(const T& word) noexcept {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  return std::atomic_ref<T>(const_cast<T&>(word)).load(std::memory_order_acquire);
}

/// Of those that CPUs do not have: what is stored where `was` is found. T is an unsigned word.
template <class T>
T combined(atomic_op op, T was, T operand) noexcept {
  using number = std::make_signed_t<T>;
  using real = std::conditional_t<sizeof(T) == 8, double, float>;
  switch (op) {
    case atomic_op::min:
      return std::min(was, operand);
    case atomic_op::max:
      return std::max(was, operand);
    case atomic_op::signed_min:
      return static_cast<T>(std::min(static_cast<number>(was), static_cast<number>(operand)));
    case atomic_op::signed_max:
      return static_cast<T>(std::max(static_cast<number>(was), static_cast<number>(operand)));
    default:
      return std::bit_cast<T>(std::bit_cast<real>(was) + std::bit_cast<real>(operand));
  }
}

/// The same on `at`, by compare and swap.
template <class T>
[[gnu::noinline]] T apply_combined(atomic_op op, T& at, T operand) noexcept {
  using word_type = std::make_unsigned_t<T>;
  const std::atomic_ref<word_type> word(reinterpret_cast<word_type&>(at));
  // Relaxed: what it says is only a guess. Acquire and release: as apply_atomic().
  word_type was = word.load(std::memory_order_relaxed);
  const auto wanted = static_cast<word_type>(operand);
  while (!word.compare_exchange_weak(was, combined(op, was, wanted), std::memory_order_acq_rel,
                                     std::memory_order_relaxed)) {
  }
  return static_cast<T>(was);
}

/// What is done to the memory of a T: integers as they are, floating numbers by their bits.
template <class T>
struct atomic_word {
  using type = T;
};
template <std::floating_point T>
struct atomic_word<T> {
  using type = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
};
/// Which operation `op` is on a T.
template <class T>
constexpr atomic_op op_on(atomic_op op) noexcept {
  if constexpr (std::floating_point<T>) {
    if (op == atomic_op::add) return atomic_op::float_add;
  } else if constexpr (std::is_signed_v<T>) {
    if (op == atomic_op::min) return atomic_op::signed_min;
    if (op == atomic_op::max) return atomic_op::signed_max;
  }
  return op;
}
/// Whether there is such an operation on a T.
template <class T>
constexpr bool exists_on(atomic_op op) noexcept {
  return std::integral<T> || op == atomic_op::add || op == atomic_op::swap ||
         op == atomic_op::compare_swap;
}

/// Does `op` on `at`, which is aligned to its size; returns the old value.
/// Acquire and release: an atomic publishes what was stored before it, as peers expect of one.
template <class T>
[[gnu::always_inline]] inline T apply_atomic(atomic_op op, T& at, T operand, T compare) noexcept {
  constexpr auto order = std::memory_order_acq_rel;  // pairs with the peers' atomics on this word
  const std::atomic_ref<T> word(at);
  switch (op) {
    case atomic_op::add:
      return word.fetch_add(operand, order);
    case atomic_op::bit_and:
      return word.fetch_and(operand, order);
    case atomic_op::bit_or:
      return word.fetch_or(operand, order);
    case atomic_op::bit_xor:
      return word.fetch_xor(operand, order);
    case atomic_op::swap:
      return word.exchange(operand, order);
    case atomic_op::compare_swap:
      word.compare_exchange_strong(compare, operand, order);
      break;
    default:
      return apply_combined(op, at, operand);
  }
  return compare;  // compare_exchange_strong left the old value there
}

}  // namespace heddle::detail
