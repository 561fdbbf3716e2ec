// SPDX-License-Identifier: BSD-3-Clause
// questions.h - what this process has asked others and has no answer to yet: asked again until
// there is one, or the peer's time is up; time in which this process did not look does not count.
//
// Threads: one at a time (the device's mutex).
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "backends/verbs/greeter.h"
#include "backends/verbs/letter_box.h"
#include "base/looks.h"

namespace heddle::transport::verbs {

class questions {
 public:
  questions(greeter& by, std::uint64_t patience_ns) : greeter_(by), patience_ns_(patience_ns) {}

  /// The answer goes to the lane's box. Returns the question's number.
  std::uint32_t ask(const peer_facts& whom, hello what, const std::shared_ptr<letter_box>& of);
  /// Nobody waits for this one any more.
  void forget(std::uint32_t number) noexcept { open_.erase(number); }
  void on_answer(const hello& answer);
  /// Asks what is due. Returns when to come again, in nanoseconds from `now`; 0: nothing is open.
  std::uint64_t move(std::uint64_t now);

 private:
  struct question {
    peer_facts whom;
    hello what;
    std::weak_ptr<letter_box> of;
    std::uint64_t next_ns = 0, pause_ns = 0, end_ns = 0;
  };
  void look(std::uint64_t now) noexcept;
  static void tell(const question& q, std::uint32_t number, std::optional<hello> answer);

  greeter& greeter_;
  const std::uint64_t patience_ns_;
  std::uint32_t last_ = 0;
  std::map<std::uint32_t, question> open_;  // by number
  looks looks_{0};                          // at all that are open
};

}  // namespace heddle::transport::verbs
