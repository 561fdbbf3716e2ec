// SPDX-License-Identifier: BSD-3-Clause
// device.cpp - one tcp rail of a process, and which rails there are.
#include "backends/tcp/device.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>

#include "backends/tcp/endpoint.h"
#include "backends/tcp/interfaces.h"
#include "backends/tcp/ports.h"
#include "backends/tcp/settings.h"
#include "backends/tcp/tcp.h"
#include "base/error.h"

namespace heddle::transport::tcp {
namespace {

/// Of `ours` the one that is likeliest in a network with `to`; none: there is none of its family.
const rail_address* nearest(std::span<const rail_address> ours, const rail_address& to) {
  const auto best = std::ranges::max_element(
      ours, {}, [&](const rail_address& a) { return a.bits_in_common(to); });
  return best != ours.end() && best->family == to.family ? &*best : nullptr;
}

bool are_neighbours(std::span<const rail_address> ours, const rail_address& to) {
  return std::ranges::any_of(
      ours, [&](const rail_address& a) { return a.bits_in_common(to) >= a.subnet_bits; });
}

/// How a peer's host is related to ours. Pretended: HEDDLE_HOST says which is which.
enum class kinship : std::uint8_t { same, other, pretended };

bool is_ours(std::span<const rail_address> ours, const rail_address& to) {
  return std::ranges::any_of(
      ours, [&](const rail_address& a) { return a.family == to.family && a.ip == to.ip; });
}

/// Why `to` does not lead to a peer; empty: it may. An address that another host has as well as we
/// do, such as that of docker0, leads to us.
std::string why_not(std::span<const rail_address> ours, const rail_address& to, kinship host) {
  const rail_address* const from = nearest(ours, to);
  if (from == nullptr) return "not the same IP version";
  if (host == kinship::same) return {};
  if (to.loopback() || from->loopback()) return "loopback does not leave the host";
  if (host == kinship::other && is_ours(ours, to)) return "both hosts have that address";
  return {};
}

/// What of `theirs` may lead to a peer, our neighbours first, and our own last; none: `why` says
/// why.
std::vector<address_book::entry> candidates(std::span<const rail_address> ours,
                                            std::span<const rail_address> theirs, kinship host,
                                            std::string& why) {
  std::vector<address_book::entry> found;
  std::string reasons;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const std::string reason = why_not(ours, theirs[i], host);
    if (reason.empty())
      found.push_back({theirs[i], i});
    else
      reasons += fmt::format("{}it listens at {} and we at {}: {}", reasons.empty() ? "" : "; ",
                             theirs[i].text(), ours[0].text(), reason);
  }
  if (found.empty()) why = reasons + "; choose with HEDDLE_TCP_IFACE";
  std::ranges::stable_sort(found, {}, [&](const auto& e) {
    if (host != kinship::same && is_ours(ours, e.at)) return 2;
    return are_neighbours(ours, e.at) ? 0 : 1;
  });
  return found;
}

algorithm_set wanted_algorithms(const settings& config) {
  const std::string chosen = text_of(encryption, config);
  if (chosen == "off") return 0;
  return chosen == "on" ? known_algorithms()
                        : static_cast<algorithm_set>(algorithm::chacha20_poly1305);
}

/// Sets the ports of `addresses`.
std::vector<unique_fd> listen_at_all(std::vector<rail_address>& addresses, rank self,
                                     const settings& config) {
  const port_range ports = parse_ports(text_of(listening_ports, config));
  std::vector<unique_fd> all;
  for (rail_address& a : addresses)
    all.push_back(listen_within(a, ports, static_cast<std::uint32_t>(self)));
  return all;
}

/// Where nobody has chosen, a job on one host stays inside it.
std::string wanted_interfaces(const context& where, const settings& config) {
  const std::string chosen = text_of(interfaces, config);
  return chosen.empty() && where.on_host == where.size ? "lo" : chosen;
}

/// A device for each rail. Peers know the one of the same number.
std::vector<named_device> open_rails(const factory& self, const context& where) {
  std::vector<named_device> made;
  const settings config = where.config != nullptr ? *where.config : settings{};
  const auto rails = choose_rails(wanted_interfaces(where, config), list_interfaces());
  const auto told = parse_advertised(text_of(advertised, config), rails.size());
  for (const rail& r : rails) {
    const std::string name =
        made.empty() ? self.name : fmt::format("{}.rail{}", self.name, made.size());
    made.push_back({name, std::make_unique<tcp_device>(where, r, told[made.size()])});
  }
  return made;
}

}  // namespace

const factory& tcp_factory() noexcept {
  static const factory made{"tcp", own_settings, &open_rails};
  return made;
}

