// cq.cpp - opening and closing a CQ, and its VCQs; see cq_path.cpp for posting and polling.
#include "cq.h"

#include "cq_entry.h"

namespace tofu {

namespace {

std::uint64_t id_of(const machine& m, unsigned tni, unsigned number) noexcept {
  return vcq_id_of({m.coordinates_of(m.node()), tni, number, 0});
}

}  // namespace

cq::cq(const machine& m, const settings& set, unsigned tni, unsigned number, bool exclusive,
       std::shared_ptr<mapping> map, owned_fd fd)
    : machine_(m),
      tni_(tni),
      number_(number),
      exclusive_(exclusive),
      id_(id_of(m, tni, number)),
      mode_(set.choice<mode>(knob::mode)),
      refuses_lengths_(!set.on(knob::size_errors)),
      depth_(set[knob::toq]),
      batch_(set[knob::batch]),
      fd_(std::move(fd)),
      map_(std::move(map)),
      shared_(*reinterpret_cast<shared_cq*>(map_->data())),
      steering_(shared_, number, set),
      executor_(m, set, id_, shared_, steering_),
      completions_(new completion[depth_]),
      queue_(mode_ == mode::in_line ? nullptr : new operation[depth_]),
      mrq_(mrq_slots(shared_, set), set[knob::mrq]) {
  announce_own_cq(tni_, number_, map_);
}

cq::~cq() {
  announce_own_cq(tni_, number_, nullptr);
}

void cq::add(vcq& one) {
  const entry held(*this);
  one.queue = this;
  one.id = id_ | std::uint64_t{one.cmp} << cmp_shift;
  vcqs_[one.cmp] = &one;
}

void cq::remove(vcq& one) {
  const entry held(*this);
  if (!is_dead()) run_some(depth_);
  sort_notices();  // so that a later VCQ of this cmp_id does not see them
  for (std::uint64_t i = head_; i != tail_; ++i) {
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
  if (inside_.load(std::memory_order_relaxed) != 0 || is_dead()) return;
  const entry held(*this);
  run_some(depth_);
}

void cq::sort_notices() {
  const auto alive = [this](std::uint32_t who) { return machine_.is_alive(who); };
  while (const mrq_message* const next = mrq_.peek(alive)) {
    hand_over(*next);
    mrq_.pop();
  }
}

}  // namespace tofu
