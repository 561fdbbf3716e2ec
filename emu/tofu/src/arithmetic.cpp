// SPDX-License-Identifier: BSD-3-Clause
// arithmetic.cpp - see arithmetic.h.
#include "arithmetic.h"

#include <sched.h>
#include <utofu.h>

#include <atomic>

#include "host/copy.h"
#include "host/shared_lock.h"

namespace tofu {

namespace {

template <class Word>
Word compute(const operation& op, Word old) noexcept {
  const auto operand = static_cast<Word>(op.words[0]);
  if (op.what == command::cswap) return old == operand ? static_cast<Word>(op.words[1]) : old;
  switch (op.armw) {
    case UTOFU_ARMW_OP_SWAP:
      return operand;
    case UTOFU_ARMW_OP_ADD:
      return old + operand;
    case UTOFU_ARMW_OP_XOR:
      return old ^ operand;
    case UTOFU_ARMW_OP_AND:
      return old & operand;
    default:
      return old | operand;
  }
}

/// Time for CPUs to change the word, now and then only: the lock is held meanwhile, and on a busy
/// machine whoever gives its core away waits long for the next one.
void open_window() noexcept {
  constexpr unsigned one_in = 32;
  thread_local unsigned updates = 0;
  if (++updates % one_in == 0) sched_yield();
}

/// Whatever is atomic here is made so by the lock: two plain accesses, as far as CPUs can tell.
template <class Word>
Word update_in_two(const operation& op, bool window, std::byte* at) noexcept {
  const std::atomic_ref word(*reinterpret_cast<Word*>(at));
  const Word old = word.load(std::memory_order_acquire);  // of the program's release
  if (window) open_window();
  word.store(compute(op, old), std::memory_order_release);  // for the program's acquire
  return old;
}

template <class Word>
Word update_at_once(const operation& op, std::byte* at) noexcept {
  const std::atomic_ref word(*reinterpret_cast<Word*>(at));
  Word old = word.load(std::memory_order_relaxed);  // a guess; the exchange checks it
  // acq_rel: orders the program's data around its word, on both sides.
  while (!word.compare_exchange_weak(old, compute(op, old), std::memory_order_acq_rel)) {
  }
  return old;
}

template <class Word>
int update_elsewhere(const operation& op, pid_t pid, std::uint64_t at, std::uint64_t& old) {
  Word word = 0;
  auto* const bytes = reinterpret_cast<std::byte*>(&word);
  if (const int rc = host::read_from_process(pid, bytes, at, sizeof word); rc != 0) return rc;
  old = word;
  word = compute(op, word);
  return host::write_to_process(pid, at, bytes, sizeof word);
}

template <class Word>
int update(const armw_rules& rules, const operation& op, const target& to,
           const remote_place& where, std::uint64_t& old) noexcept {
  if (where.here == nullptr) return update_elsewhere<Word>(op, to.pid(), where.there, old);
  old = rules.with_cpu ? update_at_once<Word>(op, where.here)
                       : update_in_two<Word>(op, rules.window, where.here);
  return 0;
}

int update(const armw_rules& rules, const operation& op, const target& to,
           const remote_place& where, std::uint64_t& old) noexcept {
  return op.width == 8 ? update<std::uint64_t>(rules, op, to, where, old)
                       : update<std::uint32_t>(rules, op, to, where, old);
}

shared_lock& lock_of(const machine& m, armw_scope scope, const target& to) noexcept {
  switch (scope) {
    case armw_scope::node:
      return m.at(to.node()).armw;
    case armw_scope::tni:
      return m.at(to.node()).tnis[to.tni()].armw;
    default:
      return to.cq().armw;
  }
}

}  // namespace

int execute_armw(const machine& m, const armw_rules& rules, const operation& op, const target& to,
                 const remote_place& where, std::uint64_t& old) noexcept {
  if (rules.with_cpu && where.here != nullptr) return update(rules, op, to, where, old);
  const host::shared_lock_guard held(m.file(), m.stamp(), lock_of(m, rules.scope, to).holder);
  return update(rules, op, to, where, old);
}

}  // namespace tofu
