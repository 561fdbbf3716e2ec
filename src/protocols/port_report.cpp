#include "protocols/port_report.h"

#include <algorithm>
#include <array>
#include <utility>

#include "protocols/lost_peers.h"
#include "protocols/port.h"

namespace heddle::protocols {
namespace {

std::string_view kind_of(const request& r) noexcept {
  constexpr std::array<std::string_view, 9> names{
      "put", "put_notify", "get", "atomic", "send", "recv", "call", "flush", "when_ready"};
  return names[static_cast<std::size_t>(r.what)];
}

std::string_view stage_of(const request& r) noexcept {
  switch (r.at) {
    case stage::backlog:
      return "waits for room on the wire";
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

port_report::peer described(const peer& p) {
  std::size_t backlog = 0;
  for (const request* r = p.backlog.front(); r != nullptr; r = request_queue::next(*r)) ++backlog;
  return {.number = p.number,
          .lane = p.lane,
          .lost = p.lost,
          .asked = p.pinged,
          .why = {},
          .silent_since_ns = p.heard ? 0 : p.silent_since_ns,
          .backlog = backlog,
          .control = p.control.size(),
          .credit = p.credit,
          .credit_limit = p.credit_limit,
          .held = p.held};
}

template <class T>
void keep_oldest(std::vector<T>& all) {
  std::ranges::stable_sort(all, {}, &T::since_ns);
  if (all.size() > port_report::most) all.resize(port_report::most);
}

}  // namespace

port_report port::report(std::uint64_t now_ns) {
  stamp(now_ns);
  port_report made;
  ops_.each([&](const request& r) {
    const bool stripe = r.at != stage::direct && r.part_of != 0;
    if (!stripe) made.operations.push_back(described(r));
  });
  tagged_.matching().each_receive([&](const posted_receive& r) {
    made.receives.push_back({r.source, r.match, r.takes() ? 0 : r.into.size(), r.since_ns});
  });
  tagged_.matching().each_message([&](const unexpected& m) {
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
