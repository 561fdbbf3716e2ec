// direct.h - remote memory that this process has mapped: puts, gets and atomics as plain CPU
// instructions, inlined into the caller. What is not mapped goes to the engine instead.
#pragma once
#include <heddle/detail/signal.h>
#include <heddle/types.h>

#include <atomic>
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

/// True when `bytes` at `offset` may be touched here and now with plain instructions.
inline bool reachable(const remote_target& t, std::uint64_t offset, std::size_t bytes,
                      rights wanted) noexcept {
  return allows(t.mapped, wanted) && offset <= t.bytes && bytes <= t.bytes - offset &&
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

/// Does `op` on `at`, which is aligned to its size; returns the old value.
/// Acquire and release: an atomic publishes what was stored before it, as peers expect of one.
template <class T>
T apply_atomic(atomic_op op, T& at, T operand, T compare) noexcept {
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
  }
  return compare;  // compare_exchange_strong left the old value there
}

}  // namespace heddle::detail
