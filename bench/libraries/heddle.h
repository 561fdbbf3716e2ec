// SPDX-License-Identifier: BSD-3-Clause
// heddle.h - Heddle as a library that kernels measure: two ranks of a job, and their threads.
#pragma once
#include <heddle/heddle.h>
#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "harness/partner.h"
#include "kernels/library.h"
#include "libraries/equipment.h"
#include "libraries/heddle_stream.h"
#include "libraries/station.h"
#include "libraries/window.h"

namespace heddle::bench {

/// One thread's words at any rank: puts, gets and updates of single words in a window.
class heddle_words {
 public:
  using place = remote_address;

  heddle_words(station& at, const spec& s, int thread)
      : lane_(at.lane_of(s, thread)),
        turns_(at.turns_of(s, thread)),
        window_(turns_, s.window),
        words_(window_.slots()) {}

  /// Of the value a copy is kept.
  [[gnu::always_inline]] void put_word(std::uint64_t value, place to) {
    window_.post([this, value, to](completion c, std::size_t slot) {
      words_[slot] = value;
      return lane_.try_put(words_[slot], remote_ptr<std::uint64_t>{to}, c);
    });
  }
  /// The low 1 to 8 bytes of it.
  void put_word(std::uint64_t value, place to, std::uint64_t bytes) {
    if (bytes == sizeof value) return put_word(value, to);
    window_.post([&](completion c, std::size_t slot) {
      words_[slot] = value;
      return lane_.try_put(std::as_bytes(std::span(&words_[slot], 1)).first(bytes), to, c);
    });
  }
  [[gnu::always_inline]] void fetch_add(place at) {
    window_.post([this, at](completion c, std::size_t slot) {
      return lane_.try_fetch_add(remote_ptr<std::uint64_t>{at}, std::uint64_t{1}, words_[slot], c);
    });
  }
  void exclusive_or(std::uint64_t value, place at) {
    window_.post([&](completion c, std::size_t) {
      return lane_.try_atomic<std::uint64_t>(atomic_op::bit_xor, remote_ptr<std::uint64_t>{at},
                                             value, nullptr, c);
    });
  }
  [[nodiscard]] std::uint64_t get_word(place from) {
    std::uint64_t value = 0;
    require(turns_.get(value, remote_ptr<std::uint64_t>{from}), "get");
    return value;
  }
  void drain() { window_.drain(); }

 protected:
  lane& lane_;
  const locked_lane turns_;
  window window_;

 private:
  std::vector<std::uint64_t> words_;  // by slot: what puts read and fetch-adds write
};

/// Where one thread sits, and what it sends and receives.
struct seat {
  station& at;
  const equipment& gear;
  spec what;
  int thread;

  [[nodiscard]] mailbox& box() const noexcept { return at.mailbox_of(thread); }
  [[nodiscard]] tag tag_for(purpose p) const noexcept { return tag_of(p, thread); }
  [[nodiscard]] tag tag_for(message m) const noexcept {
    return tag_for(m == message::data ? purpose::data : purpose::answer);
  }
  [[nodiscard]] handler_id handler(handler_id first) const noexcept {
    return static_cast<handler_id>(first + thread);
  }
  [[nodiscard]] std::span<const std::byte> source() const noexcept { return gear.source(thread); }
  [[nodiscard]] std::span<std::byte> landing(std::size_t slot) const noexcept {
    return gear.landing(thread, slot);
  }
};

/// The words of a ping-pong by a thread that begins, and then only looks at a flag or a counter of
/// its own: Heddle's executor moves the messages, or a post that finds something to do.
class heddle_aside {
 public:
  explicit heddle_aside(const seat& s) : seat_(s), lane_(s.at.lane_of(s.what, s.thread)) {}

  void recv(message m) {
    received_.post(
        [&](completion c) { return lane_.try_recv(peer_, seat_.tag_for(m), seat_.landing(0), c); });
  }
  void deliver(message m) {
    sent_.post(
        [&](completion c) { return lane_.try_send(peer_, seat_.tag_for(m), seat_.source(), c); });
  }
  void call(message) {
    sent_.post([&](completion c) {
      return lane_.try_call(peer_, seat_.handler(count_handlers), {}, seat_.source(), c);
    });
  }
  [[nodiscard]] std::uint64_t arrived() const { return seat_.box().arrived.count(); }
  void await_arrived(std::uint64_t count) const {
    while (arrived() < count) sched_yield();
  }
  void drain() {
    received_.finish();
    sent_.finish();
  }

 private:
  /// One operation at a time.
  class watched {
   public:
    /// `attempt(completion)` until it is accepted, when the one before has ended.
    template <class Attempt>
    void post(Attempt&& attempt) {
      finish();
      ended_.reset();
      status s = attempt(completion(ended_));
      for (; is_busy(s); s = attempt(completion(ended_))) sched_yield();
      require(s, "post");
      in_flight_ = s == status::posted;
    }
    void finish() {
      if (!std::exchange(in_flight_, false)) return;
      while (!ended_.ready()) sched_yield();
      require(ended_.result().code, "complete");
    }

