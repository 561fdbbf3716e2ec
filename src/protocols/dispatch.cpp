// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/dispatch.h"

namespace heddle::protocols {

status dispatch::execute_other(const command& c) {
  switch (c.kind) {
    case command_kind::send:
      return eager_.send(c);
    case command_kind::recv:
      return tagged_.receive(c.peer, c.match, c.memory, c.done);
    case command_kind::match:
      return tagged_.matched().take_or_wait(c.peer, c.match, *c.taken, c.done);
    case command_kind::recv_taken:
      return tagged_.receive_taken(*c.message, c.memory, c.done);
    case command_kind::call:
      if (c.handler >= max_handlers || c.header.size() > max_call_header) return status::invalid;
      return eager_.send(c);
    case command_kind::flush:
      return flush(c);
    case command_kind::when_ready:
      ops_.room().wait(c.done);
      ops_.room().tell(ops_.out());
      return status::posted;
    default:
      return status::invalid;
  }
}

status dispatch::flush(const command& c) {
  if (c.peer == any_source) return ops_.flushing().wait(c, nullptr, rma_);
  if (!peers_.valid(c.peer)) return status::invalid;
  peer* const p = peers_.find(c.peer);
  return p == nullptr ? status::done : ops_.flushing().wait(c, p, rma_);
}

void dispatch::execute_accepted(const command& c, delivery_batch& out) {
  ops_.room().must_take(true);
  const status s = execute(c, out);
  ops_.room().must_take(false);
  if (s == status::posted) return;
  const std::size_t bytes = s == status::done ? c.memory.size() : 0;
  out.add(c.done, {.code = s, .peer = c.peer, .bytes = bytes});
}

void dispatch::end_batch(delivery_batch& out) {
  ops_.collect_in(out);
  path_.batch().end();
}

status dispatch::cancel(const completion& which, delivery_batch& out) {
  ops_.collect_in(out);
  status s = tagged_.cancel(which);
  if (s == status::not_found) s = ops_.flushing().cancel(which);
  ops_.room().tell(out);  // what is taken back leaves room, and nobody may look at the lane again
  return s;
}

}  // namespace heddle::protocols
