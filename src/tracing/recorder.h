// SPDX-License-Identifier: BSD-3-Clause
// recorder.h - who is watching this process, and where its threads write down what they do.
//
// While nobody watches, sync::special::watched is not set and nothing here is called. Each thread
// has a ring of the newest events; rings outlive their threads, and the next thread takes them
// over.
//
// Reading the clock costs more than all the rest. So of small operations one behind the other only
// one in so many has its time read; the others are known to lie between the events before and
// behind them in their ring, or to have begun after the reading before.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sync/counters.h"
#include "sync/special.h"
#include "tracing/event.h"
#include "tracing/ticks.h"

namespace heddle::trace {

/// Some watcher is there. What costs an operation that nobody watches: this.
[[nodiscard]] inline bool is_watched() noexcept {
  return sync::is(sync::special::watched);
}

/// A rank and a lane of it.
struct place {
  std::int32_t self = -1, lane = -1;
};

/// Small operations: so many at most, one behind the other, without a reading of the clock.
inline constexpr std::uint32_t most_untimed = 31;
/// A larger one may take long, and is always timed.
inline constexpr std::size_t most_untimed_bytes = 256;

namespace detail {
/// Operations of this thread from the last that was sampled on; none yet: more than any sample.
extern constinit thread_local std::uint64_t since_sample;
// Changed under the mutex of the thread_recorders. `begun`: how often the first recording of
// several has.
extern constinit sync::owned_counter recordings, begun, sample_now;
}  // namespace detail

/// Of a thread: its ring, its role, and which of its operations are sampled.
class thread_recorder {
 public:
  /// The calling thread's; made on first use. Null: no memory, or too many threads.
  [[nodiscard]] static thread_recorder* mine() noexcept {
    return of_thread != nullptr ? of_thread : make_mine();
  }

  /// True for one turn in so many: it is to be recorded.
  [[nodiscard]] bool samples_turn() noexcept;
  [[gnu::always_inline]] void add(event& e) noexcept {
    e.ended_on = thread_;
    e.by = role_;
    last_ = e.end;
    ring_->add(e.packed());
  }
  /// Of an operation of so many bytes that begins: whether its time has to be read.
  [[nodiscard]] bool times_next(std::size_t bytes) noexcept {
    if (began_in_ != detail::begun.get()) [[unlikely]]
      begin_anew();
    if (bytes > most_untimed_bytes || untimed_left_ == 0) return true;
    --untimed_left_;
    return false;
  }
  /// An operation's time was read, at its end or where it was posted: those behind it need not be,
  /// unless something else has happened since.
  void was_timed(std::uint64_t at) noexcept {
    if (at < last_) [[unlikely]]
      return;
    last_ = at;
    untimed_left_ = most_untimed;
  }
  /// The next one's has to be.
  void time_next() noexcept { untimed_left_ = 0; }
  /// The end of the thread's last event, or the begin of the last one posted, as far as it was
  /// read.
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  [[nodiscard]] std::uint32_t thread() const noexcept { return thread_; }
  /// Where the thread is at work; for what happens deep below.
  void set_place(place where) noexcept { place_ = where; }
  [[nodiscard]] place where() const noexcept { return place_; }

 private:
  friend class thread_recorders;
  friend struct borrowed_recorder;
  static thread_recorder* make_mine() noexcept;
  /// What is behind from an earlier recording is nothing to count from.
  void begin_anew() noexcept;
  static constinit thread_local thread_recorder* of_thread;

  std::unique_ptr<sync::event_ring> ring_;
  std::uint32_t thread_ = 0;
  std::uint64_t began_in_ = 0;    // of detail::begun
  std::uint64_t since_turn_ = 0;  // as detail::since_sample
  std::uint32_t untimed_left_ = 0;
  std::uint64_t last_ = 0;
  role role_ = role::owner;
  place place_;
};

/// False for most operations where they are sampled: the calling thread's next one is not recorded.
[[nodiscard]] inline bool samples_next() noexcept {
  if (detail::since_sample >= detail::sample_now.get()) return true;
  ++detail::since_sample;
  return false;
}
/// One has been, and the count begins anew.
inline void count_sample_anew() noexcept {
  detail::since_sample = 1;
}

/// The calling thread is one of Heddle's own from now on, before it is recorded.
void this_thread_is(role r) noexcept;

// --- what happens at once: of the calling thread, if it is recorded -------------------
void note(event_kind kind, std::int32_t peer, std::uint64_t amount) noexcept;
/// `where` the thread is.
void note_at(event_kind kind, place where, std::uint64_t amount) noexcept;

/// From here to its end is an event, if the thread is recorded and it came to something.
class span {
 public:
  /// `sampled`: only if samples_turn() says so.
  span(event_kind kind, place where, bool sampled) noexcept {
    if (is_watched()) [[unlikely]]
      begin(kind, where, sampled);
  }
  ~span() {
    if (by_ != nullptr) [[unlikely]]
      end();
  }
  span(const span&) = delete;
  span& operator=(const span&) = delete;
  void set_amount(std::uint64_t amount) noexcept { amount_ = amount; }

 private:
  void begin(event_kind kind, place where, bool sampled) noexcept;
  void end() noexcept;
  thread_recorder* by_ = nullptr;
  event_kind kind_{};
  place where_;
  std::uint64_t begin_ = 0, amount_ = 0;
};

// --- who watches ----------------------------------------------------------------------

/// Events of all threads from its making on, while it lives. Any thread.
class recording {
 public:
  /// `sample`: one operation in so many; `events`: kept of each thread. The first recording of
  /// several at a time says both.
  recording(std::uint32_t sample, std::size_t events);
  ~recording();
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

  /// Calls `f` for each event of rank `self` that is left. Returns how many were lost.
  std::uint64_t each(std::int32_t self, const std::function<void(const event&)>& f) const;
  [[nodiscard]] moment began() const noexcept { return began_; }

 private:
  const moment began_ = moment::now();
  std::vector<std::uint64_t> added_before_;  // by ring
};

/// Whether there is a recording.
[[nodiscard]] inline bool is_recorded() noexcept {
  return detail::recordings.get() != 0;
}
/// Watchers that are no recording come and go.
void add_watcher() noexcept;
void remove_watcher() noexcept;

}  // namespace heddle::trace
