// SPDX-License-Identifier: BSD-3-Clause
// endpoint.cpp - posting, polling, and peers that go.
#include "backends/verbs/endpoint.h"

#include <sys/epoll.h>

#include <cerrno>
#include <new>
#include <utility>

#include "base/error.h"

namespace heddle::transport::verbs {
namespace {

constexpr std::size_t slot_count = 256;
/// Messages at a stream's end that nobody waits for are asked after this seldom.
constexpr unsigned polls_per_settling = 32;

}  // namespace

verbs_endpoint::verbs_endpoint(verbs_device& owner, std::shared_ptr<lane_home> home)
    : device_(owner),
      home_(std::move(home)),
      waker_(::epoll_create1(EPOLL_CLOEXEC)),
      peers_(owner),
      slots_(owner.port(), slot_count, parcel::most_bytes),
      regions_(slots_),
      accesses_(regions_, slots_, owner.cache(), home_->queues.max_inline()),
      completions_(home_->queues),
      connector_(owner, home_, peers_),
      departures_(home_->queues, connector_, completions_, accesses_, slots_, peers_, events_),
      incoming_(home_->queues, home_->ends, peers_, events_) {
  if (!waker_) fail_errno(errno, "no descriptors left (ulimit -n)");
  watch(waker_.get(), home_->queues.channel()->fd);
  watch(waker_.get(), home_->letters.bell());
}

// --- posting ---------------------------------------------------------------------------

/// In both that post, each of which says what is posted.
[[gnu::always_inline]] inline status verbs_endpoint::start(peer_lane& p, op& o) noexcept {
  if (p.lost) [[unlikely]]
    return status::peer_lost;
  if (p.out.state != stream::state_t::ready) [[unlikely]] {
    connector_.connect(p);
    return status::busy_queue;
  }
  if (o.kind == op_kind::send) {
    const status s = departures_.add_message(p, o.head, o.header, o.memory);
    o.over = s == status::done;
    return s;
  }
  try {
    return start_access(p, o);
  } catch (const std::bad_alloc&) {
    return status::busy_queue;
  }
}

inline status verbs_endpoint::start_access(peer_lane& p, op& o) {
  if (o.kind == op_kind::put && o.tells) [[unlikely]]
    return start_told(p, o);
  if (!departures_.has_room(p.out, 1)) return status::busy_queue;
  return accesses_.start(p, o);
}

/// A put that tells has the message behind it, in the same order at the peer.
status verbs_endpoint::start_told(peer_lane& p, op& o) {
  if (!departures_.has_room(p.out, 2) || !p.out.window.has_room() || slots_.free() < 2)
    return status::busy_queue;
  const status s = accesses_.start(p, o);
  if (accepted(s)) (void)departures_.add_message(p, o.head, o.header, {}, s == status::posted);
  return s;
}

/// In one frame, as send(): a call for each part would be a tenth of it. Messages, which mostly go
/// by send(), are left to the other post().
[[gnu::flatten]] status verbs_endpoint::post(op& what) noexcept {
  if (what.kind == op_kind::send) [[unlikely]]
    return post_message(what);
  auto& p = static_cast<peer_lane&>(*what.to);
  const status s = start(p, what);
  departures_.push_soon(p);
  note_post(s);
  return s;
}

status verbs_endpoint::post_message(op& what) noexcept {
  op* const one = &what;
  return post(std::span(&one, 1)).reason;
}

inline void verbs_endpoint::note_post(status last) noexcept {
  refused_ = last == status::busy_queue;
  moved_ = false;
}

post_result verbs_endpoint::post(std::span<op* const> ops) noexcept {
  std::size_t taken = 0;
  peer_lane* last = nullptr;
  status s = status::done;
  for (; taken < ops.size(); ++taken) {
    auto* const p = static_cast<peer_lane*>(ops[taken]->to);
    if (p != last && last != nullptr) departures_.push_soon(*last);
    last = p;
    if (s = start(*p, *ops[taken]); !accepted(s)) break;
  }
  if (last != nullptr) departures_.push_soon(*last);
  note_post(s);
  return {taken, taken == ops.size() ? status::done : s};
}

[[gnu::flatten]] status verbs_endpoint::send(remote_lane& to, message_head head,
                                             std::span<const std::byte> header,
                                             std::span<const std::byte> data) noexcept {
  auto& p = static_cast<peer_lane&>(to);
  if (p.lost || p.out.state != stream::state_t::ready) [[unlikely]]
    return status::busy_queue;  // post() may tell more
  const status s = departures_.add_message(p, head, header, data);
  if (s == status::done) departures_.push_soon(p);
  return s;
}

// --- polling ---------------------------------------------------------------------------

std::size_t verbs_endpoint::poll(std::span<event> out) noexcept {
  events_.open(out);
  incoming_.recycle();
  incoming_.go_on();
  if (connector_.has_news()) [[unlikely]]
    read_letters();
  if (++polls_ % polls_per_settling == 0) departures_.settle();
  home_->ends.note_replaced();
  completions_.begin();
  while (!events_.full()) {
    const ibv_wc* const c = completions_.next();
    if (c == nullptr) {
      home_->ends.end_noted();
      break;
    }
    on_completion(*c);
  }
  if (device_.is_down()) [[unlikely]]
    lose_all();
  departures_.move();
  if (peers_.some_lost()) [[unlikely]]
    forget_lost();
  return events_.close();
}

void verbs_endpoint::read_letters() noexcept {
  moved_ = true;
  connector_.read_letters([this](peer_lane& p) { departures_.push(p); });
}

inline void verbs_endpoint::on_completion(const ibv_wc& c) noexcept {
  moved_ = true;
  switch (work_id(c.wr_id).kind()) {
    case work_id::kind_t::arrival:
      return incoming_.take(c);
    case work_id::kind_t::word:
      return incoming_.on_said(c);
    case work_id::kind_t::flight:
      return departures_.on_flight(c);
  }
}

void verbs_endpoint::lose_all() noexcept {
  for (peer_lane* const p : peers_.all()) peers_.lose(*p, "this host's network card has failed");
}

void verbs_endpoint::forget_lost() noexcept {
  peers_.take_lost([this](peer_lane& p) {
    events_.lost(p, p.why);
    departures_.forget(p);
  });
}

void verbs_endpoint::drop(remote_lane& of) noexcept {
  auto& p = static_cast<peer_lane&>(of);
  if (!std::exchange(p.lost, true)) departures_.forget(p);
}

void verbs_endpoint::maintain() noexcept {
  departures_.probe_some();
  incoming_.probe_some();
}

// --- sleep -----------------------------------------------------------------------------

bool verbs_endpoint::arm() noexcept {
  if (incoming_.lends()) return false;  // the next poll has their buffers back
  if (refused_ && std::exchange(moved_, false)) return false;
  if (refused_) departures_.settle();  // room is waited for
  if (!events_.empty() || peers_.some_lost() || connector_.has_news()) return false;
  return completions_.arm();
}

bool verbs_endpoint::arm_loosely() noexcept {
  incoming_.recycle();  // what the last poll brought is over
  return arm();
}

}  // namespace heddle::transport::verbs
