// utofu_exchange.cpp - put, get and fetch-add on the other rank's table, and puts that it is told
// of.
//
// A put has ended when the notice of its response is there: the bytes are in the other rank's
// memory, which is what Heddle's completion of a put says. A completion of the TCQ would come
// earlier and say less.
#include <stdexcept>

#include "parts/random_slots.h"
#include "peers/utofu_party.h"

namespace heddle::peers {
namespace {

constexpr unsigned long told = UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE;

/// The operations with everything filled in, and local memory for each slot of the window.
class memory_exchange : public exchange {
 public:
  explicit memory_exchange(const utofu_seat& s)
      : seat_(s),
        own_(s.path, s.on_path, s.what.what.window, s.what.crowded()),
        layout_(layout_for(s.what.what)),
        bytes_(static_cast<std::size_t>(s.what.what.bytes)),
        memory_(bytes_ * static_cast<std::size_t>(s.what.what.window)),
        registered_(s.path.queue(), memory_) {}
  /// The target takes no part: it sleeps until the next run.
  void respond(std::uint64_t) override {}

 protected:
  [[nodiscard]] std::byte* local() const { return memory_.data(); }
  [[nodiscard]] utofu_stadd_t stadd(std::uint64_t slot) const {
    return registered_.stadd() + slot * bytes_;
  }
  [[nodiscard]] std::uint64_t place_of_thread() const {
    return static_cast<std::uint64_t>(seat_.thread) * layout_.stride;
  }
  void put(std::uint64_t to, unsigned long flags = utofu_thread::noticed) {
    own_.put(local(), stadd(0), to, bytes_, flags);
  }

  utofu_seat seat_;
  utofu_thread own_;
  const table_layout layout_;
  const std::size_t bytes_;

 private:
  const utofu_memory memory_;
  const utofu_registration registered_;
};

/// A window of operations on random slots of this thread's part of the table.
class table_flood final : public memory_exchange {
 public:
  using memory_exchange::memory_exchange;
  void initiate(std::uint64_t count) override {
    switch (seat_.what.what.op) {
      case operation::get:
        run(count,
            [this](std::uint64_t slot, std::uint64_t at) { own_.get(stadd(slot), at, bytes_); });
        break;
      case operation::fetch_add:
        run(count, [this](std::uint64_t, std::uint64_t at) { own_.fetch_add(1, at); });
        break;
      default:
        run(count, [this](std::uint64_t, std::uint64_t at) { put(at); });
    }
    own_.drain();
  }

 private:
  /// Operations of one VCQ on another end in their order, so a slot is free when the window is.
  template <class F>
  void run(std::uint64_t count, F&& start) {
    bare::random_slots slots(layout_.part, static_cast<std::uint64_t>(seat_.thread) + 1);
    const std::uint64_t first = layout_.part_of(seat_.thread);
    const auto window = static_cast<std::uint64_t>(seat_.what.what.window);
    for (std::uint64_t i = 0, slot = 0; i < count; ++i) {
      start(slot, first + slots.next() * layout_.stride);
      if (++slot == window) slot = 0;
    }
  }
};

class round_trip final : public memory_exchange {
 public:
  using memory_exchange::memory_exchange;
  void initiate(std::uint64_t count) override {
    const bool get = seat_.what.what.op == operation::get;
    for (std::uint64_t i = 0; i < count; ++i) {
      get ? own_.get(stadd(0), place_of_thread(), bytes_) : own_.fetch_add(1, place_of_thread());
      own_.drain();
    }
  }
};

/// A put into the word that the partner polls, and back.
class put_ping final : public memory_exchange {
 public:
  explicit put_ping(const utofu_seat& s)
      : memory_exchange(s),
        here_(reinterpret_cast<std::uint64_t*>(s.table.data() + place_of_thread())),
        mask_(bytes_ == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes_)) - 1) {}
  void initiate(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      put_turn(++turn_);
      await(turn_);
    }
  }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      await(++turn_);
      put_turn(turn_);
    }
  }

 private:
  /// The partner's answer says that it has arrived.
  void put_turn(std::uint64_t turn) { own_.put_word(turn, place_of_thread(), bytes_, 0); }
  void await(std::uint64_t turn) {
    // Acquire pairs with however uTofu publishes a put.
    for (unsigned spins = 1;
         ((std::atomic_ref(*here_).load(std::memory_order_acquire) ^ turn) & mask_) != 0; ++spins) {
      if (seat_.what.crowded() && spins % 64 == 0) sched_yield();
    }
  }

  std::uint64_t* here_;
  const std::uint64_t mask_;
  std::uint64_t turn_ = 0;
};

/// A put whose arrival the partner is told of by a notice, and back.
class told_ping final : public memory_exchange {
 public:
  using memory_exchange::memory_exchange;
  void initiate(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      put(place_of_thread(), told);
      own_.await_arrived(++arrived_);
    }
  }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      own_.await_arrived(++arrived_);
      put(place_of_thread(), told);
    }
  }

 private:
  std::uint64_t arrived_ = 0;
};

/// Puts with a notice at the target, which says now and then how many it has taken, so that its
/// queue is never full, and answers the last one.
class told_flood final : public memory_exchange {
 public:
  explicit told_flood(const utofu_seat& s)
      : memory_exchange(s),
        most_untaken_(notices / static_cast<std::uint64_t>(s.path.threads())),
        taken_(reinterpret_cast<std::uint64_t*>(s.table.data() + s.control())) {}
  void initiate(std::uint64_t count) override {
    bare::random_slots slots(layout_.part, static_cast<std::uint64_t>(seat_.thread) + 1);
    const std::uint64_t first = layout_.part_of(seat_.thread);
    for (std::uint64_t i = 0; i < count; ++i, ++sent_) {
      if (sent_ - known_ >= most_untaken_) await_taken();
      put(first + slots.next() * layout_.stride, told);
    }
    own_.await_arrived(++answers_);
  }
  void respond(std::uint64_t count) override {
    for (const std::uint64_t end = taken_here_ + count; taken_here_ < end;) {
      taken_here_ = std::min(end, taken_here_ + most_untaken_ / 4);
      own_.await_arrived(taken_here_);
      own_.put_word(taken_here_, seat_.control(), sizeof taken_here_, 0);
    }
    own_.put_word(0, place_of_thread(), 1, told);
  }

 private:
  static constexpr std::uint64_t notices = 1 << 15;  // of a path, in the target's queue

  void await_taken() {
    own_.await([this] {
      // Acquire pairs with however uTofu publishes a put.
      known_ = std::atomic_ref(*taken_).load(std::memory_order_acquire);
      return sent_ - known_ < most_untaken_;
    });
  }

  const std::uint64_t most_untaken_;
  std::uint64_t* taken_;  // the partner's puts
  std::uint64_t sent_ = 0, known_ = 0, answers_ = 0;
  std::uint64_t taken_here_ = 0;
};

}  // namespace

std::unique_ptr<exchange> make_utofu_exchange(const utofu_seat& s) {
  const spec& what = s.what.what;
  if (what.op == operation::am) {
    if (what.what == kind::latency) return std::make_unique<told_ping>(s);
    return std::make_unique<told_flood>(s);
  }
  if (what.what != kind::latency) return std::make_unique<table_flood>(s);
  if (what.op != operation::put) return std::make_unique<round_trip>(s);
  if (what.bytes > sizeof(std::uint64_t)) return std::make_unique<told_ping>(s);
  return std::make_unique<put_ping>(s);
}

}  // namespace heddle::peers
