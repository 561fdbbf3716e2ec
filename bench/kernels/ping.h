// SPDX-License-Identifier: BSD-3-Clause
// ping.h - one operation at a time, there and back: by put, by what arrives, by tagged message; and
// many messages one way, which are answered once.
#pragma once
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "harness/rounds.h"
#include "harness/slots.h"
#include "kernels/library.h"

namespace heddle::bench {

/// A put of up to 8 bytes into the word that the partner polls, and back.
template <class Path>
exchange word_ping(const std::shared_ptr<Path>& path, const role& r) {
  const std::uint64_t bytes = r.what.bytes;
  const std::uint64_t mask =
      bytes == sizeof mask ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
  const std::size_t slot = table_layout::for_spec(r.what).slot_of(r.thread);
  auto& here = *reinterpret_cast<std::uint64_t*>(path->here(slot));
  const auto put = [=, there = path->at(slot)](std::uint64_t turn) {
    path->put_word(turn, there, bytes);
  };
  const auto await = [=, &here, crowded = r.crowded](std::uint64_t turn) {
    // Acquire pairs with however the library publishes a put.
    for (unsigned spins = 1;
         ((std::atomic_ref(here).load(std::memory_order_acquire) ^ turn) & mask) != 0; ++spins) {
      path->progress();
      if (crowded && spins % 64 == 0) sched_yield();
    }
  };
  const auto turn = std::make_shared<std::uint64_t>(0);
  exchange e;
  e.initiate = [=](std::uint64_t count, stopwatch& watch) {
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      put(++*turn);
      await(*turn);
      watch.lap();
    }
    path->drain();
  };
  e.respond = [=](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      await(++*turn);
      put(*turn);
    }
    path->drain();
  };
  return e;
}

/// Something that is counted on arrival, and back: a call, or a put that tells, begun by
/// `begin(message)`. Where the handler itself answers a call, the target's thread only waits.
template <class Path, class F>
exchange counted_ping(const std::shared_ptr<Path>& path, bool handler_answers, F begin) {
  const auto before = std::make_shared<std::uint64_t>(0);
  exchange e;
  e.initiate = [=](std::uint64_t count, stopwatch& watch) {
    std::uint64_t arrived = path->arrived();
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      begin(message::data);
      path->await_arrived(++arrived);
      watch.lap();
    }
    path->drain();
  };
  e.prepare = [=] { *before = path->arrived(); };
  e.respond = [=](std::uint64_t count) {
    if (handler_answers) return path->await_arrived(*before + count);
    for (std::uint64_t i = 1; i <= count; ++i) {
      path->await_arrived(*before + i);
      begin(message::answer);
    }
    path->drain();
  };
  return e;
}

/// Nothing beside a ping-pong.
struct no_stream {
  void send() {}
  void receive() {}
  void end_sending() {}
  void end_receiving() {}
};

/// Tagged messages there and back, each receive posted behind the message that it answers; while
/// large messages move from the initiator to the target over the same path.
template <class Path, class Stream = no_stream>
exchange tag_ping(const std::shared_ptr<Path>& path,
                  const std::shared_ptr<Stream>& beside = std::make_shared<no_stream>()) {
  exchange e;
  e.initiate = [=](std::uint64_t count, stopwatch& watch) {
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      beside->send();
      path->deliver(message::data);
      path->recv(message::answer);
      path->drain();
      watch.lap();
    }
  };
  e.conclude = [=] { beside->end_sending(); };
  e.prepare = [=] { path->recv(message::data); };
  e.respond = [=](std::uint64_t count) {
    for (std::uint64_t i = 1; i <= count; ++i) {
      beside->receive();
      path->drain();
      path->deliver(message::answer);
      if (i < count) path->recv(message::data);
    }
    path->drain();
    beside->end_receiving();
  };
  return e;
}

/// Tagged messages that the target receives, and answers once, after the last.
template <class Path>
exchange tag_flood(const std::shared_ptr<Path>& path) {
  exchange e;
  e.initiate = [=](std::uint64_t count, stopwatch&) {
    for (std::uint64_t i = 0; i < count; ++i) path->send(message::data);
    path->drain();
    path->await_notice();
  };
  e.respond = [=](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) path->recv(message::data);
    path->drain();
    path->notify();
  };
  return e;
}

/// The same of calls, which are counted.
template <class Path>
exchange call_flood(const std::shared_ptr<Path>& path) {
  const auto before = std::make_shared<std::uint64_t>(0);
  exchange e;
  e.initiate = [=](std::uint64_t count, stopwatch&) {
    for (std::uint64_t i = 0; i < count; ++i) path->call(message::data);
    path->drain();
    path->await_notice();
  };
  e.prepare = [=] { *before = path->arrived(); };
  e.respond = [=](std::uint64_t count) {
    path->await_arrived(*before + count);
    path->notify();
  };
  return e;
}

}  // namespace heddle::bench