tcp_device::tcp_device(const context& where, rail own, std::vector<rail_address> told)
    : self_(where.self),
      size_(where.size),
      config_(where.config != nullptr ? *where.config : settings{}),
      regions_(where.regions),
      own_(std::move(own)),
      peers_(where.size) {
  if (sodium_init() < 0) fail("tcp: libsodium cannot be used: no source of randomness");
  algorithms_ = wanted_algorithms(config_);
  std::ranges::copy(where.job_secret, secret_.begin());
  acceptor_ = std::make_unique<acceptor>(
      listen_at_all(own_.addresses, self_, config_), static_cast<std::uint32_t>(self_),
      static_cast<std::uint32_t>(size_), secret_, algorithms_, config_.peer_timeout_ms);
  told_ = with_ports(std::move(told), own_.addresses);
  traits_.native =
      only(op_kind::send) | only(op_kind::put) | only(op_kind::get) | only(op_kind::atomic);
  traits_.max_message = max_message;
  traits_.defers = true;
  traits_.send_after_put = false;  // a message need not wait for the bytes of a put before it
  traits_.put_tells = true;
  traits_.target_polls = true;
  traits_.lanes = max_lanes;
}

tcp_device::~tcp_device() {
  sodium_memzero(secret_.data(), secret_.size());
}

std::string tcp_device::add_peer(rank peer, std::span<const std::byte> address, bool same_host) {
  if (peer < 0 || peer >= size_) return fmt::format("rank {} is not in a job of {}", peer, size_);
  const auto theirs = parse_whereabouts(address);
  if (!theirs) return "its tcp address cannot be understood: is it of another version?";
  if ((algorithms_ == 0) != (theirs->algorithms == 0)) return why_they_disagree(algorithms_);
  std::string why;
  const kinship host = same_host              ? kinship::same
                       : config_.host.empty() ? kinship::other
                                              : kinship::pretended;
  const auto found = candidates(own_.addresses, theirs->addresses, host, why);
  if (found.empty()) return why;
  const std::lock_guard lock(mutex_);
  peers_.add(peer, found);
  return {};
}

std::vector<tcp_device::way> tcp_device::ways_to(rank peer) const {
  std::vector<way> all;
  const std::lock_guard lock(mutex_);
  for (const address_book::entry& e : peers_.find(peer)) {
    way& w = all.emplace_back(way{{}, e.at, e.place});
    const rail_address* const from = nearest(own_.addresses, e.at);
    w.to.scope = from->scope;  // a link-local address means: on the link of our interface
    if (own_.bound) w.from = *from;
  }
  return all;
}

bool tcp_device::knows(rank peer) const {
  const std::lock_guard lock(mutex_);
  return peers_.knows(peer);
}

void tcp_device::learn(rank peer, std::size_t answered, std::span<const std::size_t> failed) {
  const std::lock_guard lock(mutex_);
  peers_.answered(peer, answered);
  for (const std::size_t place : failed) peers_.failed(place);
}

std::unique_ptr<endpoint> tcp_device::make_endpoint(int lane) {
  if (lane < 0 || lane >= max_lanes)
    fail("tcp: lane {} cannot be opened: at most {} lanes per process", lane, max_lanes);
  auto made = std::make_unique<tcp_endpoint>(*this, lane, config_, *regions_);
  const std::lock_guard lock(mutex_);
  endpoints_[static_cast<std::size_t>(lane)] = made.get();
  std::erase(wanted_, lane);
  const auto ours = std::stable_partition(waiting_.begin(), waiting_.end(),
                                          [&](const accepted& a) { return a.lane != lane; });
  for (auto a = ours; a != waiting_.end(); ++a) made->give(std::move(*a));
  waiting_.erase(ours, waiting_.end());
  return made;
}

void tcp_device::forget(int lane) noexcept {
  const std::lock_guard lock(mutex_);
  endpoints_[static_cast<std::size_t>(lane)] = nullptr;
}

// Peers' frames find regions in the table itself.
void tcp_device::expose(const memory::local_region&) noexcept {}
void tcp_device::withdraw(const memory::local_region&) noexcept {}

std::shared_ptr<void> tcp_device::import(rank, memory::region_ref, detail::remote_target&) {
  return nullptr;
}

int tcp_device::serve() noexcept {
  proven_.clear();
  acceptor_->serve(proven_);
  const std::lock_guard lock(mutex_);
  for (accepted& a : proven_) hand_over(std::move(a));
  if (wanted_.empty()) return -1;
  const int lane = wanted_.back();
  wanted_.pop_back();
  return lane;
}

void tcp_device::hand_over(accepted who) {
  const auto lane = static_cast<std::size_t>(who.lane);
  if (tcp_endpoint* e = endpoints_[lane]; e != nullptr) return e->give(std::move(who));
  if (waiting_.size() >= std::max<std::size_t>(most_waiting, static_cast<std::size_t>(size_)))
    return;
  std::erase(wanted_, who.lane);
  wanted_.push_back(who.lane);
  waiting_.push_back(std::move(who));
}

}  // namespace heddle::transport::tcp
