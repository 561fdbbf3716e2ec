// SPDX-License-Identifier: BSD-3-Clause
// faulty_post.cpp - a faulty endpoint's way in: which ops go on at once, later, or not at all.
#include "backends/faults/faulty_endpoint.h"

namespace heddle::transport {

faulty_endpoint::faulty_endpoint(std::unique_ptr<endpoint> inner, const fault_plan& plan,
                                 bool ordered, int lane)
    : inner_(std::move(inner)),
      plan_(plan),
      random_(plan.seed + static_cast<std::uint64_t>(lane) * 0x51ed2701),
      ops_(plan_, ordered, random_),
      events_(plan_, random_) {}

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
      ops_.hold(*ops[i]);
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
  if (ops_.full()) return fate::busy;
  const bool delayed = plan_.delay != 0 && random_.up_to(1) == 0;
  return delayed || ops_.must_hold(o) ? fate::hold : fate::direct;
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
    events_.hold({event::kind_t::peer_lost, status::peer_lost, &peer, nullptr,
                  bytes_of("HEDDLE_FAULTS has it die")});
}

void faulty_endpoint::drop(remote_lane& of) noexcept {
  if (!lost_.insert(&of).second) return;
  inner_->drop(of);
  end_all_of(of);
}

/// Ends what is held for `peer` and forgets what has arrived from it.
void faulty_endpoint::end_all_of(const remote_lane& peer) {
  ops_.drop_all_of(peer, [this](op& o) { report_end(o, status::peer_lost); });
  events_.drop_messages_of(peer);
}

}  // namespace heddle::transport
