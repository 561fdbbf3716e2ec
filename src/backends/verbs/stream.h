// SPDX-License-Identifier: BSD-3-Clause
// stream.h - what one lane has for one lane of a peer, and the queue pair over which it goes.
#pragma once
#include <arpa/inet.h>

#include <cstdint>

#include "backends/verbs/flight_queue.h"
#include "backends/verbs/handles.h"
#include "backends/verbs/send_window.h"
#include "backends/verbs/work_id.h"

namespace heddle::transport::verbs {

struct stream {
  enum class state_t : std::uint8_t {
    unused,
    asking,  ///< for the peer's end
    ready,
  };
  state_t state = state_t::unused;
  /// What its completions name: its number of the lane's streams, and the generation of its queue
  /// pair; at position 0.
  work_id name{work_id::kind_t::flight, 0, 0, 0};
  std::uint32_t our_psn = 0, question = 0;
  handle<ibv_qp> qp;
  std::uint32_t inlet = 0;  ///< the peer's number of its end, as messages carry it
  flight_queue flights;
  send_window window;

  /// Its queue pair has ended, another one is to come: all that is kept is to be issued again.
  void rewind() noexcept {
    qp.reset();
    state = state_t::unused;
    const auto next = static_cast<std::uint8_t>(name.generation() + 1);
    name = work_id(work_id::kind_t::flight, next, name.number(), 0);
    window.restart(flights.rewind());
  }
  /// The peer's end is ready.
  void begin(std::uint32_t at_inlet, std::uint32_t buffers) noexcept {
    inlet = htonl(at_inlet);
    window.open(buffers);
    state = state_t::ready;
  }
};

}  // namespace heddle::transport::verbs
