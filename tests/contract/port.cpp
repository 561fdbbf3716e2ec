// port.cpp - the rules that every event has to keep.
#include "contract/port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace heddle::test {

using transport::event;
using transport::op;
using transport::post_result;

post_result port::post(std::span<op> ops) {
  for (op& o : ops) {
    o.cookie = next_cookie_++;
    o.finished = status::posted;
  }
  const post_result r = inner_->post(ops);
  EXPECT_LE(r.accepted, ops.size());
  const bool full_answer = r.accepted == ops.size();
  const bool short_answer = r.reason == status::busy_queue || r.reason == status::peer_lost;
  EXPECT_TRUE(full_answer || short_answer) << name_of(r.reason);
  for (const op& o : ops.first(std::min(r.accepted, ops.size()))) {
    in_flight_.insert(o.cookie);
    EXPECT_FALSE(is_busy(o.finished)) << "an accepted op is not busy";
    EXPECT_TRUE(o.kind != transport::op_kind::send || o.finished == status::done)
        << "sends are copied";
    if (o.finished != status::posted) end(o.cookie, o.finished);
  }
  return r;
}

std::size_t port::poll(std::size_t batch) {
  check_lent();
  std::vector<event> events(batch);
  const std::size_t n = inner_->poll(events);
  EXPECT_LE(n, batch);
  for (std::size_t i = 0; i < std::min(n, batch); ++i) take(events[i]);
  return n;
}

void port::check_lent() {
  for (const lent_bytes& lent : lent_)
    EXPECT_TRUE(std::equal(lent.view.begin(), lent.view.end(), lent.copy.begin()))
        << "a message of " << lent.copy.size() << " bytes changed before the next poll";
  lent_.clear();
}

void port::drop(rank peer) {
  dropped_.insert(peer);
  inner_->drop(peer);
}

void port::take(const event& e) {
  switch (e.kind) {
    case event::kind_t::ended:
      end(e.cookie, e.code);
      break;
    case event::kind_t::arrived:
      EXPECT_FALSE(dropped_.contains(e.peer)) << "a message from a dropped peer";
      EXPECT_FALSE(lost_.contains(e.peer)) << "a message from a lost peer";
      lent_.push_back({e.bytes, {e.bytes.begin(), e.bytes.end()}});
      if (on_message)
        on_message(e.peer, e.bytes);
      else
        inbox.push_back({e.peer, {e.bytes.begin(), e.bytes.end()}});
      break;
    case event::kind_t::peer_lost:
      EXPECT_TRUE(lost_.insert(e.peer).second) << "told twice that " << e.peer << " is lost";
      break;
  }
}

void port::end(std::uint64_t cookie, status code) {
  EXPECT_EQ(in_flight_.erase(cookie), 1u)
      << "rank " << self_ << " lane " << lane_ << ": op " << cookie
      << (outcomes_.contains(cookie) ? " ended twice" : " ended and was never accepted");
  EXPECT_TRUE(code == status::done || refused(code)) << name_of(code) << " is no outcome";
  outcomes_[cookie] = code;
  if (on_end) on_end(cookie, code);
}

status port::outcome(std::uint64_t cookie) const {
  const auto found = outcomes_.find(cookie);
  return found == outcomes_.end() ? status::posted : found->second;
}

std::size_t port::ended_with(status code) const {
  return static_cast<std::size_t>(
      std::count_if(outcomes_.begin(), outcomes_.end(),
                    [&](const auto& outcome) { return outcome.second == code; }));
}

}  // namespace heddle::test
