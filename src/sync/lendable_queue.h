// SPDX-License-Identifier: BSD-3-Clause
// lendable_queue.h - who drives a lane, and the queue in which the others leave what they want of
// it; who drives it alone goes in and out without an atomic read-modify-write.
//
// Whoever takes the queue's hold first drives (combining_queue.h). A visitor, the lane's executor,
// may lend that hold to the thread that it sees using the lane. The queue's hold stays taken then,
// and the borrower has it whenever it wants, until another thread asks it back (biased_hold.h).
#pragma once
#include <atomic>
#include <cstddef>

#include "sync/biased_hold.h"
#include "sync/combining_queue.h"
#include "sync/holds.h"
#include "sync/relaxed.h"
#include "sync/this_thread.h"

namespace heddle::sync {

/// Only where enable_asymmetric_here() said true is anything lent. tests/model puts in its own
/// `Atomic`, and its own threads.
struct threads_here : barriers_here {
  static const void* me() noexcept { return this_thread(); }
};

template <class T, template <class> class Atomic = std::atomic, class Threads = threads_here>
class lendable_queue {
 public:
  using queue = combining_queue<T, Atomic>;
  explicit lendable_queue(std::size_t capacity) : commands_(capacity) {}

  // --- any thread --------------------------------------------------------------------------
  [[nodiscard]] bool enter() noexcept {
    return (commands_.try_hold() && note_use()) || enter_borrowed() || enter_lent();
  }
  /// The same, but only when nothing is queued, which would go first. Who fails has to enter(), or
  /// to tell others of what it leaves in the queue.
  [[nodiscard, gnu::always_inline]] bool enter_free() noexcept {
    if (commands_.try_hold_free()) [[likely]]
      return note_use();
    return !commands_.pending() && (enter_borrowed() || enter_lent());
  }
  /// The same where enter_free() has failed because something is queued.
  [[nodiscard, gnu::noinline]] bool enter_queued() noexcept {
    return commands_.pending() && enter();
  }
  /// Of who comes by to lend a hand, and is not taken for one that uses the lane.
  [[nodiscard]] bool visit() noexcept { return commands_.try_hold() || take_back(); }
  /// Behind a push that found the hold taken: it is lent, so that nobody looks at the queue.
  /// Out of line, so that who finds the hold free does not pay for it.
  [[nodiscard, gnu::noinline]] bool enter_lent() noexcept {
    if (bias_.is_lent() && !contested_.get()) contested_.set(true);
    return take_back() && note_use();
  }
  /// It is lent, and used just now. A look, for who need not have it.
  [[nodiscard]] bool in_use() const noexcept { return bias_.in_use(); }
  [[nodiscard]] bool is_lent() const noexcept { return bias_.is_lent(); }
  /// To whom, as this_thread() says; null: to nobody.
  [[nodiscard]] const void* lent_to() const noexcept { return bias_.lent_to(); }

  // --- the holder --------------------------------------------------------------------------
  /// False: more is queued, and the caller still holds.
  [[nodiscard]] bool leave() noexcept {
    return bias_.is_lent() ? leave_borrowed() : commands_.release();
  }
  /// The same, but a claim is enough to say false.
  [[nodiscard]] bool leave_free() noexcept {
    return bias_.is_lent() ? leave_borrowed() : commands_.release_empty();
  }
  /// Lets go whatever is queued: somebody else was told to come.
  void abandon() noexcept {
    give_back();
    commands_.let_go();
  }
  /// Lets go, and from now on the hold is lent to `thread` (this_thread()). False: something is
  /// queued, or too many threads have borrowed it, and the caller still holds.
  [[nodiscard]] bool lend(const void* thread) noexcept {
    if (commands_.pending() || !bias_.lend(thread)) return false;
    holds::let_go();
    return !commands_.ready() || !take_back();  // left by who found the hold taken
  }
  /// The caller goes on to hold what is not lent: others are to drive from now on.
  void give_back() noexcept {
    if (bias_.is_lent()) bias_.end();
  }
  /// What has happened since the last call.
  struct use {
    const void* by;  ///< who, other than visitors, has entered last; null: nobody has
    bool contested;  ///< it was lent, and another thread has wanted to use it
  };
  [[nodiscard]] use last_use() noexcept {
    const void* const borrowed_by = bias_.used_by();
    const use found{borrowed_by != nullptr ? borrowed_by : commands_.holder().get(),
                    contested_.get()};
    commands_.holder().set(nullptr);
    contested_.set(false);
    return found;
  }
  /// Nobody gets in any more, and the caller has what is queued to itself.
  void retire() noexcept {
    give_back();
    holds::let_go();
  }

  [[nodiscard]] queue& commands() noexcept { return commands_; }
  [[nodiscard]] const queue& commands() const noexcept { return commands_; }

 private:
  [[nodiscard, gnu::always_inline]] bool enter_borrowed() noexcept {
    if (!bias_.enter(Threads::me())) return false;
    holds::took();
    return true;
  }
  [[nodiscard, gnu::always_inline]] bool leave_borrowed() noexcept {
    if (commands_.pending()) [[unlikely]] {  // left by who may not have asked
      bias_.end();
      return false;
    }
    holds::let_go();
    if (bias_.leave()) [[likely]]
      return true;
    holds::took();
    return false;
  }
  [[nodiscard, gnu::always_inline]] bool note_use() noexcept {
    commands_.holder().set(Threads::me());
    return true;
  }
  [[nodiscard]] bool take_back() noexcept {
    if (!bias_.take_back(Threads::me())) return false;
    holds::took();
    return true;
  }

  biased_hold<Atomic, Threads> bias_;
  relaxed<bool> contested_;
  queue commands_;
};

}  // namespace heddle::sync
