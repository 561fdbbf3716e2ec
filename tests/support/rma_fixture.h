// SPDX-License-Identifier: BSD-3-Clause
// rma_fixture.h - for tests: puts, gets and atomics without a port, and a region to address.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "protocols/rma.h"
#include "support/lone_protocol.h"

namespace heddle::protocols {

/// A wire that does all kinds and leaves them under way, and a region there and here.
class Rma : public LoneReceivers {
 protected:
  static constexpr handler_id handler = 9;
  static constexpr std::uint32_t alive = 3;

  Rma() {
    wire_.answer = status::posted;
    peer_.native = 0xf;
    peer_.native_atomics = transport::atomic_set::all();
    peer_.put_tells = false;
    peer_.max_put_at_once = peer_.max_get_at_once = peer_.max_straight = 4096;
    live_.set(alive);
    target_.owner = signal_.owner = 1;
    target_.ref = {1, 1};
    signal_.ref = {2, 1};
    target_.bytes = there_.size();
    signal_.bytes = 16;
    target_.allowed = signal_.allowed = rights::all;
  }
  /// From now on plain instructions reach it.
  static void map(memory::remote_memory& m, std::byte* at, const detail::live_word& live) {
    m.direct = at;
    m.live = &live;
    m.generation = alive;
    m.mapped = rights::all;
  }
  command command_of(command_kind kind, completion done = {}) {
    command c = access_command(kind, &target_, 8, memory_, done);
    c.handler = handler;
    c.operand = 42;
    if (kind == command_kind::atomic) c.memory = std::span(memory_).first(8);
    if (kind == command_kind::put_signal) c.signal = {&signal_, 8};
    return c;
  }
  status access(command_kind kind, completion done = {}) {
    return rma_.begin(command_of(kind, done));
  }
  /// The wire ends what it has under way, oldest first.
  void ends(status code = status::done) {
    transport::op& o = *wire_.under_way.front();
    wire_.under_way.erase(wire_.under_way.begin());
    auto& r = static_cast<request&>(o);
    r.at == stage::direct ? lone_.ops.end_direct(r, code) : transfers_.wire_ended(r, code);
    batch_.run();
  }
  void expect_told_once() {
    ASSERT_EQ(sent_kinds(), std::vector{message_kind::call_eager});
    const message m = last();
    EXPECT_EQ(m.handler, handler);
    std::uint64_t value = 0;
    ASSERT_EQ(m.header.size(), sizeof value);
    std::memcpy(&value, m.header.data(), sizeof value);
    EXPECT_EQ(value, 42u);
  }

  rma rma_{lone_.path, peers_, lone_.ops, transfers_};
  detail::live_word live_;
  alignas(8) std::array<std::byte, 64> there_{};
  alignas(8) std::array<std::byte, 16> word_{};
  std::vector<std::byte> memory_ = std::vector<std::byte>(32, std::byte{7});
  const std::shared_ptr<memory::imported_memory> imported_ =
      std::make_shared<memory::imported_memory>();
  memory::remote_memory target_{imported_}, signal_{imported_};
  test::ending end_;
};

}  // namespace heddle::protocols
