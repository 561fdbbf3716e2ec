// SPDX-License-Identifier: BSD-3-Clause
// cq.cpp - opening and closing a CQ, and its VCQs; see cq_path.cpp for posting and polling.
#include "cq.h"

#include "cq_entry.h"

namespace tofu {

namespace {

std::uint64_t id_of(const machine& m, const cq_place& where) noexcept {
  return vcq_id_of({m.coordinates_of(m.node()), where.tni, where.number, 0});
}

/// On the hardware every CQ begins with the same tag, so that a STADD used on another TNI's CQ may
/// happen to be valid there. Strict: it is not, for a long time.
unsigned first_tag(const cq_place& where, const settings& set) noexcept {
  const auto tags = static_cast<unsigned>(set[knob::stags]);
  return set.on(knob::strict) ? where.tni * (tags / tnis_per_node) : 0;
}

std::uint64_t cost_in(timing_model m, const settings& set) noexcept {
  return set.choice<timing_model>(knob::model) == m ? set[knob::post_ns] : 0;
}

std::unique_ptr<chaos> make_chaos(executor& how, const settings& set, std::uint64_t id) {
  if (set.choice<mode>(knob::mode) != mode::chaos) return nullptr;
  return std::make_unique<chaos>(how, (set[knob::seed] ^ id) * 0x9e37'79b9'7f4a'7c15);
}

}  // namespace

cq::cq(const machine& m, const settings& set, const cq_place& where,
       std::shared_ptr<host::mapping> map, host::owned_fd fd)
    : machine_(m),
      where_(where),
      id_(id_of(m, where)),
      mode_(set.choice<mode>(knob::mode)),
      refuses_lengths_(!set.on(knob::size_errors)),
      depth_(set[knob::toq]),
      batch_(set[knob::batch]),
      call_ns_(cost_in(timing_model::cpu, set)),
      virtual_ns_(cost_in(timing_model::virtual_clock, set)),
      fd_(std::move(fd)),
      map_(std::move(map)),
      shared_(*reinterpret_cast<shared_cq*>(map_->data())),
      steering_(shared_, where.number, first_tag(where, set), set),
      executor_(m, set, id_, shared_, steering_),
      completions_(new completion[depth_]),
      queue_(mode_ == mode::in_line ? nullptr : new operation[depth_]),
      chaos_(make_chaos(executor_, set, id_)),
      mrq_(mrq_slots(shared_, set), set[knob::mrq]) {
  announce_own_cq(where.tni, where.number, map_);
  if (where.server != nullptr) where.server->add(*this);
}

cq::~cq() {
  if (where_.server != nullptr) where_.server->remove(*this);
  announce_own_cq(where_.tni, where_.number, nullptr);
}

void cq::add(vcq& one) {
  const entry held(*this);
  one.queue = this;
  one.id = id_ | std::uint64_t{one.cmp} << cmp_shift;
  vcqs_[one.cmp] = &one;
}

void cq::remove(vcq& one) {
  const entry held(*this);
  drain();
  sort_notices();  // so that a later VCQ of this cmp_id does not see them
  for (std::uint64_t i = head_; i != tail_.load(std::memory_order_relaxed); ++i) {
    completion& c = completions_[i & (depth_ - 1)];
    if (c.cmp == one.cmp) c.shown = false;
  }
  vcqs_[one.cmp] = nullptr;
  steering_.deregister_reserved(one.cmp);
}

unsigned cq::cmp_mask() const noexcept {
  unsigned mask = 0;
  for (unsigned cmp = 0; cmp < cmp_ids; ++cmp) mask |= vcqs_[cmp] == nullptr ? 0 : 1u << cmp;
  return mask;
}

void cq::flush() {
  // Relaxed: whoever is inside at exit stays there for ever.
  if (inside_.load(std::memory_order_relaxed) != 0) return;
  const entry held(*this);
  drain();
}

void cq::sort_notices() {
  const auto alive = [this](std::uint32_t who) { return machine_.is_alive(who); };
  while (const mrq_message* const next = mrq_.peek(alive)) {
    hand_over(*next);
    mrq_.pop();
  }
}

}  // namespace tofu
