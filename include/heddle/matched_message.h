// SPDX-License-Identifier: BSD-3-Clause
// matched_message.h - a message that was taken out of matching, or the payload of a call whose
// handler chooses where it goes: it waits for its buffer.
//
//   heddle::matched_message m;
//   const heddle::outcome what = lane.match(heddle::any_source, 7, m);
//   std::vector<std::byte> data(what.bytes);
//   lane.recv(m, data);
#pragma once
#include <heddle/completion.h>
#include <heddle/status.h>

namespace heddle {

class lane;
namespace engine {
class lane_core;
}
namespace protocols {
struct unexpected;
}

namespace detail {
/// For Heddle itself: what was taken, written before the completion is delivered.
struct taken_message {
  protocols::unexpected* message = nullptr;
  outcome what;
};
}  // namespace detail

/// Holds one message, or none. Of a message with a tag no receive and no probe finds that message
/// any more, so threads that share a lane do not take it from each other; the order of the others
/// stays. One thread at a time.
///
/// Until it is received it counts for its sender as one that nobody has asked for (lane::try_send);
/// a call does not, and its tag is 0.
/// Its end, and taking another one, drop what it holds: the sender's operation ends as if it had
/// been received. Must not outlive the world of its lane. Not to be moved while lane::try_match()
/// may still fill it.
class matched_message {
 public:
  matched_message() = default;
  /// Heddle's own.
  matched_message(engine::lane_core& core, const detail::taken_message& taken) noexcept
      : core_(&core), taken_(taken) {}
  matched_message(matched_message&& other) noexcept;
  matched_message& operator=(matched_message&& other) noexcept;
  ~matched_message() {
    if (holds()) drop();
  }

  [[nodiscard]] bool holds() const noexcept { return taken_.message != nullptr; }
  /// Of the message that it holds: source and its lane, tag, length. Stays after its receive.
  [[nodiscard]] const outcome& what() const noexcept { return taken_.what; }
  /// Receives it into no memory.
  void drop() noexcept;

 private:
  friend lane;
  engine::lane_core* core_ = nullptr;
  detail::taken_message taken_;
};

}  // namespace heddle
