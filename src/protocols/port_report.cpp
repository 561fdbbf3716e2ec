#include "protocols/port_report.h"

#include <algorithm>
#include <array>

#include "protocols/lost_peers.h"
#include "protocols/port.h"

namespace heddle::protocols {
namespace {

std::string_view kind_of(const record& r) noexcept {
  constexpr std::array<std::string_view, 9> names{
      "put", "put_notify", "get", "atomic", "send", "recv", "call", "flush", "when_ready"};
  return names[static_cast<std::size_t>(r.what.kind)];
}

std::string_view stage_of(const record& r) noexcept {
  switch (r.at) {
    case stage::backlog:
      return "waits for room on the wire";
    case stage::wire:
      return "the wire has it";
    case stage::pieces:
      return "is being copied here, a piece in each turn";
    case stage::fetching:
      return "its data is being read";
    case stage::reply:
      return "waits for the peer's answer";
    default:
      return "waits for other operations";
  }
}

port_report::operation described(const record& r) noexcept {
  const bool incoming = r.source != any_source;  // a message whose data is fetched
  return {.kind = kind_of(r),
          .stage = stage_of(r),
          .peer = incoming ? r.source : r.what.peer,
          .tag = incoming ? r.matched_tag : r.what.match.value,
          .bytes = incoming ? r.message_bytes : r.what.memory.size(),
          .since_ns = r.since_ns};
}

port_report::peer described(const link& l) {
  std::size_t backlog = 0;
  for (const record* r = l.backlog.front(); r != nullptr; r = queue_list::next(*r)) ++backlog;
  return {.number = l.peer,
          .lost = l.lost,
          .asked = l.pinged,
          .why = {},
          .silent_since_ns = l.heard ? 0 : l.silent_since_ns,
          .backlog = backlog,
          .control = l.control.size(),
          .credit = l.credit,
          .credit_limit = l.credit_limit,
          .held = l.held};
}

template <class T>
void keep_oldest(std::vector<T>& all) {
  std::ranges::stable_sort(all, {}, &T::since_ns);
  if (all.size() > port_report::most) all.resize(port_report::most);
}

}  // namespace

template <class F>
void port::each_operation(F&& f) {
  const auto each_waiting = [&](const queue_list& flushes) {
    for (record* r = flushes.front(); r != nullptr; r = queue_list::next(*r)) f(*r);
  };
  for (const link* l : active_) {
    for (record* r = l->records.front(); r != nullptr; r = link_list::next(*r)) f(*r);
    each_waiting(l->flushes);
  }
  each_waiting(flushes_);
}

/// What has been waiting since before the last turn keeps its time.
void port::stamp(std::uint64_t now_ns) {
  const auto mark = [&](auto& waiting) {
    if (waiting.since_ns == 0) waiting.since_ns = now_ns;
  };
  each_operation(mark);
  accesses_.each([&](native_access& a) {
    if (a.with != nullptr) mark(a);
  });
  matcher_.each_receive(mark);
  matcher_.each_message(mark);
}

port_report port::report(std::uint64_t now_ns) {
  stamp(now_ns);
  port_report made;
  each_operation([&](const record& r) { made.operations.push_back(described(r)); });
  accesses_.each([&](const native_access& a) {
    if (a.with == nullptr) return;
    made.operations.push_back(
        {"put, get or atomic", "the wire has it", a.with->peer, 0, a.bytes, a.since_ns});
  });
  matcher_.each_receive([&](const posted_receive& r) {
    made.receives.push_back({r.source, r.match, r.into.size(), r.since_ns});
  });
  matcher_.each_message([&](const unexpected& m) {
    made.messages.push_back({m.source, m.tag, m.bytes, m.since_ns, m.announced});
  });
  for (const link* l : active_) {
    made.peers.push_back(described(*l));
    if (l->lost) made.peers.back().why = where_.losses->why(where_.lane, l->peer);
  }
  std::ranges::sort(made.peers, {}, &port_report::peer::number);
  made.operation_count = made.operations.size();
  made.receive_count = made.receives.size();
  made.message_count = made.messages.size();
  keep_oldest(made.operations);
  keep_oldest(made.receives);
  keep_oldest(made.messages);
  return made;
}

}  // namespace heddle::protocols
