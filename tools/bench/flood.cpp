// flood.cpp - a window of operations in flight one way: rates of small ones, bandwidth of large.
#include <stdexcept>

#include "bench/exchange.h"
#include "bench/window.h"
#include "parts/random_slots.h"

namespace heddle::bench {
namespace {

/// Operations on random slots of this thread's part of the target's table, which takes no part.
class table_flood : public passive_target {
 public:
  explicit table_flood(const seat& s)
      : passive_target(s), window_(s.turns(), s.what.window), results_(window_.slots()) {}

  void initiate(std::uint64_t count, stopwatch&) final {
    const table_layout& layout = seat_.gear.layout();
    bare::random_slots slots(layout.part, static_cast<std::uint64_t>(seat_.thread) + 1);
    const remote_address table = seat_.gear.their_table().at(layout.part_of(seat_.thread));
    run(count, [&] { return table + slots.next() * layout.stride; });
    window_.drain();
    require(seat_.turns().flush(seat_.at.peer()), "flush");
  }

 protected:
  window window_;
  std::vector<std::uint64_t> results_;  // of fetch-adds in flight

 private:
  /// Posts `count` operations on the addresses that `next` gives.
  template <class Next>
  void run(std::uint64_t count, Next next) {
    switch (seat_.what.op) {
      case operation::fetch_add:
        return fetch_add(count, next);
      case operation::get:
        return get(count, next);
      default:
        return seat_.what.bytes == 8 ? put_words(count, next) : put(count, next);
    }
  }
  template <class Next>
  void put_words(std::uint64_t count, Next next) {
    lane& l = seat_.own_lane();
    const std::uint64_t value = 1;
    for (std::uint64_t i = 0; i < count; ++i) {
      const remote_ptr<std::uint64_t> to{next()};
      window_.post([&](completion c, std::size_t) { return l.try_put(value, to, c); });
    }
    window_.drain();  // before `value` ends
  }
  template <class Next>
  void put(std::uint64_t count, Next next) {
    lane& l = seat_.own_lane();
    const std::span<const std::byte> data = seat_.gear.source(seat_.thread);
    for (std::uint64_t i = 0; i < count; ++i) {
      const remote_address to = next();
      window_.post([&](completion c, std::size_t) { return l.try_put(data, to, c); });
    }
  }
  template <class Next>
  void get(std::uint64_t count, Next next) {
    lane& l = seat_.own_lane();
    for (std::uint64_t i = 0; i < count; ++i) {
      const remote_address from = next();
      window_.post([&](completion c, std::size_t slot) {
        return l.try_get(seat_.gear.landing(seat_.thread, slot), from, c);
      });
    }
  }
  template <class Next>
  void fetch_add(std::uint64_t count, Next next) {
    lane& l = seat_.own_lane();
    for (std::uint64_t i = 0; i < count; ++i) {
      const remote_ptr<std::uint64_t> at{next()};
      window_.post([&](completion c, std::size_t slot) {
        return l.try_fetch_add(at, std::uint64_t{1}, results_[slot], c);
      });
    }
  }
};

/// Messages that the target takes and, after the last, answers once.
class message_flood : public exchange {
 public:
  explicit message_flood(const seat& s) : seat_(s), window_(s.turns(), s.what.window) {}
  void initiate(std::uint64_t count, stopwatch&) final {
    for (std::uint64_t i = 0; i < count; ++i) post();
    window_.drain();
    const tag answer = seat_.tag_for(purpose::answer);
    require(seat_.turns().recv(seat_.at.peer(), answer, {}), "wait for the answer");
  }
  void respond(std::uint64_t count) final {
    take(count);
    const tag answer = seat_.tag_for(purpose::answer);
    require(seat_.turns().send(seat_.at.peer(), answer, {}), "answer");
  }

 protected:
  virtual void post() = 0;
  virtual void take(std::uint64_t count) = 0;
  seat seat_;
  window window_;
};

class call_flood final : public message_flood {
 public:
  using message_flood::message_flood;
  void prepare() override { before_ = seat_.box().arrived.count(); }

 private:
  void post() override {
    const auto handler = static_cast<handler_id>(count_handlers + seat_.thread);
    const std::span<const std::byte> data = seat_.gear.source(seat_.thread);
    const bool fits = data.size() <= max_call_header;
    const std::span<const std::byte> none;
    window_.post([&](completion c, std::size_t) {
      return seat_.own_lane().try_call(seat_.at.peer(), handler, fits ? data : none,
                                       fits ? none : data, c);
    });
  }
  void take(std::uint64_t count) override {
    require(seat_.turns().wait(seat_.box().arrived, before_ + count), "wait for calls");
  }
  std::uint64_t before_ = 0;
};

class tag_flood final : public message_flood {
 public:
  using message_flood::message_flood;

 private:
  void post() override {
    window_.post(
        [&](completion c, std::size_t) { return lane_.try_send(peer_, tag_, source_, c); });
  }
  void take(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      window_.post([&](completion c, std::size_t slot) {
        return lane_.try_recv(peer_, tag_, seat_.gear.landing(seat_.thread, slot), c);
      });
    }
    window_.drain();
  }
  lane& lane_ = seat_.own_lane();
  const rank peer_ = seat_.at.peer();
  const tag tag_ = seat_.tag_for(purpose::data);
  const std::span<const std::byte> source_ = seat_.gear.source(seat_.thread);
};

}  // namespace

std::unique_ptr<exchange> make_flood(const seat& s) {
  switch (s.what.op) {
    case operation::put:
    case operation::get:
    case operation::fetch_add:
      return std::make_unique<table_flood>(s);
    case operation::am:
      return std::make_unique<call_flood>(s);
    case operation::tag:
      return std::make_unique<tag_flood>(s);
  }
  throw std::logic_error("an operation is missing in make_flood");
}

}  // namespace heddle::bench
