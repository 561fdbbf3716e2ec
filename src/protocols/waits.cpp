// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/waits.h"

namespace heddle::protocols {

status waits::begin(const command& c) {
  if (c.kind == command_kind::flush) return flush(c);
  ops_.room().wait(c.done);
  ops_.room().tell(ops_.out());
  return status::posted;
}

status waits::flush(const command& c) {
  if (c.peer == any_source) return ops_.flushing().wait(c, nullptr, *this);
  if (!peers_.valid(c.peer)) return status::invalid;
  peer* const p = peers_.find(c.peer);
  return p == nullptr ? status::done : ops_.flushing().wait(c, p, *this);
}

}  // namespace heddle::protocols
