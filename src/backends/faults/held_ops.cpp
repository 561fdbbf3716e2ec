// SPDX-License-Identifier: BSD-3-Clause
#include "backends/faults/held_ops.h"

#include <algorithm>
#include <utility>

namespace heddle::transport {
namespace {

constexpr std::size_t most_held_ops = 64;

}  // namespace

bool held_ops::full() const noexcept {
  return ops_.size() >= most_held_ops;
}

bool held_ops::must_hold(const op& o) const noexcept {
  return lateness(o).count() != 0 || blocked(o, ops_.size());
}

void held_ops::hold(op& o) {
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
  ops_.push_back(std::move(h));
}

void held_ops::release(const std::function<bool(op&)>& pass_on) {
  for (std::size_t i = 0; i < ops_.size();) {
    held_op& h = ops_[i];
    h.waiting = false;
    if (h.polls != 0) --h.polls;
    const bool late =
        h.until.time_since_epoch().count() != 0 && std::chrono::steady_clock::now() < h.until;
    const bool stays =
        late || h.polls != 0 || blocked(h.what(), i) || random_.percent(plan_.reorder);
    if (!stays) h.waiting = !pass_on(h.what());
    if (stays || h.waiting)
      ++i;
    else
      ops_.erase(ops_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

bool held_ops::only_wait_for_room() const noexcept {
  for (std::size_t i = 0; i < ops_.size(); ++i)
    if (!ops_[i].waiting && !blocked(ops_[i].what(), i)) return false;
  return true;
}

void held_ops::drop_all_of(const remote_lane& peer, const std::function<void(op&)>& on_end) {
  for (held_op& h : ops_)
    if (h.what().to == &peer) on_end(h.what());
  std::erase_if(ops_, [&](const held_op& h) { return h.what().to == &peer; });
}

/// The data of a get comes this way.
std::chrono::microseconds held_ops::lateness(const op& o) const noexcept {
  if (plan_.late.empty()) return {};
  return o.kind == op_kind::get ? plan_.lateness(o.to->peer, plan_.self)
                                : plan_.lateness(plan_.self, o.to->peer);
}

/// What the contract keeps in order: sends to one peer, and where the wire is ordered puts before a
/// later send.
bool held_ops::must_follow(const op& later, const op& earlier) const noexcept {
  if (later.to != earlier.to || later.kind != op_kind::send) return false;
  if (earlier.kind == op_kind::send) return true;
  return ordered_ && earlier.kind == op_kind::put;
}

/// Whether one of the first `before` held ops has to go before `o`.
bool held_ops::blocked(const op& o, std::size_t before) const noexcept {
  return std::any_of(ops_.begin(), ops_.begin() + static_cast<std::ptrdiff_t>(before),
                     [&](const held_op& h) { return must_follow(o, h.what()); });
}

}  // namespace heddle::transport
