// SPDX-License-Identifier: BSD-3-Clause
// lone_protocol.h - for tests: what one protocol of a lane needs, without a port: two peers over a
// scripted wire, the path there, what is in flight and what has ended. And, where it is built on
// others, those.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "protocols/calls.h"
#include "protocols/flow.h"
#include "protocols/tagged.h"
#include "protocols/transfers.h"
#include "support/lone_path.h"
#include "support/scripted_world.h"

namespace heddle::protocols {

/// Owns requests for a test, which says how they are started, and notes how they ended.
class test_owner final : public protocol {
 public:
  using way = std::function<status(request&)>;
  test_owner(path& to, operations& ops, way how) : protocol(to), ops_(ops), how_(std::move(how)) {}

  status start(request& r) override { return how_(r); }
  void ended(request& r, status code) override {
    ends.push_back(code);
    ops_.release(r);
  }
  std::vector<status> ends;

 private:
  operations& ops_;
  const way how_;
};

class LoneProtocol : public test::ScriptedWorld {
 protected:
  LoneProtocol() { lone_.ops.collect_in(batch_); }

  /// What has left, oldest first. Its spans last until the next message leaves.
  [[nodiscard]] std::vector<message> sent() const {
    std::vector<message> all(wire_.messages.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      EXPECT_TRUE(parse_message(wire_.messages[i], all[i]));
    return all;
  }
  [[nodiscard]] std::vector<message_kind> sent_kinds() const {
    std::vector<message_kind> kinds;
    for (const message& m : sent()) kinds.push_back(m.kind);
    return kinds;
  }
  /// The last that has left; there is one.
  [[nodiscard]] message last() const {
    message m;
    EXPECT_TRUE(!wire_.messages.empty() && parse_message(wire_.messages.back(), m));
    return m;
  }
  /// The wire has room again, and all that waited for it goes on.
  void makes_room(std::size_t ops = SIZE_MAX) {
    wire_.room = ops;
    lone_.path.flush_blocked();
  }
  /// The `n`th op that the wire has left under way.
  [[nodiscard]] request& under_way(std::size_t n) {
    return static_cast<request&>(*wire_.under_way.at(n));
  }
  /// An access of rank 1's region {1, 1}, or a fetch from there, that `owner` starts.
  request& begin(transport::op_kind kind, std::span<std::byte> local, protocol& owner) {
    command c;
    c.kind = kind == transport::op_kind::put ? command_kind::put : command_kind::get;
    c.peer = 1;
    c.memory = local;
    request& r = lone_.ops.begin(&peer_, c, owner);
    r.kind = kind;
    r.local = local;
    r.region = {1, 1};
    r.base = 0;
    return r;
  }

  /// A FIN for the request of this number.
  static message fin(std::uint64_t id, status code = status::done) {
    message m;
    m.kind = message_kind::fin;
    m.word = id;
    m.flag = static_cast<std::uint8_t>(code);
    return m;
  }
  /// The announcement of so many bytes in region {1, 1}.
  static message rts(message_kind kind, std::uint64_t word, std::uint64_t bytes, std::uint64_t id) {
    message m;
    m.kind = kind;
    m.word = word;
    m.slot = m.generation = 1;
    m.bytes = bytes;
    m.id = id;
    return m;
  }

  const std::vector<std::unique_ptr<transport::endpoint>> endpoints_ = make_endpoints();
  const surroundings where_ = where();
  delivery_batch batch_;
  test::lone_path lone_{64};
  peer_table peers_{where_, endpoints_};
  peer& peer_ = *peers_.reach(1);
  peer& other_lane_ = *peers_.reach({1, 4});
};

/// What messages are sent and received with.
class LoneMessages : public LoneProtocol {
 protected:
  LoneMessages() {
    lone_.kinds[index_of(message_kind::fin)] = &rendezvous_;
    lone_.kinds[index_of(message_kind::credit)] = &flow_;
    peer_.native |= transport::only(transport::op_kind::get);
  }

  transfers transfers_{where_, lone_.path, lone_.ops, lone_.counters};
  rendezvous rendezvous_{where_, lone_.path, lone_.ops, transfers_, lone_.counters};
  flow flow_{lone_.path, 0};
};

/// What they are received by.
class LoneReceivers : public LoneMessages {
 protected:
  LoneReceivers() {
    for (const auto kind : {message_kind::tag_eager, message_kind::tag_rts})
      lone_.kinds[index_of(kind)] = &tagged_;
    for (const auto kind : {message_kind::call_eager, message_kind::call_rts})
      lone_.kinds[index_of(kind)] = &calls_;
  }

  static constexpr std::size_t most_early = 4096;
  tagged tagged_{lone_.path, peers_, lone_.ops, rendezvous_, flow_, most_early, lone_.counters};
  calls calls_{no_lane(),         where_,        lone_.path, lone_.ops, rendezvous_,
               tagged_.matched(), lone_.counters};
};

}  // namespace heddle::protocols
