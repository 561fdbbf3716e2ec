// SPDX-License-Identifier: BSD-3-Clause
// relayed_output.h - what the ranks of other hosts print, on its way to the launcher's own output.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "run/agent_protocol.h"
#include "run/event_loop.h"
#include "run/output.h"

namespace heddle::tools {

/// An agent sends on when it is answered, and it is answered when the launcher's own output has
/// room: what is read slowly fills no memory. One thread.
class relayed_output {
 public:
  using answer = std::function<void(const agent_protocol::message&)>;
  /// What the ranks print goes there.
  struct sinks {
    sink &output, &errors;
  };

  /// `loop` and the sinks must outlive it, and it the loop's turns.
  relayed_output(event_loop& loop, sinks to) : loop_(loop), to_(to) {}

  /// Writes a piece of `stream`, 1 or 2, and answers it: `taken` as soon as there is room, or
  /// `unread` when nobody reads there any more. `agent` is called once, at once or from the loop.
  void take(int stream, std::string_view text, answer agent) {
    of(stream).write(text);
    unanswered_.push_back({stream, text.size(), std::move(agent)});
    if (unanswered_.size() == 1) answer_some();
  }

 private:
  static constexpr std::uint64_t full_wait_ms = 5;
  struct piece {
    int stream;
    std::size_t bytes;
    answer agent;
  };

  [[nodiscard]] sink& of(int stream) const { return stream == 1 ? to_.output : to_.errors; }
  void answer_some() {
    using agent_protocol::message, agent_protocol::message_kind;
    std::erase_if(unanswered_, [this](const piece& p) {
      const sink& to = of(p.stream);
      if (to.full() && !to.closed()) return false;
      p.agent(to.closed()
                  ? message{message_kind::unread, {p.stream}}
                  : message{message_kind::taken, {p.stream, static_cast<std::int64_t>(p.bytes)}});
      return true;
    });
    if (!unanswered_.empty()) loop_.after(full_wait_ms, [this] { answer_some(); });
  }

  event_loop& loop_;
  const sinks to_;
  std::vector<piece> unanswered_;
};

}  // namespace heddle::tools
