// SPDX-License-Identifier: BSD-3-Clause
// stream.h - what one lane has for one lane of a peer, and the queue pair over which it goes.
#pragma once
#include <cstdint>

#include "backends/verbs/flight_queue.h"
#include "backends/verbs/handles.h"
#include "backends/verbs/send_window.h"

namespace heddle::transport::verbs {

struct stream {
  enum class state_t : std::uint8_t {
    unused,
    asking,  ///< for the peer's end
    ready,
  };
  state_t state = state_t::unused;
  std::uint8_t generation = 0;  ///< of its queue pairs
  std::uint32_t number = 0;     ///< of the lane's streams
  std::uint32_t our_psn = 0, question = 0;
  handle<ibv_qp> qp;
  std::uint32_t inlet = 0;  ///< the peer's number of its end
  flight_queue flights;
  send_window window;

  /// Its queue pair has ended, another one is to come: all that is kept is to be issued again.
  void rewind() noexcept {
    qp.reset();
    state = state_t::unused;
    ++generation;
    window.restart(flights.rewind());
  }
  /// The peer's end is ready.
  void begin(std::uint32_t at_inlet, std::uint32_t buffers) noexcept {
    inlet = at_inlet;
    window.open(buffers);
    state = state_t::ready;
  }
};

}  // namespace heddle::transport::verbs
