// SPDX-License-Identifier: BSD-3-Clause
// port_order_fixture.h - for tests: a port over a scripted wire, whose program, wire and peer take
// the steps of a sequence, and every short sequence of them.
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "support/port_fixture.h"

namespace heddle::protocols {

inline constexpr std::size_t payload_bytes = 100;
inline constexpr std::size_t large_bytes = 300'000;  // more than a processor copies in one turn
inline constexpr heddle::tag announced_tag = 1'000;

class PortOrder : public PortFixture {
 protected:
  PortOrder() {
    wire_.native =
        transport::only(transport::op_kind::send) | transport::only(transport::op_kind::get);
    config_.credit_bytes = two_messages;
    config_.spin_us = 0;  // without credit, messages are announced
  }
  /// Two messages may be unexpected at the receiver.
  static constexpr std::uint64_t two_messages = 2 * credit::cost_of(payload_bytes);

  virtual void begin() {
    wire_.messages.clear();
    wire_.posted.clear();
    wire_.under_way.clear();
    wire_.events.clear();
    wire_.dropped.clear();
    wire_.room = SIZE_MAX;
    accepted_ = 0;
    granted_ = config_.credit_bytes;
    start();
  }
  virtual void play(char step) {
    switch (step) {
      case 's':  // a send of a thread that has the lane
        return note(port_->dispatch().execute(send(), batch_));
      case 'b':  // two that others had left in the queue
        port_->dispatch().begin_batch();
        port_->dispatch().execute_accepted(send(), batch_);
        ++accepted_;
        port_->dispatch().execute_accepted(send(), batch_);
        ++accepted_;
        return port_->dispatch().end_batch(batch_);
      case 'f':  // in a batch, a receive whose data has to be fetched between two sends
        return fetch_between();
      case '0':
        wire_.room = 0;
        return;
      case '1':
        wire_.room = 1;
        return;
      case '+':
        wire_.room = SIZE_MAX;
        return;
      case 'a':  // nobody looks any more
        (void)port_->arm();
        return;
      case 'c':  // the receiver has taken what it had
        return give_credit();
      default:
        port_->progress(batch_);
    }
  }
  void fetch_between() {
    message rts;
    rts.kind = message_kind::tag_rts;
    rts.word = announced_tag;
    rts.slot = rts.generation = 1;
    rts.bytes = large_bytes;
    rts.id = 1;
    arrives(rts);
    port_->dispatch().begin_batch();
    port_->dispatch().execute_accepted(send(), batch_);
    ++accepted_;
    command c;
    c.kind = command_kind::recv;
    c.peer = 1;
    c.match = announced_tag;
    c.memory = into_;
    port_->dispatch().execute_accepted(c, batch_);
    port_->dispatch().execute_accepted(send(), batch_);
    ++accepted_;
    port_->dispatch().end_batch(batch_);
  }
  void give_credit() {
    const std::uint64_t used =
        unannounced() * credit::cost_of(payload_bytes) + config_.credit_bytes - granted_;
    if (used == 0) return;
    message m;
    m.kind = message_kind::credit;
    m.word = used;
    granted_ += used;
    arrives(m);
  }
  void arrives(const message& m, int lane = 0, const std::vector<std::byte>& payload = {}) {
    const prefix p(m);
    auto& bytes = arrived_.emplace_back(p.bytes().begin(), p.bytes().end());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    wire_.events.push_back(
        {transport::event::kind_t::arrived, status::done, wire_.reach(1, lane), nullptr, bytes});
    port_->progress(batch_);
  }
  /// The number of a message is its tag.
  command send() {
    command c;
    c.kind = command_kind::send;
    c.peer = 1;
    c.match = accepted_;
    c.memory = data_;
    return c;
  }
  void note(status s) {
    ASSERT_TRUE(s == status::done || s == status::posted) << name_of(s);
    ++accepted_;
  }
  [[nodiscard]] std::vector<message> left() const {
    std::vector<message> all;
    for (const auto& bytes : wire_.messages) {
      message m;
      EXPECT_TRUE(parse_message(bytes, m));
      if (m.kind == message_kind::tag_eager || m.kind == message_kind::tag_rts) all.push_back(m);
    }
    return all;
  }
  [[nodiscard]] std::uint64_t unannounced() const {
    std::uint64_t n = 0;
    for (const message& m : left()) n += m.kind == message_kind::tag_eager;
    return n;
  }
  void try_all(std::size_t longest, std::string_view alphabet = "sbf01+cp");
  /// True when all that was promised of `steps` holds.
  [[nodiscard]] bool holds(std::string_view steps) {
    ++tried_;
    begin();
    for (const char step : steps) {
      play(step);
      if (unannounced() * credit::cost_of(payload_bytes) > granted_) return false;
    }
    play('+');
    for (int i = 0; i < 4; ++i) play('p');
    play('a');
    for (int i = 0; i < 4 && port_->awaits_credit(); ++i) play('c');
    end_reads();
    const auto all = left();
    bool good = all.size() == accepted_;
    for (std::size_t i = 0; good && i < all.size(); ++i) good = all[i].word == i;
    good = good && is_received();
    port_->abort(status::closed, batch_);
    batch_.run();
    return good && port_->in_flight_hint() == 0 && is_closed();
  }
  // What another side adds: reads end that are under way; what holds then; and after the end.
  virtual void end_reads() {}
  [[nodiscard]] virtual bool is_received() { return true; }
  [[nodiscard]] virtual bool is_closed() { return true; }

  std::vector<std::byte> data_ = std::vector<std::byte>(payload_bytes);
  std::vector<std::byte> into_ = std::vector<std::byte>(large_bytes);
  std::deque<std::vector<std::byte>> arrived_;
  std::uint64_t accepted_ = 0, granted_ = 0;
  std::size_t tried_ = 0;
};

/// All sequences of up to `longest` steps, from the empty one on.
inline void PortOrder::try_all(std::size_t longest, std::string_view alphabet) {
  std::string steps;
  const auto extend = [&](const auto& self) -> void {
    ASSERT_TRUE(holds(steps)) << "after " << steps;
    if (steps.size() == longest) return;
    for (const char step : alphabet) {
      steps.push_back(step);
      self(self);
      steps.pop_back();
      if (HasFatalFailure()) return;
    }
  };
  extend(extend);
}

}  // namespace heddle::protocols
