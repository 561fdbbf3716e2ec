// SPDX-License-Identifier: BSD-3-Clause
// port.cpp - the rules that every event has to keep.
#include "contract/port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace heddle::test {

using transport::event;
using transport::post_result;

namespace {

/// A test that floods a wire offers all it has left each time, of which this is enough.
constexpr std::size_t most_posted = 256;

/// A message's head goes through the wire unchanged, so it carries what can be checked.
transport::message_head head_of(std::size_t bytes) {
  return {0x1234'5678'9abc'def0, bytes};
}

/// One alone by the short way for that.
post_result post_any(transport::endpoint& by, std::span<transport::op* const> ops) {
  if (ops.size() != 1) return by.post(ops);
  const status s = by.post(*ops[0]);
  if (s != status::done && s != status::posted) return {0, s};
  EXPECT_EQ(s == status::done, ops[0]->over) << "its answer says whether it is over";
  return {1, status::done};
}

}  // namespace

post_result port::post(std::span<op> ops) {
  ops = ops.first(std::min(ops.size(), most_posted));
  std::vector<std::unique_ptr<op>> copies;
  std::vector<transport::op*> posted;
  for (op& o : ops) {
    o.number = next_number_++;
    o.to = reach(o.whom);
    const bool moves = o.kind == transport::op_kind::send;
    o.head = head_of(o.header.size() + (moves ? o.memory.size() : 0));
    posted.push_back(copies.emplace_back(std::make_unique<op>(o)).get());
  }
  const post_result r = post_any(*inner_, posted);
  EXPECT_LE(r.accepted, ops.size());
  EXPECT_EQ(r.accepted == ops.size(), r.reason == status::done) << name_of(r.reason);
  for (std::size_t i = 0; i < std::min(r.accepted, ops.size()); ++i) {
    const op& o = *copies[i];
    EXPECT_TRUE(o.kind != transport::op_kind::send || o.over) << "sends are copied";
    const bool over = o.over;
    EXPECT_TRUE(!over || o.tells == ops[i].tells) << "who is over at once has told";
    const std::uint64_t number = o.number;
    in_flight_.emplace(number, std::move(copies[i]));
    if (over) end(number, status::done);
  }
  // An op that cannot be done is over for the tests, whoever says so.
  if (r.accepted < ops.size() && r.reason != status::busy_queue && r.reason != status::peer_lost) {
    outcomes_[ops[r.accepted].number] = r.reason;
    return {r.accepted + 1, r.accepted + 1 == ops.size() ? status::done : status::busy_queue};
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
  inner_->drop(*reach(peer));
}

void port::take(const event& e) {
  switch (e.kind) {
    case event::kind_t::ended:
      end(static_cast<const op*>(e.of)->number, e.code);
      break;
    case event::kind_t::arrived:
      EXPECT_EQ(inner_->reach(e.from->peer, e.from->lane), e.from);
      EXPECT_FALSE(dropped_.contains(e.from->peer)) << "a message from a dropped peer";
      EXPECT_FALSE(lost_.contains(e.from->peer)) << "a message from a lost peer";
      lent_.push_back({e.bytes, {e.bytes.begin(), e.bytes.end()}});
      take_message(*e.from, e.bytes);
      break;
    case event::kind_t::peer_lost:
      EXPECT_TRUE(told_lost_.insert(e.from).second) << "told twice that a lane is lost";
      lost_.insert(e.from->peer);
      break;
  }
}

void port::take_message(const transport::remote_lane& from, std::span<const std::byte> bytes) {
  transport::message_head head;
  ASSERT_GE(bytes.size(), sizeof head);
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto body = bytes.subspan(sizeof head);
  EXPECT_EQ(head.first, head_of(body.size()).first);
  EXPECT_EQ(head.word, body.size()) << "a message's head is not its own";
  if (on_message)
    on_message(from.peer, body);
  else
    inbox.push_back({from.peer, from.lane, {body.begin(), body.end()}});
}

void port::end(std::uint64_t number, status code) {
  const auto found = in_flight_.find(number);
  ASSERT_NE(found, in_flight_.end())
      << "rank " << self_ << " lane " << lane_ << ": op " << number
      << (outcomes_.contains(number) ? " ended twice" : " ended and was never accepted");
  if (code == status::done && found->second->tells) ++told_;
  in_flight_.erase(found);
  EXPECT_TRUE(code == status::done || refused(code)) << name_of(code) << " is no outcome";
  outcomes_[number] = code;
  if (on_end) on_end(number, code);
}

status port::outcome(std::uint64_t number) const {
  const auto found = outcomes_.find(number);
  return found == outcomes_.end() ? status::posted : found->second;
}

std::size_t port::ended_with(status code) const {
  return static_cast<std::size_t>(
      std::count_if(outcomes_.begin(), outcomes_.end(),
                    [&](const auto& outcome) { return outcome.second == code; }));
}

}  // namespace heddle::test
