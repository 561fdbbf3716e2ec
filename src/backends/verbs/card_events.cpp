// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/card_events.h"

#include <fcntl.h>

#include "base/log.h"

namespace heddle::transport::verbs {

card_events::card_events(const card& on) : card_(on) {
  ::fcntl(fd(), F_SETFL, ::fcntl(fd(), F_GETFL) | O_NONBLOCK);
}

void card_events::read() noexcept {
  ibv_async_event e{};
  while (ibv_get_async_event(card_.context(), &e) == 0) {
    const auto kind = e.event_type;
    const bool our_port = e.element.port_num == card_.port();
    ibv_ack_async_event(&e);
    if (kind == IBV_EVENT_PORT_ERR || kind == IBV_EVENT_PORT_ACTIVE) {
      if (our_port) tell_of_port(kind == IBV_EVENT_PORT_ACTIVE);
    } else if (kind == IBV_EVENT_DEVICE_FATAL || kind == IBV_EVENT_CQ_ERR) {
      if (!down_.is_set())
        log::error(log::subsystem::wire, "verbs: {}: {}; its peers are lost", card_.name(),
                   ibv_event_type_str(kind));
      down_.set();
    }
  }
}

/// The card repeats what is under way. What it has given up when the port is back, is lost.
void card_events::tell_of_port(bool is_up) const noexcept {
  if (is_up)
    return log::info(log::subsystem::wire, "verbs: {}: the port is up again", card_.name());
  log::warn(log::subsystem::wire,
            "verbs: {}: the port is down: look at its cable and switch. What is under way waits "
            "for it, for as long as HEDDLE_VERBS_TIMEOUT and HEDDLE_VERBS_RETRIES say; after that "
            "its peer is lost",
            card_.name());
}

}  // namespace heddle::transport::verbs
