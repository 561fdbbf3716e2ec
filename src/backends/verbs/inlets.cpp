// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/inlets.h"

#include <sodium.h>

#include <cstddef>
#include <new>
#include <utility>

namespace heddle::transport::verbs {
namespace {

/// What an inlet says itself: how far the lane is, and whether the peer lives.
constexpr std::uint32_t inlet_depth = 4;

}  // namespace

std::uint32_t fresh_psn() noexcept {
  return randombytes_random() & 0xff'ffff;
}

bool inlets::open(inlet& made, const hello& ask, const peer_facts& peer) const noexcept {
  made.from = ask.from;
  made.lane = ask.from_lane;
  made.stream = ask.stream;
  made.their_qpn = ask.end.qpn;
  made.our_psn = fresh_psn();
  made.qp = queues_.make_queue_pair(inlet_depth);
  return made.qp != nullptr && queues_.on().prepare(made.qp.get()) == 0 &&
         queues_.on().connect(made.qp.get(), peer.place, ask.end, made.our_psn) == 0;
}

hello refusal_of(const hello& ask) noexcept {
  hello answer = ask;
  answer.kind = hello::kind_t::refuse;
  std::swap(answer.from, answer.to);
  std::swap(answer.from_nonce, answer.to_nonce);
  return answer;
}

hello inlets::admit(const hello& ask, const peer_facts& peer) {
  hello answer = refusal_of(ask);
  const std::scoped_lock lock(mutex_);
  inlet* found = nullptr;
  std::unique_ptr<inlet>* free_place = nullptr;
  for (auto& i : inlets_) {
    if (i->from != ask.from || i->lane != ask.from_lane) continue;
    // A copy that comes late, of before the stream began anew.
    if (static_cast<std::int32_t>(ask.question - i->question) < 0) return answer;
    if (i->let_go) free_place = &i;
  }
  for (const auto& i : inlets_) {
    if (i->from != ask.from || i->lane != ask.from_lane || i->replaced.is_set()) continue;
    if (i->their_qpn == ask.end.qpn && i->stream == ask.stream) {
      found = i.get();
      break;
    }
    i->replaced.set();
    replaced_here_.set();
  }
  if (found == nullptr) {
    auto made = std::make_unique<inlet>();
    if (free_place == nullptr) free_place = &inlets_.emplace_back();
    found = (*free_place = std::move(made)).get();
    found->number = static_cast<std::uint32_t>(free_place - inlets_.data());
    found->question = ask.question;
    if (!open(*found, ask, peer)) {
      found->replaced.set();  // the lane's thread ends what was made of it
      replaced_here_.set();
      return answer;
    }
  }
  found->question = ask.question;
  answer.kind = hello::kind_t::answer;
  answer.inlet = found->number;
  answer.window = queues_.window();
  answer.end = {found->qp->qp_num, found->our_psn};
  return answer;
}

inlet* inlets::look_for(std::uint32_t number) noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    seen_.resize(inlets_.size());
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  for (std::size_t n = 0; n < seen_.size(); ++n)
    seen_[n] = inlets_[n]->let_go ? nullptr : inlets_[n].get();
  return number < seen_.size() ? seen_[number] : nullptr;
}

void inlets::note_those_replaced() noexcept {
  for (inlet* const i : all())
    if (i != nullptr) i->ends = i->replaced.is_set() && i->qp != nullptr;
  some_end_ = true;
}

void inlets::let_go_of_closed() noexcept {
  some_closed_ = false;
  const std::scoped_lock lock(mutex_);
  for (inlet*& i : seen_) {
    if (i == nullptr || !i->replaced.is_set() || i->qp != nullptr) continue;
    i->let_go = true;
    i = nullptr;
  }
}

void inlets::end_those_noted() noexcept {
  some_end_ = false;
  for (inlet* const i : all())
    if (i != nullptr && std::exchange(i->ends, false)) i->qp.reset();
  some_closed_ = true;
}

}  // namespace heddle::transport::verbs
