// interfaces.cpp - which of this host's addresses the rails use.
#include "backends/tcp/interfaces.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <sstream>

#include "base/error.h"

namespace heddle::transport::tcp {
namespace {

// The lower, the better a rail's address.
int rank_of(const rail_address& a) noexcept {
  return (a.link_local() ? 2 : 0) + (a.family == 4 ? 0 : 1);
}

const interface_address* best_of(const std::string& name,
                                 const std::vector<interface_address>& present) {
  const interface_address* best = nullptr;
  for (const auto& p : present) {
    if (p.name != name) continue;
    if (best == nullptr || rank_of(p.address) < rank_of(best->address)) best = &p;
  }
  return best;
}

std::string listing(const std::vector<interface_address>& present) {
  std::string out;
  for (const auto& p : present)
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", p.name, p.address.text());
  return out.empty() ? "none" : out;
}

[[noreturn]] void refuse(const std::string& item, const std::vector<interface_address>& present) {
  fail(
      "tcp: HEDDLE_TCP_IFACE names '{}', which is no interface that is up nor an "
      "address of this host; there are: {}",
      item, listing(present));
}

rail_address find(const std::string& item, const std::vector<interface_address>& present) {
  if (const auto* named = best_of(item, present)) return named->address;
  auto wanted = parse_ip(item);
  if (!wanted) refuse(item, present);
  if (wanted->family == 4 && wanted->loopback()) return *wanted;  // all of 127/8 is ours
  const auto same = [&](const interface_address& p) {
    return p.address.family == wanted->family && p.address.ip == wanted->ip &&
           (wanted->scope == 0 || p.address.scope == wanted->scope);
  };
  const auto found = std::ranges::find_if(present, same);
  if (found == present.end()) refuse(item, present);
  return found->address;
}

rail_address choose_one(const std::vector<interface_address>& present) {
  const auto ours = std::ranges::find_if(
      present, [](const auto& p) { return !p.address.loopback() && !p.address.link_local(); });
  const std::string name = ours != present.end() ? ours->name : "lo";
  const auto* best = best_of(name, present);
  if (best == nullptr) fail("tcp: no interface of this host is up and has an address");
  return best->address;
}

}  // namespace

std::vector<interface_address> list_interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) fail_errno(errno, "tcp: list interfaces");
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(first, ::freeifaddrs);
  std::vector<interface_address> out;
  for (const ifaddrs* i = first; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || (i->ifa_flags & IFF_UP) == 0) continue;
    if (auto address = from_socket(i->ifa_addr)) out.push_back({i->ifa_name, *address});
  }
  return out;
}

std::vector<rail_address> choose_rails(const std::string& wanted,
                                       const std::vector<interface_address>& present) {
  std::vector<rail_address> rails;
  std::istringstream items(wanted);
  for (std::string item; std::getline(items, item, ',');) rails.push_back(find(item, present));
  if (rails.empty()) rails.push_back(choose_one(present));
  if (rails.size() > max_rails)
    fail("tcp: HEDDLE_TCP_IFACE lists {} rails; at most {} can be used", rails.size(), max_rails);
  return rails;
}

}  // namespace heddle::transport::tcp
