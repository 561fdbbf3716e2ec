// SPDX-License-Identifier: BSD-3-Clause
// rival.h - the program around a rival's library: two ranks on this machine, measured by the
// kernels that measure Heddle; rank 0 prints a line of JSON for each round.
#pragma once
#include <fmt/core.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <vector>

#include "harness/partner.h"
#include "harness/slots.h"
#include "kernels/kernels.h"
#include "libraries/task.h"

namespace heddle::bench {

/// What a thread of a rival has, whatever its library.
class rival_thread {
 public:
  [[nodiscard]] std::byte* here(std::size_t offset) const noexcept { return &here_[offset]; }

 protected:
  /// `here`: this rank's table, or nothing.
  rival_thread(const task& t, int thread, std::span<std::byte> here)
      : thread_(static_cast<std::uint64_t>(thread)),
        bytes_(t.what.bytes),
        line_(t.needs_table() && !t.gups() ? table_layout::for_spec(t.what).line_of(thread) : 0),
        here_(here),
        crowded_(t.crowded()) {}
  /// Tags of its own.
  [[nodiscard]] std::uint64_t tag_for(message m) const {
    return thread_ * 4 + (m == message::answer);
  }
  [[nodiscard]] std::uint64_t notice_tag() const { return thread_ * 4 + 2; }
  /// Of how many puts the partner has told by the word at line_.
  [[nodiscard]] std::uint64_t told_of() const {
    // Acquire pairs with however the library publishes a put.
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(here(line_)))
        .load(std::memory_order_acquire);
  }
  /// After a look that was in vain: at times gives the core away where others need it.
  void rest() {
    constexpr unsigned patience = 64;
    if (crowded_ && ++in_vain_ % patience == 0) sched_yield();
  }

  const std::uint64_t thread_;
  const std::size_t bytes_;  ///< of a message
  const std::size_t line_;   ///< in the tables, by which partners tell of their puts

 private:
  const std::span<std::byte> here_;
  const bool crowded_;
  unsigned in_vain_ = 0;
};

/// A thread whose operations are requests, at most a window of them under way: the oldest is waited
/// for. `Self` is its class: it begins a message as the request `r`, by start_send(tag, bytes, r)
/// from source_ or start_recv(tag, into, bytes, r); says whether one is over at once, by
/// is_over(r), and waits for its end by finish(r); and answers by look() whether the library had
/// something to do.
template <class Self, class Request, class Buffer>
class windowed_thread : public rival_thread {
 public:
  void send(message m) {
    begin([&](std::size_t, Request& r) { self().start_send(tag_for(m), bytes_, r); });
  }
  void recv(message m) {
    begin([&](std::size_t slot, Request& r) {
      self().start_recv(tag_for(m), landing(slot), bytes_, r);
    });
  }
  void deliver(message m) {
    apart([&](Request& r) { self().start_send(tag_for(m), bytes_, r); });
  }
  void await_arrived(std::uint64_t count) {
    while (self().arrived() < count) look_after();
  }
  void drain() {
    for (; unfinished_ > 0; --unfinished_) self().finish(requests_[oldest()]);
  }
  void progress() { (void)self().look(); }
  void notify() {
    apart([&](Request& r) { self().start_send(notice_tag(), 0, r); });
  }
  void await_notice() {
    apart([&](Request& r) { self().start_recv(notice_tag(), landings_.data(), 0, r); });
  }

 protected:
  /// `how`: what a Buffer is made of beside its size.
  template <class... T>
  windowed_thread(const task& t, int thread, std::span<std::byte> here, int window, const T&... how)
      : rival_thread(t, thread, here),
        size_(static_cast<std::size_t>(window)),
        source_(bytes_, how...),
        landings_(bytes_ * size_, how...),
        words_(size_),
        requests_(size_) {}

  /// `start(slot, r)`, when the oldest operation of a full window has ended. What is over at once
  /// keeps no slot.
  template <class F>
  void begin(F&& start) {
    if (unfinished_ == size_) {
      self().finish(requests_[next_]);
      --unfinished_;
    }
    start(next_, requests_[next_]);
    if (self().is_over(requests_[next_])) return;
    if (++next_ == size_) next_ = 0;
    ++unfinished_;
  }
  /// `start(r)` outside of the window, to its end.
  template <class F>
  void apart(F&& start) {
    start(apart_);
    self().finish(apart_);
  }
  void look_after() {
    if (!self().look()) rest();
  }
  [[nodiscard]] std::byte* landing(std::size_t slot) { return landings_.data() + slot * bytes_; }

  const std::size_t size_;
  const Buffer source_, landings_;    ///< landings: one for each slot of the window
  std::vector<std::uint64_t> words_;  ///< by slot

 private:
  [[nodiscard]] Self& self() noexcept { return static_cast<Self&>(*this); }
  [[nodiscard]] std::size_t oldest() const noexcept {
    return next_ >= unfinished_ ? next_ - unfinished_ : next_ + size_ - unfinished_;
  }

  std::vector<Request> requests_;
  Request apart_{};
  std::size_t next_ = 0, unfinished_ = 0;
};

/// A library without a launcher of its own, between this process and the one it forks into.
class forked_library : public partner {
 public:
  using pair = process_pair;
  void tell(std::span<const std::byte> bytes) final { both_.tell(bytes); }
  void hear(std::span<std::byte> bytes) override { both_.hear(bytes); }

 protected:
  forked_library(const process_pair& both, const task& t) : task_(t), both_(both) {}
  /// hear() where the library moves only when `progress()` calls it, and the other rank may wait
  /// for that.
  template <class F>
  void hear_beside(std::span<std::byte> bytes, F&& progress) {
    for (; !bytes.empty(); progress()) bytes = both_.hear_some(bytes);
  }

  const task& task_;

 private:
  const process_pair& both_;
};

/// A library L is made of its pair of processes, L::pair, and a task; see make_measurement().
template <class Library>
void measure_rounds(Library& self, int rank, const task& t) {
  const measurement round = make_measurement(self, t.what, rank, t.crowded());
  for (int i = 0; i < t.rounds; ++i) {
    const round_result r = round();
    if (t.gups() && r.figures[1] > tolerated_losses(t.what.atomic))
      throw std::runtime_error(
          fmt::format("{:.2f} % of the updates were lost", r.figures[1] * 100));
    if (rank != 0) continue;
    fmt::print("{}\n", to_line(r));
    std::fflush(stdout);
  }
}

/// The main function of a rival's program. 1, with the reason on stderr, when something fails.
template <class Library>
int rival_main(int argc, char** argv) {
  const task t = parse(argc, argv);
  const auto fail = [&](const std::exception& why) {
    fmt::print(stderr, "{}: {}\n", argv[0], why.what());
    std::fflush(stderr);
    return 1;
  };
  try {
    typename Library::pair both;
    settle_in(t, both.rank());
    try {
      Library self(both, t);
      measure_rounds(self, both.rank(), t);
    } catch (const std::exception& why) {
      const int status = fail(why);
      both.abandon();
      return status;
    }
    return 0;
  } catch (const std::exception& why) {
    return fail(why);
  }
}

}  // namespace heddle::bench
