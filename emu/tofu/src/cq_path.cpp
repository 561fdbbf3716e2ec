// SPDX-License-Identifier: BSD-3-Clause
// cq_path.cpp - posting and polling.
#include <utofu.h>

#include <algorithm>
#include <utility>

#include "cq_entry.h"
#include "host/words.h"

namespace tofu {

namespace {

/// For utofu_get_last_error.
void explain(const char* queue, int code, std::uint64_t vcq_id) noexcept {
  host::remember("%s entry with error %d, VCQ %#lx", queue, code, vcq_id);
}

void fill(const mrq_message& from, utofu_mrq_notice& into) noexcept {
  if (from.moment != 0) virtual_reach(from.moment);
  into = {};
  into.notice_type = from.type;
  into.vcq_id = from.vcq_id;
  into.edata = from.edata;
  into.rmt_value = from.rmt_value;
  into.lcl_stadd = from.lcl_stadd;
  into.rmt_stadd = from.rmt_stadd;
}

}  // namespace

int cq::post(const vcq& from, operation& op, void* cbdata) {
  const paid_call paid(call_ns_);
  const entry held(*this, from);
  if (is_dead()) return UTOFU_ERR_FATAL;
  if (mode_ != mode::in_line) advance();
  if (used_slots_ + op.slots > depth_) return UTOFU_ERR_BUSY;
  if (virtual_ns_ != 0) virtual_advance(virtual_ns_);
  append(from, op, cbdata);
  return UTOFU_SUCCESS;
}

int cq::post_block(const vcq& from, std::span<const std::byte> descriptors, void* cbdata) {
  const paid_call paid(call_ns_);
  const entry held(*this, from);
  if (is_dead()) return UTOFU_ERR_FATAL;
  if (mode_ != mode::in_line) advance();
  const std::size_t slots = descriptors.size() / slot_bytes;
  if (slots > depth_) return UTOFU_ERR_INVALID_SIZE;
  operation op;
  for (auto rest = descriptors; !rest.empty();) {
    if (!decode(rest, op)) return UTOFU_ERR_INVALID_DESC;
  }
  if (used_slots_ + slots > depth_) return UTOFU_ERR_BUSY;
  if (virtual_ns_ != 0) virtual_advance(virtual_ns_);
  while (!descriptors.empty() && decode(descriptors, op)) append(from, op, cbdata);
  return UTOFU_SUCCESS;
}

void cq::append(const vcq& from, operation& op, void* cbdata) {
  op.cmp = static_cast<std::uint8_t>(from.cmp);
  if (virtual_ns_ != 0) op.posted_at = virtual_now();
  const std::uint64_t at = tail_.load(std::memory_order_relaxed);  // our own store
  completion& c = completions_[at & (depth_ - 1)];
  c.cbdata = cbdata;
  c.cmp = op.cmp;
  c.slots = op.slots;
  c.shown = op.has(UTOFU_ONESIDED_FLAG_TCQ_NOTICE);
  used_slots_ += op.slots;
  if (mode_ == mode::in_line) {
    finish(c, executor_.execute(op));
  } else {
    c.done.store(false, std::memory_order_relaxed);  // relaxed: published by R3
    queue_[at & (depth_ - 1)] = op;
  }
  tail_.store(at + 1, std::memory_order_release);  // R3 pairs with A3
  if (where_.server != nullptr) where_.server->wake();
}

/// What a call to this CQ makes of what was posted before it.
void cq::advance() {
  if (mode_ == mode::lazy) run_some(batch_);
  if (mode_ != mode::chaos) return;
  called_ = true;
  stir();
}

/// A random amount of work, in mode chaos.
void cq::stir() {
  hand_to_chaos();
  chaos_->run(static_cast<unsigned>(batch_), [this](std::uint64_t at, int code) {
    finish(completions_[at & (depth_ - 1)], code);
  });
}

/// Executes all of it.
void cq::drain() {
  if (is_dead() || mode_ == mode::in_line) return;
  if (mode_ == mode::lazy) run_some(depth_);
  if (mode_ == mode::chaos) {
    hand_to_chaos();
    chaos_->drain(
        [this](std::uint64_t at, int code) { finish(completions_[at & (depth_ - 1)], code); });
  }
  // Acquire: what the engine has done is seen. It is R4's partner.
  while (mode_ == mode::engine && !is_dead() &&
         executed_.load(std::memory_order_acquire) != tail_.load(std::memory_order_relaxed)) {
    sched_yield();
  }
}

void cq::hand_to_chaos() {
  // Relaxed, all: our own stores.
  std::uint64_t at = executed_.load(std::memory_order_relaxed);
  for (; at != tail_.load(std::memory_order_relaxed); ++at) {
    chaos_->accept(queue_[at & (depth_ - 1)], at);
  }
  executed_.store(at, std::memory_order_relaxed);
}

std::uint64_t cq::run_some(std::uint64_t most) {
  const std::uint64_t first = executed_.load(std::memory_order_relaxed);  // our own store
  const std::uint64_t posted = tail_.load(std::memory_order_acquire);     // A3 pairs with R3
  const std::uint64_t end = first + std::min(most, posted - first);
  for (std::uint64_t i = first; i != end; ++i) {
    const std::uint64_t at = i & (depth_ - 1);
    finish(completions_[at], executor_.execute(queue_[at]));
  }
  if (end != first) executed_.store(end, std::memory_order_release);  // R4, see drain()
  return end - first;
}

std::size_t cq::serve() {
  if (mode_ != mode::chaos) return is_dead() ? 0 : run_some(64);
  const entry held(*this);
  // Relaxed: whoever has posted since has woken the engine, which comes again.
  const bool idle = chaos_->empty() && executed_.load(std::memory_order_relaxed) ==
                                           tail_.load(std::memory_order_relaxed);
  if (is_dead() || idle) return 0;
  if (!std::exchange(called_, false)) stir();
  return 1;
}

void cq::finish(completion& c, int code) noexcept {
  c.error = static_cast<std::int16_t>(code);
  c.moment = executor_.sent_at();
  c.shown = c.shown || code != UTOFU_SUCCESS;
  c.done.store(true, std::memory_order_release);  // R2 pairs with A2
}

int cq::poll_tcq(vcq& of, void** cbdata) {
  const entry held(*this, of);
  if (is_dead()) return UTOFU_ERR_FATAL;
  if (mode_ != mode::in_line) advance();
  if (!of.completions.empty()) {
    const vcq::finished one = of.completions.pop();
    if (one.moment != 0) virtual_reach(one.moment);
    *cbdata = one.cbdata;
    return one.error;
  }
  // Relaxed: our own store.
  while (head_ != tail_.load(std::memory_order_relaxed)) {
    const completion& c = completions_[head_ & (depth_ - 1)];
    if (!c.done.load(std::memory_order_acquire)) break;  // A2 pairs with R2
    ++head_;
    used_slots_ -= c.slots;
    if (!c.shown) continue;
    if (c.cmp == of.cmp) {
      if (c.moment != 0) virtual_reach(c.moment);
      *cbdata = c.cbdata;
      if (c.error != UTOFU_SUCCESS) explain("TCQ", c.error, id_);
      return c.error;
    }
    vcqs_[c.cmp]->completions.push({c.cbdata, c.error, c.moment});
  }
  return UTOFU_ERR_NOT_FOUND;
}

int cq::poll_mrq(vcq& of, utofu_mrq_notice* notice) {
  const entry held(*this, of);
  if (is_dead()) return UTOFU_ERR_FATAL;
  if (mode_ != mode::in_line) advance();
  if (!of.notices.empty()) {
    const mrq_message one = of.notices.pop();
    fill(one, *notice);
    return one.error;
  }
  const auto alive = [this](std::uint32_t who) { return machine_.is_alive(who); };
  while (const mrq_message* const next = mrq_.peek(alive)) {
    const bool ours = next->shown && next->cmp == of.cmp;
    const int code = next->error;
    if (ours) fill(*next, *notice);
    if (ours && code != UTOFU_SUCCESS) explain("MRQ", code, next->vcq_id);
    if (!ours) hand_over(*next);
    mrq_.pop();
    if (ours) return code;
  }
  return UTOFU_ERR_NOT_FOUND;
}

/// A notice that another VCQ of this CQ will poll.
void cq::hand_over(const mrq_message& notice) {
  vcq* const to = vcqs_[notice.cmp % cmp_ids];
  if (notice.shown && to != nullptr) to->notices.push(notice);
}

int cq::count_tcq(vcq& of, std::size_t* count) {
  const entry held(*this, of);
  if (is_dead()) return UTOFU_ERR_FATAL;
  if (mode_ != mode::in_line) advance();
  *count = of.completions.size();
  for (std::uint64_t i = head_; i != tail_.load(std::memory_order_relaxed); ++i) {
    const completion& c = completions_[i & (depth_ - 1)];
    if (!c.done.load(std::memory_order_acquire)) break;  // A2 pairs with R2
    *count += c.shown && c.cmp == of.cmp ? 1 : 0;
  }
  return UTOFU_SUCCESS;
}

int cq::count_mrq(vcq& of, std::size_t* count) {
  const entry held(*this, of);
  if (is_dead()) return UTOFU_ERR_FATAL;
  if (mode_ != mode::in_line) advance();
  *count = of.notices.size();
  mrq_.for_each([&](const mrq_message& m) { *count += m.shown && m.cmp == of.cmp ? 1 : 0; });
  return UTOFU_SUCCESS;
}

}  // namespace tofu
