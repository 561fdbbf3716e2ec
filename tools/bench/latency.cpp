// latency.cpp - one operation at a time: ping-pongs by put, message and call; round trips by get
// and fetch-add.
#include <sched.h>

#include <atomic>
#include <stdexcept>

#include "bench/exchange.h"
#include "bench/window.h"

namespace heddle::bench {
namespace {

remote_address place_of(const seat& s) {
  return s.gear.their_table().at(static_cast<std::size_t>(s.thread) * s.gear.layout().stride);
}

/// A put of up to 8 bytes into the word that the partner polls, and back.
class put_ping final : public exchange {
 public:
  explicit put_ping(const seat& s)
      : seat_(s),
        window_(s.turns(), s.what.window),
        values_(window_.slots()),
        there_(place_of(s)),
        here_(reinterpret_cast<std::uint64_t*>(s.gear.table() + static_cast<std::size_t>(s.thread) *
                                                                    s.gear.layout().stride)),
        mask_(s.what.bytes == 8 ? ~std::uint64_t{0}
                                : (std::uint64_t{1} << (8 * s.what.bytes)) - 1) {}

  void initiate(std::uint64_t count, stopwatch& watch) override {
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      put(++turn_);
      await(turn_);
      watch.lap();
    }
    window_.drain();
  }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      await(++turn_);
      put(turn_);
    }
    window_.drain();
  }

 private:
  void put(std::uint64_t value) {
    window_.post([&](completion c, std::size_t slot) {
      values_[slot] = value;
      if (seat_.what.bytes == 8) {
        return seat_.own_lane().try_put(values_[slot], remote_ptr<std::uint64_t>{there_}, c);
      }
      const auto bytes = std::as_bytes(std::span(&values_[slot], 1));
      return seat_.own_lane().try_put(bytes.first(seat_.what.bytes), there_, c);
    });
  }
  /// Where puts come by message, Heddle is kept moving.
  void await(std::uint64_t value) {
    const bool mapped = seat_.gear.their_table().mapped();
    for (unsigned spins = 1;; ++spins) {
      // Acquire pairs with the release of the partner's put, made by Heddle.
      const std::uint64_t seen = std::atomic_ref(*here_).load(std::memory_order_acquire);
      if ((seen & mask_) == (value & mask_)) return;
      if (!mapped || spins % 1024 == 0) seat_.turns().poll();
      if (seat_.crowded && spins % 64 == 0) sched_yield();
    }
  }

  seat seat_;
  window window_;
  std::vector<std::uint64_t> values_;
  remote_address there_;
  std::uint64_t* here_;
  std::uint64_t mask_;
  std::uint64_t turn_ = 0;
};

/// What ping-pongs have in common in which something is counted in the mailbox at both ends.
class counted_ping : public exchange {
 public:
  explicit counted_ping(const seat& s) : seat_(s), window_(s.turns(), s.what.window) {}
  void initiate(std::uint64_t count, stopwatch& watch) final {
    std::uint64_t arrived = seat_.box().arrived.count();
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      post();
      await(++arrived);
      watch.lap();
    }
    window_.drain();
  }
  void prepare() final { before_ = seat_.box().arrived.count(); }

 protected:
  virtual void post() = 0;
  void await(std::uint64_t arrived) {
    require(seat_.turns().wait(seat_.box().arrived, arrived), "wait for an answer");
  }

  seat seat_;
  window window_;
  std::uint64_t before_ = 0;
};

/// A call whose handler answers: the target's thread only waits.
class call_ping final : public counted_ping {
 public:
  using counted_ping::counted_ping;
  void respond(std::uint64_t count) override { await(before_ + count); }

 private:
  void post() override {
    const auto ping = static_cast<handler_id>(ping_handlers + seat_.thread);
    const std::span<const std::byte> data = seat_.gear.source(seat_.thread);
    const bool fits = data.size() <= max_call_header;
    const std::span<const std::byte> none;
    window_.post([&](completion c, std::size_t) {
      return seat_.own_lane().try_call(seat_.at.peer(), ping, fits ? data : none,
                                       fits ? none : data, c);
    });
  }
};

/// A put of more than 8 bytes with notification, and back.
class notified_put_ping final : public counted_ping {
 public:
  using counted_ping::counted_ping;
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 1; i <= count; ++i) {
      await(before_ + i);
      post();
    }
    window_.drain();
  }

 private:
  void post() override {
    const auto notify = static_cast<handler_id>(pong_handlers + seat_.thread);
    window_.post([&](completion c, std::size_t) {
      return seat_.own_lane().try_put_notify(seat_.gear.source(seat_.thread), place_of(seat_),
                                             notify, 0, c);
    });
  }
};

/// Tagged messages there and back; every receive is posted before what it waits for is sent.
class tag_ping final : public exchange {
 public:
  explicit tag_ping(const seat& s) : seat_(s) {}
  void initiate(std::uint64_t count, stopwatch& watch) override {
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      post_receive(purpose::answer);
      send(purpose::data);
      wait();
      watch.lap();
    }
  }
  void prepare() override { post_receive(purpose::data); }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 1; i <= count; ++i) {
      wait();
      if (i < count) post_receive(purpose::data);
      send(purpose::answer);
    }
  }

 private:
  void post_receive(purpose p) {
    received_.reset();
    posted_ = seat_.turns().turn([&] {
      return seat_.own_lane().try_recv(seat_.at.peer(), seat_.tag_for(p),
                                       seat_.gear.landing(seat_.thread, 0), received_);
    });
    require(posted_, "post a receive");
  }
  void send(purpose p) {
    const auto data = seat_.gear.source(seat_.thread);
    require(seat_.turns().send(seat_.at.peer(), seat_.tag_for(p), data), "send");
  }
  void wait() {
    if (posted_ == status::posted) require(seat_.turns().wait(received_), "receive");
  }

  seat seat_;
  flag received_;
  status posted_ = status::done;
};

/// A value fetched from the target and back here before the next.
class get_trip final : public passive_target {
 public:
  using passive_target::passive_target;
  void initiate(std::uint64_t count, stopwatch& watch) override {
    const remote_address from = place_of(seat_);
    const std::span<std::byte> into = seat_.gear.landing(seat_.thread, 0);
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      require(seat_.turns().get(into, from), "get");
      watch.lap();
    }
  }
};

class fetch_add_trip final : public passive_target {
 public:
  using passive_target::passive_target;
  void initiate(std::uint64_t count, stopwatch& watch) override {
    const remote_ptr<std::uint64_t> at{place_of(seat_)};
    std::uint64_t old = 0;
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      require(seat_.turns().fetch_add(at, std::uint64_t{1}, old), "fetch-add");
      watch.lap();
    }
  }
};

}  // namespace

std::unique_ptr<exchange> make_latency(const seat& s) {
  switch (s.what.op) {
    case operation::put:
      if (s.what.bytes > sizeof(std::uint64_t)) return std::make_unique<notified_put_ping>(s);
      return std::make_unique<put_ping>(s);
    case operation::get:
      return std::make_unique<get_trip>(s);
    case operation::fetch_add:
      return std::make_unique<fetch_add_trip>(s);
    case operation::am:
      return std::make_unique<call_ping>(s);
    case operation::tag:
      return std::make_unique<tag_ping>(s);
  }
  throw std::logic_error("an operation is missing in make_latency");
}

}  // namespace heddle::bench
