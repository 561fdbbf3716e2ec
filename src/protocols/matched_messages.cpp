// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/matched_messages.h"

namespace heddle::protocols {

detail::taken_message matched_messages::hold(unexpected& message) noexcept {
  message.held = true;
  held_.push_back(message);
  const auto bytes = static_cast<std::size_t>(message.bytes);
  return {&message, message.from->received(status::done, message.tag, bytes)};
}

unexpected& matched_messages::fresh(peer& p) {
  unexpected& message = matcher_.messages.fresh();
  message.source = p.number;
  message.from = &p;
  message.tag = 0;
  return message;
}

unexpected& matched_messages::release(unexpected& held) noexcept {
  held_.remove(held);
  return held;
}

status matched_messages::take(rank source, tag_match match, detail::taken_message& found) noexcept {
  if (!peers_.may_be_source(source)) return status::invalid;
  unexpected* const m = matcher_.messages.find(source, of_one_kind(match));
  if (m == nullptr) return status::not_found;
  found = hold(matcher_.messages.take(*m));
  return status::done;
}

status matched_messages::take_or_wait(rank source, tag_match match, detail::taken_message& into,
                                      const completion& done) {
  const status s = take(source, match, into);
  if (s == status::done) {
    ops_.out().add(done, into.what);
    return status::posted;
  }
  if (s != status::not_found) return s;
  if (const status may = peers_.look_after(source); may != status::done) return may;
  if (ops_.room().full()) return status::busy_records;
  matcher_.receives.post_taker(source, of_one_kind(match), into, done);
  ops_.room().take();
  return status::posted;
}

bool matched_messages::give(unexpected& message) {
  posted_receive* const found = matcher_.receives.find_taker(message.source, message.tag);
  if (found == nullptr) return false;
  const posted_receive& taker = matcher_.receives.take(*found);
  ops_.room().give_back();
  taker.place() = hold(message);
  ops_.out().add(taker.done, taker.place().what);
  return true;
}

}  // namespace heddle::protocols
