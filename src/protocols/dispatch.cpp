// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/dispatch.h"

namespace heddle::protocols {

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
