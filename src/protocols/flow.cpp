// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flow.h"

#include "base/clock.h"
#include "tracing/recorder.h"

namespace heddle::protocols {
namespace {

/// A peer that has given credit within so many times the patience receives, and its next is waited
/// for as many times the patience as is said here, whoever looks.
constexpr std::uint64_t lately = 100, patience_with_active = 20;

}  // namespace

/// All that is owed, which may be nothing.
void flow::give(peer& p) {
  message m;
  m.kind = message_kind::credit;
  m.word = p.credit.settle();
  if (trace::is_watched()) [[unlikely]]
    trace::note(trace::event_kind::credit_out, p.number, m.word);
  path_.control(p, m);
}

void flow::on_message(peer& from, const message& m) {
  if (!from.credit.add(m.word, now_ns())) return path_.violated(from);
  if (trace::is_watched()) [[unlikely]]
    trace::note(trace::event_kind::credit_in, from.number, m.word);
}

bool flow::waits(peer& p, std::uint64_t cost) noexcept {
  if (patience_ns_ == 0 || !p.credit.may_cover(cost) || !is_patient(p)) return false;
  awaited_.set(true);
  return true;
}

/// As long as a thread would wait awake, unless nobody is going to look any more. Where the peer
/// receives, its threads may only be short of a core: an announcement is work for both sides, and
/// what is fetched ahead of them fills their caches.
bool flow::is_patient(peer& p) const noexcept {
  const std::uint64_t now = now_ns();
  const std::uint64_t waited = p.credit.waited_ns(now);
  if (p.credit.came_within(lately * patience_ns_, now))
    return waited < patience_with_active * patience_ns_;
  return !path_.is_last_call() && waited < patience_ns_;
}

}  // namespace heddle::protocols
