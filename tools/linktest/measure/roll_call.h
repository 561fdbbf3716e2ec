// SPDX-License-Identifier: BSD-3-Clause
// roll_call.h - which peers still move: asked when they are late, and heard from others.
#pragma once
#include <heddle/lane.h>
#include <heddle/world.h>

#include <chrono>
#include <cstddef>
#include <mutex>
#include <vector>

namespace heddle::linktest {

/// A rank that waits for others cannot tell one that is stopped from one that waits itself. So it
/// asks: the answer comes from a handler, which runs wherever the peer is in its own program. Who
/// has lost a peer tells all others, so that each of them has asked it long before it meets it.
///
/// Any thread; must outlive the world, in which handlers 1 to 3 are its own.
class roll_call {
 public:
  /// Before the ranks first wait for each other.
  void join(world& job);

  /// Asks, unless an answer is still awaited.
  void ask(lane& path, rank peer);
  /// It was asked this long ago or longer, and has not answered; or it says that this rank is
  /// lost to it.
  [[nodiscard]] bool is_silent(rank peer, std::chrono::nanoseconds limit);
  /// How long is left of `limit` since it was asked; all of it when no answer is awaited.
  [[nodiscard]] std::chrono::nanoseconds left(rank peer, std::chrono::nanoseconds limit);
  /// This rank expects nothing of `peer` any more: the others are to ask it, too. Once for each.
  void report(lane& path, rank peer);

 private:
  using clock = std::chrono::steady_clock;
  struct standing {
    bool asked = false;     // and no answer yet
    bool reported = false;  // lost by this rank
    clock::time_point since{};
  };
  enum id : handler_id { question = 1, answer = 2, suspicion = 3 };

  static void on_question(void* self, lane& here, const call_message& m) noexcept;
  static void on_answer(void* self, lane& here, const call_message& m) noexcept;
  static void on_suspicion(void* self, lane& here, const call_message& m) noexcept;
  [[nodiscard]] standing& of(rank peer) { return peers_[static_cast<std::size_t>(peer)]; }
  bool begin_asking(rank peer);

  std::mutex mutex_;  // guards peers_, for a few instructions
  std::vector<standing> peers_;
};

}  // namespace heddle::linktest
