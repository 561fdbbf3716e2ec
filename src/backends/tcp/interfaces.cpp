// SPDX-License-Identifier: BSD-3-Clause
// interfaces.cpp - which of this host's addresses the rails use.
#include "backends/tcp/interfaces.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <sstream>

#include "base/error.h"

namespace heddle::transport::tcp {
namespace {

// The lower, the better a rail's address.
int rank_of(const rail_address& a) noexcept {
  return (a.link_local() ? 2 : 0) + (a.family == 4 ? 0 : 1);
}

/// Of one interface; none when there is no such interface.
std::vector<rail_address> addresses_of(const std::string& name,
                                       const std::vector<interface_address>& present) {
  std::vector<rail_address> all;
  for (const auto& p : present)
    if (p.name == name) all.push_back(p.address);
  std::ranges::stable_sort(all, {}, rank_of);
  if (all.empty()) return all;
  const bool choice = !all.front().link_local();
  std::erase_if(all, [&](const rail_address& a) { return choice && a.link_local(); });
  all.resize(all.front().loopback() ? 1 : std::min(all.size(), max_addresses));
  return all;
}

std::string listing(const std::vector<interface_address>& present) {
  std::string out;
  for (const auto& p : present)
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", p.name, p.address.text());
  return out.empty() ? "none" : out;
}

[[noreturn]] void refuse(const std::string& item, const std::vector<interface_address>& present) {
  fail(
      "tcp: HEDDLE_TCP_IFACE names '{}', which is no interface that is up, nor an address of this "
      "host, nor a subnet in which it has one; there are: {}",
      item, listing(present));
}

/// Whether `item` is its interface's name, the address itself or a subnet that it is in.
bool means(const std::string& item, const interface_address& p) {
  if (p.name == item) return true;
  if (const auto net = parse_subnet(item))
    return p.address.bits_in_common(*net) >= net->subnet_bits;
  const auto one = parse_ip(item);
  return one && p.address.family == one->family && p.address.ip == one->ip &&
         (one->scope == 0 || p.address.scope == one->scope);
}

std::vector<rail_address> find(const std::string& item,
                               const std::vector<interface_address>& present) {
  if (auto named = addresses_of(item, present); !named.empty()) return named;
  const auto wanted = parse_ip(item);
  if (wanted && wanted->family == 4 && wanted->loopback())
    return {*wanted};  // all of 127/8 is ours
  std::vector<rail_address> found;
  for (const auto& p : present)
    if (means(item, p) && found.size() < max_addresses) found.push_back(p.address);
  if (found.empty()) refuse(item, present);
  return found;
}

/// Takes the items with a "!" off the list, and what they mean out of what there is.
std::vector<std::string> leave_out(const std::string& wanted,
                                   std::vector<interface_address>& present) {
  std::vector<std::string> kept;
  std::istringstream items(wanted);
  for (std::string item; std::getline(items, item, ',');) {
    const bool out = item.starts_with('!');
    const std::string what = item.substr(out ? 1 : 0);
    if (item == "!" || (what.find('/') != std::string::npos && !parse_subnet(what)))
      fail("tcp: HEDDLE_TCP_IFACE has '{}', which is no subnet such as 10.1.0.0/16", item);
    if (out)
      std::erase_if(present, [&](const interface_address& p) { return means(what, p); });
    else
      kept.push_back(item);
  }
  return kept;
}

rail choose_one(std::vector<interface_address> present) {
  rail all{{}, false};
  std::stable_partition(present.begin(), present.end(), [](const auto& p) { return !p.is_bridge; });
  for (const interface_address& p : present)
    if (!p.address.loopback() && !p.address.link_local() && all.addresses.size() < max_addresses)
      all.addresses.push_back(p.address);
  if (all.addresses.empty()) all.addresses = addresses_of("lo", present);
  if (all.addresses.empty())
    fail(
        "tcp: no interface of this host is up and has an address, or HEDDLE_TCP_IFACE leaves out "
        "all that are");
  return all;
}

int bits_of(const sockaddr* netmask) noexcept {
  const auto mask = netmask == nullptr ? std::nullopt : from_socket(netmask);
  rail_address ones;
  ones.ip.fill(0xff);
  if (!mask) return 128;
  ones.family = mask->family;
  return mask->bits_in_common(ones);
}

bool is_bridge(const std::string& name) noexcept {
  return ::access(("/sys/class/net/" + name + "/bridge").c_str(), F_OK) == 0;
}

}  // namespace

std::vector<interface_address> list_interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) fail_errno(errno, "tcp: list interfaces");
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(first, ::freeifaddrs);
  std::vector<interface_address> out;
  for (const ifaddrs* i = first; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || (i->ifa_flags & IFF_UP) == 0) continue;
    auto address = from_socket(i->ifa_addr);
    if (!address) continue;
    address->subnet_bits = bits_of(i->ifa_netmask);
    out.push_back({i->ifa_name, *address, is_bridge(i->ifa_name)});
  }
  return out;
}

std::vector<rail> choose_rails(const std::string& wanted, std::vector<interface_address> present) {
  std::vector<rail> rails;
  for (const std::string& item : leave_out(wanted, present)) rails.push_back({find(item, present)});
  if (rails.empty()) rails.push_back(choose_one(present));
  if (rails.size() > max_rails)
    fail("tcp: HEDDLE_TCP_IFACE lists {} rails; at most {} can be used", rails.size(), max_rails);
  return rails;
}

}  // namespace heddle::transport::tcp
