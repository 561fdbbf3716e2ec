// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/census.h"

#include <algorithm>
#include <array>
#include <utility>

#include "protocols/lost_peers.h"

namespace heddle::protocols {
namespace {

std::string_view kind_of(const request& r) noexcept {
  constexpr std::array<std::string_view, 10> names{"put",    "put_notify", "put_signal", "get",
                                                   "atomic", "send",       "recv",       "call",
                                                   "flush",  "when_ready"};
  return names[static_cast<std::size_t>(r.what)];
}

std::string_view stage_of(const request& r) noexcept {
  switch (r.at) {
    case stage::backlog:
      return "waits for room on the wire, or for credit";
    case stage::direct:
    case stage::wire:
      return r.message_bytes != 0 ? "its data is being read" : "the wire has it";
    case stage::turn:
      return r.by == carrier::stripes ? "waits for a rail"
                                      : "is being copied here, a piece in each turn";
    case stage::striped:
      return "goes over several rails";
    case stage::reply:
      return "waits for the peer's answer";
    case stage::deferred:
      return "waits for memory here";
    default:
      return "waits for other operations";
  }
}

port_report::operation described(const request& r) noexcept {
  return {.kind = kind_of(r),
          .stage = stage_of(r),
          .peer = r.with != nullptr ? r.with->number : r.number,
          .tag = r.tag,
          .bytes = r.message_bytes != 0 ? r.message_bytes : r.bytes,
          .since_ns = r.since_ns};
}

peer_counters counted(const peer& p) noexcept {
  peer_counters made;
  made.peer = p.number;
  made.peer_lane = p.lane;
  made.sent_messages = p.sent_messages;
  made.sent_bytes = p.sent_bytes;
  made.received_messages = p.received_messages;
  made.received_bytes = p.received_bytes;
  made.accesses = p.accesses;
  made.accessed_bytes = p.accessed_bytes;
  for (const request* r = p.backlog.front(); r != nullptr; r = request_queue::next(*r))
    ++made.backlog;
  made.control = p.control.size();
  made.credit = p.credit.left();
  made.credit_limit = p.credit.limit();
  made.held = p.credit.held();
  made.lost = p.lost ? 1 : 0;
  return made;
}

port_report::peer described(const peer& p) {
  return {.number = p.number,
          .lane = p.lane,
          .lost = p.lost,
          .asked = p.pinged,
          .why = {},
          .silent_since_ns = p.heard ? 0 : p.silent_since_ns,
          .counted = counted(p)};
}

template <class T>
void keep_oldest(std::vector<T>& all) {
  std::ranges::stable_sort(all, {}, &T::since_ns);
  if (all.size() > port_report::most) all.resize(port_report::most);
}

}  // namespace

void census::stamp(std::uint64_t now_ns) {
  const auto mark = [&](auto& waiting) {
    if (waiting.since_ns == 0) waiting.since_ns = now_ns;
  };
  ops_.pool().each(mark);
  matcher_.receives.each(mark);
  matcher_.messages.each(mark);
}

void census::count(std::vector<peer_counters>& into) const {
  for (const peer* p : peers_.all()) {
    into.push_back(counted(*p));
    into.back().rank = where_.self;
    into.back().lane = where_.lane;
  }
}

void census::count(lane_counters& into) const noexcept {
  into.rank = where_.self;
  into.lane = where_.lane;
  into.in_flight = ops_.room().taken();
  into.in_flight_bytes = ops_.bytes_hint();
  into.events = counters_.events.get();
  into.eager = counters_.eager.get();
  into.rendezvous = counters_.rendezvous.get();
  into.emulated = counters_.emulated.get();
  into.stripes = counters_.stripes.get();
  into.unexpected = counters_.unexpected.get();
  into.backlogged = counters_.backlogged.get();
  into.posts_together = counters_.posts_together.get();
  into.posted_together = counters_.posted_together.get();
  into.unknown_handlers = counters_.unknown_handler.get();
  into.lost_peers = counters_.lost_peers.get();
  into.violations = counters_.violations.get();
}

port_report census::report(std::uint64_t now_ns) {
  stamp(now_ns);
  port_report made;
  ops_.pool().each([&](const request& r) {
    const bool stripe = r.at != stage::direct && r.part_of != 0;
    if (!stripe) made.operations.push_back(described(r));
  });
  matcher_.receives.each([&](const posted_receive& r) {
    made.receives.push_back({r.source, r.match, r.takes() ? 0 : r.into.size(), r.since_ns});
  });
  matcher_.messages.each([&](const unexpected& m) {
    made.messages.push_back({m.source, m.tag, m.bytes, m.since_ns, m.announced});
  });
  for (const peer* p : peers_.all()) {
    made.peers.push_back(described(*p));
    if (p->lost) made.peers.back().why = where_.losses->why(where_.lane, p->number);
  }
  std::ranges::sort(made.peers, {},
                    [](const port_report::peer& p) { return std::pair(p.number, p.lane); });
  made.operation_count = made.operations.size();
  made.receive_count = made.receives.size();
  made.message_count = made.messages.size();
  keep_oldest(made.operations);
  keep_oldest(made.receives);
  keep_oldest(made.messages);
  return made;
}

}  // namespace heddle::protocols
