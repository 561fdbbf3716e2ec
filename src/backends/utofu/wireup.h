// SPDX-License-Identifier: BSD-3-Clause
// wireup.h - how two lanes connect: one draws a ticket of the other's listener, leaves there what
// it grants, and finds the other's grant in its area. Either grant alone lets its receiver send; a
// request that got lost is made again, which changes nothing if it was not lost.
#pragma once
#include <cstdint>

#include "backends/utofu/messages.h"
#include "backends/utofu/peers.h"
#include "backends/utofu/work_queue.h"
#include "base/looks.h"

namespace heddle::transport::utofu {

class wireup {
 public:
  wireup(utofu_device& device, int lane, work_queue& queue, peers& known, messages& sent);

  /// The first message to the peer wants to go.
  void connect(peer_state& p) noexcept;
  void on_ticket(peer_state& p, std::uint64_t number) noexcept;
  void on_backlog(peer_state& p) noexcept;
  /// Looks for requests and answers, and does again what was in vain.
  void move() noexcept {
    if (listener_.tickets.get() != next_ticket_) [[unlikely]]
      read_requests();
    if (!connecting_.empty()) [[unlikely]]
      look_for_answers();
    if (!answers_.empty()) [[unlikely]]
      answers_.take_all([this](peer_state& p) { send_answer(p); });
  }

 private:
  [[nodiscard]] bool prepare_ring(peer_state& p) noexcept;
  [[nodiscard]] bool make_ring(peer_state& p) noexcept;
  [[nodiscard]] grant our_grant(const peer_state& p) const noexcept;
  [[nodiscard]] bool post(peer_state& p, work_request& c, ending what) noexcept;
  void draw_ticket(peer_state& p) noexcept;
  void ask_for_backlog(peer_state& p) noexcept;
  void request(peer_state& p) noexcept;
  void look_for_answers() noexcept;
  void move(peer_state& p, std::uint64_t now) noexcept;
  void read_requests() noexcept;
  void admit(const grant& g) noexcept;
  [[nodiscard]] static bool is_granted(const peer_state& p, const grant& g) noexcept;
  static void use_grant(peer_state& p, const grant& g) noexcept;
  void send_answer(peer_state& p) noexcept;

  utofu_device& device_;
  const int lane_;
  listener& listener_;
  work_queue& queue_;
  peers& peers_;
  messages& messages_;
  const std::uint32_t inbound_;  // lines that peers may be granted together
  std::uint32_t granted_ = 0;
  std::uint64_t next_ticket_ = 0, waits_since_ns_ = 0;
  looks looks_{0};  // at a ticket that waits
  peer_list<&peer_state::in_connecting> connecting_;
  peer_list<&peer_state::in_answers> answers_;
};

}  // namespace heddle::transport::utofu