   private:
    flag ended_;
    bool in_flight_ = false;
  };

  const seat seat_;
  lane& lane_;
  const rank peer_ = seat_.at.peer();
  watched sent_, received_;
};

/// The words of kernels/library.h, between a thread and its partner.
class heddle_path : public heddle_words {
 public:
  using aside = heddle_aside;
  static constexpr bool handler_answers = true;

  explicit heddle_path(const seat& s) : heddle_words(s.at, s.what, s.thread), seat_(s) {}

  [[nodiscard]] place at(std::size_t offset) const noexcept { return table_.at(offset); }
  [[nodiscard]] std::byte* here(std::size_t offset) const { return seat_.gear.table() + offset; }

  /// Of 8 bytes as a word, which is how a program would put them.
  [[gnu::always_inline]] void put(place to) {
    window_.post([this, to](completion c, std::size_t) {
      if (source_.size() != sizeof(std::uint64_t)) return lane_.try_put(source_, to, c);
      const auto& word = *reinterpret_cast<const std::uint64_t*>(source_.data());
      return lane_.try_put(word, remote_ptr<std::uint64_t>{to}, c);
    });
  }
  void put_told(place to) {
    window_.post([&](completion c, std::size_t) {
      return lane_.try_put_notify(source_, to, seat_.handler(pong_handlers), 0, c);
    });
  }
  [[gnu::always_inline]] void get(place from) {
    window_.post([this, from](completion c, std::size_t slot) {
      return lane_.try_get(seat_.landing(slot), from, c);
    });
  }

  void send(message m) {
    window_.post([&](completion c, std::size_t) {
      return lane_.try_send(peer_, seat_.tag_for(m), source_, c);
    });
  }
  void recv(message m) {
    window_.post([&](completion c, std::size_t slot) {
      return lane_.try_recv(peer_, seat_.tag_for(m), seat_.landing(slot), c);
    });
  }
  void deliver(message m) { require(turns_.send(peer_, seat_.tag_for(m), source_), "send"); }
  /// In a ping-pong the handler answers, otherwise it counts.
  void call(message) {
    const bool fits = source_.size() <= max_call_header;
    const std::span<const std::byte> none;
    window_.post([&](completion c, std::size_t) {
      return lane_.try_call(peer_, called_, fits ? source_ : none, fits ? none : source_, c);
    });
  }
  [[nodiscard]] std::uint64_t arrived() const { return seat_.box().arrived.count(); }
  void await_arrived(std::uint64_t count) {
    require(turns_.wait(seat_.box().arrived, count), "wait for an arrival");
  }

  [[nodiscard]] heddle_stream& beside() noexcept { return beside_; }
  [[nodiscard]] std::unique_ptr<aside> make_aside() const { return std::make_unique<aside>(seat_); }

  void flush() { require(turns_.flush(peer_), "flush"); }
  /// Where puts come by message, Heddle is kept moving.
  void progress() {
    if (!table_.mapped() || ++looks_ % 1024 == 0) turns_.poll();
  }
  void notify() { require(lane_.send(peer_, seat_.tag_for(purpose::finished), {}), "notify"); }
  void await_notice() {
    require(lane_.recv(peer_, seat_.tag_for(purpose::finished), {}).code, "wait for a notice");
  }

 private:
  const seat seat_;
  const rank peer_ = seat_.at.peer();
  const remote_region table_ = seat_.gear.their_table();
  const std::span<const std::byte> source_ = seat_.source();
  const handler_id called_ =
      seat_.handler(seat_.what.what == kind::latency ? ping_handlers : count_handlers);
  heddle_stream beside_{lane_, turns_, peer_, seat_.tag_for(purpose::beside),
                        seat_.what.beside_bytes};
  unsigned looks_ = 0;
};

/// This rank and its partner in one benchmark. Collective between them.
class heddle_pair final : public partner {
 public:
  using path = heddle_path;

  /// `at` must outlive this. Throws heddle::error.
  heddle_pair(station& at, const spec& s) : at_(at), spec_(s), gear_(at, s) {}
  [[nodiscard]] std::unique_ptr<heddle_path> make_path(int thread) {
    return std::make_unique<heddle_path>(seat{at_, gear_, spec_, thread});
  }
  /// Whether the partner's table is mapped here, so that puts and gets are copies.
  [[nodiscard]] bool mapped() const noexcept { return gear_.their_table().mapped(); }
  void tell(std::span<const std::byte> bytes) override {
    require(at_.first_lane().send(at_.peer(), tag_of(purpose::count, 0), bytes), "tell");
  }
  void hear(std::span<std::byte> bytes) override {
    require(at_.first_lane().recv(at_.peer(), tag_of(purpose::count, 0), bytes).code, "hear");
  }

 private:
  station& at_;
  const spec spec_;
  const equipment gear_;
};

}  // namespace heddle::bench
