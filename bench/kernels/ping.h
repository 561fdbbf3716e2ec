// SPDX-License-Identifier: BSD-3-Clause
// ping.h - one operation at a time, there and back: by put, by what arrives, by tagged message; and
// many messages one way, which are answered once.
#pragma once
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "harness/rounds.h"
#include "harness/slots.h"
#include "kernels/library.h"

namespace heddle::bench {

/// A put of up to 8 bytes into the word that the partner polls, and back.
template <class Path>
class word_ping final : public exchange {
 public:
  word_ping(std::unique_ptr<Path> path, const role& r)
      : path_(std::move(path)), role_(r), slot_(table_layout::for_spec(r.what).slot_of(r.thread)) {}

  void initiate(std::uint64_t count, stopwatch& watch) override {
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      put(++turn_);
      await(turn_);
      watch.lap();
    }
    path_->drain();
  }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      await(++turn_);
      put(turn_);
    }
    path_->drain();
  }

 private:
  void put(std::uint64_t turn) { path_->put_word(turn, there_, role_.what.bytes); }
  void await(std::uint64_t turn) {
    // Acquire pairs with however the library publishes a put.
    for (unsigned spins = 1;
         ((std::atomic_ref(*here_).load(std::memory_order_acquire) ^ turn) & mask_) != 0; ++spins) {
      path_->progress();
      if (role_.crowded && spins % 64 == 0) sched_yield();
    }
  }

  const std::unique_ptr<Path> path_;
  const role role_;
  const std::size_t slot_;
  const typename Path::place there_ = path_->at(slot_);
  std::uint64_t* const here_ = reinterpret_cast<std::uint64_t*>(path_->here(slot_));
  const std::uint64_t mask_ = role_.what.bytes == sizeof(std::uint64_t)
                                  ? ~std::uint64_t{0}
                                  : (std::uint64_t{1} << (8 * role_.what.bytes)) - 1;
  std::uint64_t turn_ = 0;
};

/// Something that is counted on arrival, and back: a call, or a put that tells. Where the handler
/// itself answers a call, the target's thread only waits.
template <class Path, class Begin>
class counted_ping final : public exchange {
 public:
  counted_ping(std::unique_ptr<Path> path, bool handler_answers, Begin begin)
      : path_(std::move(path)), handler_answers_(handler_answers), begin_(begin) {}

  void initiate(std::uint64_t count, stopwatch& watch) override {
    std::uint64_t arrived = path_->arrived();
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      begin_(*path_, message::data);
      path_->await_arrived(++arrived);
      watch.lap();
    }
    path_->drain();
  }
  void prepare() override { before_ = path_->arrived(); }
  void respond(std::uint64_t count) override {
    if (handler_answers_) return path_->await_arrived(before_ + count);
    for (std::uint64_t i = 1; i <= count; ++i) {
      path_->await_arrived(before_ + i);
      begin_(*path_, message::answer);
    }
    path_->drain();
  }

 private:
  const std::unique_ptr<Path> path_;
  const bool handler_answers_;
  const Begin begin_;
  std::uint64_t before_ = 0;
};

/// Nothing beside a ping-pong.
struct no_stream {
  void send() {}
  void receive() {}
  void end_sending() {}
  void end_receiving() {}
};

/// Tagged messages there and back, each receive posted behind the message that it answers; while
/// large messages move from the initiator to the target over the same path.
template <class Path, class Beside = no_stream>
class tag_ping final : public exchange {
 public:
  explicit tag_ping(std::unique_ptr<Path> path,
                    std::unique_ptr<Beside> beside = std::make_unique<Beside>())
      : path_(std::move(path)), beside_(std::move(beside)) {}
  void initiate(std::uint64_t count, stopwatch& watch) override {
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      beside_->send();
      path_->deliver(message::data);
      path_->recv(message::answer);
      path_->drain();
      watch.lap();
    }
  }
  void conclude() override { beside_->end_sending(); }
  void prepare() override { path_->recv(message::data); }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 1; i <= count; ++i) {
      beside_->receive();
      path_->drain();
      path_->deliver(message::answer);
      if (i < count) path_->recv(message::data);
    }
    path_->drain();
    beside_->end_receiving();
  }

 private:
  const std::unique_ptr<Path> path_;
  const std::unique_ptr<Beside> beside_;
};

/// Messages that the target answers once, after the last: tagged ones, which it receives, or calls,
/// which are counted.
template <class Path, operation Op>
class message_flood final : public exchange {
 public:
  explicit message_flood(std::unique_ptr<Path> path) : path_(std::move(path)) {}
  void initiate(std::uint64_t count, stopwatch&) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      if constexpr (Op == operation::tag)
        path_->send(message::data);
      else
        path_->call(message::data);
    }
    path_->drain();
    path_->await_notice();
  }
  void prepare() override {
    if constexpr (Op == operation::am) before_ = path_->arrived();
  }
  void respond(std::uint64_t count) override {
    if constexpr (Op == operation::tag) {
      for (std::uint64_t i = 0; i < count; ++i) path_->recv(message::data);
      path_->drain();
    } else {
      path_->await_arrived(before_ + count);
    }
    path_->notify();
  }

 private:
  const std::unique_ptr<Path> path_;
  std::uint64_t before_ = 0;
};

}  // namespace heddle::bench
