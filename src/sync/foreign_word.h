// SPDX-License-Identifier: BSD-3-Clause
// foreign_word.h - a word that code reads which is not ours and knows of no order.
#pragma once
#include <atomic>

namespace heddle::sync {

/// Replaces `word`, whole; false: it was `value` already. Relaxed: whoever reads it was written
/// without us, and what `value` leads to must be there for as long as any thread can be.
template <class T>
bool replace_foreign(T& word, T value) noexcept {
  const std::atomic_ref<T> shared(word);
  if (shared.load(std::memory_order_relaxed) == value) return false;
  shared.store(value, std::memory_order_relaxed);
  return true;
}

}  // namespace heddle::sync
