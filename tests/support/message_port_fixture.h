// SPDX-License-Identifier: BSD-3-Clause
// message_port_fixture.h - for tests: a port that messages reach over a scripted wire.
#pragma once
#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "support/port_fixture.h"

namespace heddle::protocols {

inline constexpr std::size_t large = 10'000;  ///< more than a message of the scripted wire
inline constexpr tag small_tag = 5, large_tag = 7;

class Port : public PortFixture {
 protected:
  Port() {
    wire_.native =
        transport::only(transport::op_kind::send) | transport::only(transport::op_kind::get);
    config_.credit_bytes = 4096;
  }
  void progress() {
    port_->progress(batch_);
    batch_.run();
  }
  void arrives(const message& m, const std::vector<std::byte>& payload = {}) {
    arrives_from(0, m, payload);
  }
  void arrives_from(int lane, const message& m, const std::vector<std::byte>& payload = {}) {
    const prefix p(m);
    auto& bytes = arrived_.emplace_back(p.bytes().begin(), p.bytes().end());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    wire_.events.push_back({transport::event::kind_t::arrived, status::done, wire_.reach(1, lane),
                            nullptr, arrived_.back()});
    progress();
  }
  /// The peer announces a large message.
  void is_announced() {
    message m;
    m.kind = message_kind::tag_rts;
    m.word = large_tag;
    m.slot = 1;
    m.generation = 1;
    m.bytes = large;
    m.id = 1;
    arrives(m);
  }
  static command command_of(command_kind kind, tag t, std::span<std::byte> memory,
                            completion done) {
    command c;
    c.kind = kind;
    c.peer = 1;
    c.match = t;
    c.memory = memory;
    c.done = done;
    return c;
  }
  static command send(std::span<std::byte> data, completion done = {}) {
    return command_of(command_kind::send, small_tag, data, done);
  }
  command receive_large(completion done = {}) {
    return command_of(command_kind::recv, large_tag, into_, done);
  }
  /// The first data byte of each small message that has left, in this order.
  [[nodiscard]] std::vector<int> left() const {
    std::vector<int> bytes;
    for (const auto& m : wire_.messages) {
      message parsed;
      if (parse_message(m, parsed) && parsed.kind == message_kind::tag_eager)
        bytes.push_back(std::to_integer<int>(parsed.payload[0]));
    }
    return bytes;
  }
  [[nodiscard]] message_kind last_kind() const {
    message parsed;
    EXPECT_TRUE(parse_message(wire_.messages.back(), parsed));
    return parsed.kind;
  }

  std::deque<std::vector<std::byte>> arrived_;
  std::vector<std::byte> into_ = std::vector<std::byte>(large);
  std::array<std::byte, 1> one_{std::byte{1}}, two_{std::byte{2}}, three_{std::byte{3}};
};

}  // namespace heddle::protocols
