// SPDX-License-Identifier: BSD-3-Clause
// faulty_post.cpp - a faulty endpoint's way in: which ops go on at once, later, or not at all.
#include <algorithm>

#include "backends/faults/faulty_endpoint.h"

namespace heddle::transport {
namespace {

constexpr std::size_t most_held_ops = 64;

}  // namespace

faulty_endpoint::faulty_endpoint(std::unique_ptr<endpoint> inner, const fault_plan& plan,
                                 bool ordered, int lane)
    : inner_(std::move(inner)),
      plan_(plan),
      ordered_(ordered),
      random_(plan.seed + static_cast<std::uint64_t>(lane) * 0x51ed2701) {}

post_result faulty_endpoint::post(std::span<op* const> ops) noexcept {
  std::size_t begin = 0;  // ops[begin..i) go on together
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const fate f = decide(*ops[i]);
    if (f == fate::direct && !counts()) continue;
    if (const status s = pass_on(ops, begin, i); s != status::done) return {begin, s};
    if (f == fate::lost) return {i, status::peer_lost};
    if (f == fate::busy) {
      turned_away_ = starved_ = true;
      return {i, status::busy_queue};
    }
    if (f == fate::direct) {
      if (const status s = pass_on(ops, begin, i + 1); s != status::done) return {begin, s};
    } else {
      hold(*ops[i]);
      begin = i + 1;
    }
    count(*ops[i]->to);
  }
  const status s = pass_on(ops, begin, ops.size());
  return {begin, s};
}

faulty_endpoint::fate faulty_endpoint::decide(const op& o) {
  if (plan_.fail_from != 0 && accepted_ + 1 >= plan_.fail_from) lose(*o.to);
  if (o.to->peer == plan_.kill && kill_steps_ + 1 >= plan_.kill_at) lose(*o.to);
  if (lost_.contains(o.to)) return fate::lost;
  // While armed, nothing would tell that there is room again.
  if (!armed_ && random_.percent(plan_.busy)) return fate::busy;
  if (held_ops_.size() >= most_held_ops) return fate::busy;
  const bool delayed = (plan_.delay != 0 && random_.up_to(1) == 0) || lateness(o).count() != 0;
  return delayed || blocked(o, held_ops_.size()) ? fate::hold : fate::direct;
}

/// Gives ops[begin..end) to the inner endpoint and moves `begin` to the first it did not take.
status faulty_endpoint::pass_on(std::span<op* const> ops, std::size_t& begin, std::size_t end) {
  if (begin == end) return status::done;
  const post_result r = inner_->post(ops.subspan(begin, end - begin));
  begin += r.accepted;
  if (begin == end) return status::done;
  turned_away_ |= r.reason == status::busy_queue;
  return r.reason;
}

/// A send is copied, and over for its poster; the buffers of other ops are used when they go on.
void faulty_endpoint::hold(op& o) {
  held_op h;
  h.polls = random_.up_to(plan_.delay);
  if (const auto late = lateness(o); late.count() != 0)
    h.until = late_until_ = std::max(late_until_, std::chrono::steady_clock::now()) + late;
  o.over = o.kind == op_kind::send;
  if (o.over) {
    h.message.assign(o.header.begin(), o.header.end());
    h.message.insert(h.message.end(), o.memory.begin(), o.memory.end());
    h.sent = o;
    h.sent.header = {};
    h.sent.memory = h.message;  // moving a vector leaves its bytes where they are
  } else {
    h.of = &o;
  }
  held_ops_.push_back(std::move(h));
}

/// The data of a get comes this way.
std::chrono::microseconds faulty_endpoint::lateness(const op& o) const noexcept {
  if (plan_.late.empty()) return {};
  return o.kind == op_kind::get ? plan_.lateness(o.to->peer, plan_.self)
                                : plan_.lateness(plan_.self, o.to->peer);
}

/// What the contract keeps in order: sends to one peer, and where the wire is ordered puts before a
/// later send.
bool faulty_endpoint::must_follow(const op& later, const op& earlier) const noexcept {
  if (later.to != earlier.to || later.kind != op_kind::send) return false;
  if (earlier.kind == op_kind::send) return true;
  return ordered_ && earlier.kind == op_kind::put;
}

/// Whether one of the first `before` held ops has to go before `o`.
bool faulty_endpoint::blocked(const op& o, std::size_t before) const noexcept {
  return std::any_of(held_ops_.begin(), held_ops_.begin() + static_cast<std::ptrdiff_t>(before),
                     [&](const held_op& h) { return must_follow(o, h.what()); });
}

void faulty_endpoint::count(const remote_lane& to) {
  ++accepted_;
  if (to.peer == plan_.kill) ++kill_steps_;
}

/// The peer dies, as far as this endpoint shows.
void faulty_endpoint::lose(remote_lane& peer) {
  if (!lost_.insert(&peer).second) return;
  inner_->drop(peer);
  end_all_of(peer);
  if (told_lost_.insert(&peer).second)
    report(event::kind_t::peer_lost, status::peer_lost, &peer, nullptr, "HEDDLE_FAULTS has it die");
}

void faulty_endpoint::drop(remote_lane& of) noexcept {
  if (!lost_.insert(&of).second) return;
  inner_->drop(of);
  end_all_of(of);
}

/// Ends what is held for `peer` and forgets what has arrived from it.
void faulty_endpoint::end_all_of(const remote_lane& peer) {
  for (held_op& h : held_ops_)
    if (h.what().to == &peer) report_end(h.what(), status::peer_lost);
  std::erase_if(held_ops_, [&](const held_op& h) { return h.what().to == &peer; });
  std::erase_if(held_events_, [&](const held_event& h) {
    return h.what.kind == event::kind_t::arrived && h.what.from == &peer;
  });
}

}  // namespace heddle::transport
