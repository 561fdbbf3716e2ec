// SPDX-License-Identifier: BSD-3-Clause
// network.cpp - how ranks that join find each other: hosts first, then devices, then ways.
#include "engine/network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/faults/faults.h"
#include "backends/registry.h"
#include "base/error.h"
#include "base/host_id.h"
#include "base/log.h"
#include "bootstrap/host_token.h"
#include "bootstrap/secret_file.h"
#include "engine/device_address.h"
#include "engine/placement.h"

namespace heddle::engine {
namespace {

constexpr std::string_view greeting = "heddle-4\n";

/// What ranks tell each other before they open devices: the greeting, what tells their host from
/// all others, how many bytes of credit they give (8, in the byte order of the machine, which all
/// ranks of a job share), the host's name.
struct introduction {
  host_key host{};
  std::uint64_t credit_bytes = 0;
  std::string_view host_name;
};
constexpr std::size_t credit_at = greeting.size() + sizeof(host_key);
constexpr std::size_t name_at = credit_at + sizeof(std::uint64_t);

/// The beginning of the hash: names of hosts are of any length.
host_key key_of(std::string_view host_id) {
  const auto hash = bootstrap::derived({}, std::as_bytes(std::span(host_id)));
  host_key key{};
  std::copy_n(hash.begin(), key.size(), key.begin());
  return key;
}

bootstrap::blob to_blob(const introduction& i) {
  bootstrap::blob blob(name_at + i.host_name.size());
  std::memcpy(blob.data(), greeting.data(), greeting.size());
  std::memcpy(blob.data() + greeting.size(), i.host.data(), i.host.size());
  std::memcpy(blob.data() + credit_at, &i.credit_bytes, sizeof i.credit_bytes);
  std::ranges::copy(std::as_bytes(std::span(i.host_name)), blob.begin() + name_at);
  return blob;
}

std::string_view text_of(std::span<const std::byte> blob) {
  return {reinterpret_cast<const char*>(blob.data()), blob.size()};
}

/// Valid as long as the blob.
introduction from_blob(std::span<const std::byte> blob, std::size_t rank) {
  const std::string_view text = text_of(blob);
  if (!text.starts_with(greeting) || text.size() < name_at)
    fail("rank {} speaks another version of Heddle: install the same one on every host", rank);
  introduction i;
  std::memcpy(i.host.data(), blob.data() + greeting.size(), i.host.size());
  std::memcpy(&i.credit_bytes, blob.data() + credit_at, sizeof i.credit_bytes);
  i.host_name = text.substr(name_at);
  return i;
}

/// Takes the first line off `text`; empty when there is none.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::uint16_t lanes_of(const transport::device& d) {
  return static_cast<std::uint16_t>(std::min<std::size_t>(d.describe().lanes, max_lanes));
}

/// Names of the kinds of op that it does by itself, beside messages.
std::string own_ops(const transport::traits& t) {
  constexpr std::array names{"", "put", "get", "atomic", "receive", "deliver"};
  std::vector<std::string_view> own;
  for (std::size_t k = 1; k < names.size(); ++k)
    if ((t.native & transport::only(static_cast<transport::op_kind>(k))) != 0)
      own.emplace_back(names[k]);
  return own.empty() ? "none" : fmt::format("{}", fmt::join(own, ", "));
}

/// What a device says of itself, for people: it helps to see what is emulated.
std::string device_lines(const std::string& name, const transport::traits& t) {
  std::string text = fmt::format("  {:<9} usable, messages up to {} bytes", name, t.max_message);
  if (t.lanes < static_cast<std::size_t>(max_lanes)) text += fmt::format(", {} lanes", t.lanes);
  if (transport::owns_atomics(t)) text += ", atomics are its own: the CPU's do not see them";
  text += fmt::format("\n    by itself {}", own_ops(t));
  if (t.max_op != SIZE_MAX) text += fmt::format(", up to {} bytes each", t.max_op);
  if (t.depth != SIZE_MAX) text += fmt::format(", {} under way on a lane", t.depth);
  if (t.max_inline != 0) text += fmt::format(", puts up to {} bytes inline", t.max_inline);
  if (t.put_tells) text += "; a put tells of itself";
  if (t.put_after_put) text += "; puts arrive in order";
  if (t.target_polls) text += "; the target has to poll";
  return text + '\n';
}

/// Why a backend that HEDDLE_BACKENDS names is not there, in the log too.
std::string unknown_backend(const transport::backend& b, const settings& config, rank self) {
  const std::string present = transport::names_of_backends(config);
  log::write_if(log::subsystem::wire, self == 0 ? log::level::warn : log::level::info,
                "HEDDLE_BACKENDS names '{}', which is no backend: there are {}", b.name, present);
  return fmt::format(
      "unknown: there are {}, and no backend_{}.so beside the library or in HEDDLE_MODULE_PATH",
      present, b.name);
}

}  // namespace

network::network(bootstrap::session& session, const settings& config, memory::region_table& regions)
    : config_(config), regions_(regions), self_(session.info().rank), size_(session.info().size) {
  meet_hosts(session);
  open_devices(session.info());
  choose_routes(session);
}

// What a host says of itself is proven by a token, except where HEDDLE_HOST overrules it.
void network::meet_hosts(bootstrap::session& session) {
  host_identity mine = this_host(config_.host);
  std::optional<bootstrap::host_token> token;  // until all have theirs
  if (config_.host.empty() && size_ > 1) {
    token.emplace(session.info().secret, config_.join_timeout_ms);
    mine.id += "/" + token->text();
  }
  const auto blobs = session.exchange(to_blob({key_of(mine.id), config_.credit_bytes, mine.name}));
  for (std::size_t r = 0; r < blobs.size(); ++r) {
    const introduction i = from_blob(blobs[r], r);
    if (i.credit_bytes != config_.credit_bytes) {
      fail("HEDDLE_CREDIT_BYTES is {} here and {} on rank {}: set the same value on all ranks",
           config_.credit_bytes, i.credit_bytes, r);
    }
    hosts_.add(i.host);
  }
  hosts_.close([&](rank r) {
    const auto at = static_cast<std::size_t>(r);
    return from_blob(blobs[at], at).host_name;
  });
  ranks_here_ = hosts_.ranks_beside(self_);
  cores_ = share_of_cores(ranks_here_);
  ranks_per_core_ = engine::ranks_per_core(ranks_here_);
}

void network::open_devices(const bootstrap::job& job) {
  const transport::context where{.self = self_,
                                 .size = size_,
                                 .on_host = ranks_here_,
                                 .job_secret = job.secret,
                                 .config = &config_,
                                 .regions = &regions_};
  const transport::fault_plan faults = transport::parse_faults(config_.faults, self_);
  std::uint8_t number = 0;
  for (const transport::backend& b : transport::known_backends(config_)) {
    ++number;
    if (!transport::is_listed(config_, b.name))
      backends_.push_back({b.name, nullptr, "not in HEDDLE_BACKENDS"});
    else if (!b.known)
      backends_.push_back({b.name, nullptr, unknown_backend(b, config_, self_)});
    else
      open(b, where, number, faults);
  }
}

void network::open(const transport::backend& which, const transport::context& where,
                   std::uint8_t number, transport::fault_plan faults) {
  try {
    const transport::factory& f = which.get();
    std::vector<transport::named_device> rails = f.open(f, where);
    const std::vector<std::size_t> chosen = which.chosen_of(rails.size());
    if (chosen.empty())
      fail("it has {} here, counted from 0, and HEDDLE_BACKENDS names rail {}",
           rails.size() == 1 ? "1 rail" : fmt::format("{} rails", rails.size()),
           fmt::join(which.rails, ", "));
    for (const std::size_t rail : chosen) {
      auto& [name, device] = rails[rail];
      faults.rail = static_cast<int>(rail);
      if (!config_.faults.empty()) device = transport::make_faulty(std::move(device), faults);
      log::debug(log::subsystem::wire, "backend {} has the device {}", which.name, name);
      devices_.push_back(device.get());
      device_names_.push_back(name);
      device_backends_.push_back(number);
      backends_.push_back({name, std::move(device), {}});
    }
  } catch (const error& e) {
    backends_.push_back({which.name, nullptr, e.what()});
    log::info(log::subsystem::wire, "backend {} is not usable: {}", which.name, e.what());
  }
}

void network::choose_routes(bootstrap::session& session) {
  bootstrap::blob mine, for_others;  // a rank that has its host for itself is met from others only
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const std::vector<std::byte> address = devices_[d]->address();
    const device_address all{device_names_[d], lanes_of(*devices_[d]), address};
    append(mine, all);
    if (ranks_here_ > 1 || devices_[d]->describe().leaves_host) append(for_others, all);
  }
  const auto blobs = session.exchange(for_others);
  std::vector<routes::candidate> candidates;
  for (std::size_t d = 0; d < devices_.size(); ++d)
    candidates.push_back({devices_[d], device_backends_[d]});
  routes_ = std::make_unique<routes>(candidates, size_);
  for (rank peer = 0; peer < size_; ++peer)
    meet(peer,
         peer == self_ ? std::span<const std::byte>(mine) : blobs[static_cast<std::size_t>(peer)]);
  hear_peers(session, blobs);
  first_ = &routes_->of(0);
}

/// Lanes get endpoints of the devices that some rank sends over, and of no others. With one device
/// there is nothing to ask, but a meeting all the same: no rank leaves before all have looked at
/// it.
void network::hear_peers(bootstrap::session& session, const bootstrap::gathered& addresses) {
  bool choice = false;
  for (std::size_t r = 0; r < addresses.size() && !choice; ++r) choice = has_several(addresses[r]);
  if (!choice) return session.barrier();
  std::string mine;
  for (const std::size_t d : routes_->used()) mine += device_names_[d] + '\n';
  const auto blobs = session.exchange(std::as_bytes(std::span(mine)));
  for (std::size_t r = 0; r < blobs.size(); ++r) {
    std::string_view names = text_of(blobs[r]);
    while (!names.empty()) {
      const std::string_view name = take_line(names);
      if (name.empty()) break;
      const auto found = std::ranges::find(device_names_, name);
      if (found == device_names_.end()) continue;
      const auto device = static_cast<std::size_t>(found - device_names_.begin());
      routes_->hear(device);
      const auto peer = static_cast<rank>(r);  // may send to us over a device that we do not need
      if (routes_->needless(device, peer)) (void)reach(device, peer, addresses[r]);
    }
  }
}

/// Every device learns of every peer that it can reach and is needed for.
void network::meet(rank peer, std::span<const std::byte> addresses) {
  std::string reasons;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (routes_->needless(d, peer)) continue;
    const std::string why = reach(d, peer, addresses);
    if (!why.empty()) reasons += fmt::format("; {}: {}", device_names_[d], why);
  }
  if (routes_->reaches(peer)) return;
  for (const opened_device& b : backends_)
    if (!b.unusable.empty()) reasons += fmt::format("; {}: {}", b.name, b.unusable);
  fail("no way from rank {} to rank {}{}", self_, peer, reasons);
}

/// Why the device cannot reach `peer`; empty when it can.
std::string network::reach(std::size_t device, rank peer, std::span<const std::byte> addresses) {
  const device_address there = find(addresses, device_names_[device]);
  if (there.lanes == 0) return "not usable at the peer";
  std::string why = devices_[device]->add_peer(peer, there.bytes, hosts_.same(peer, self_));
  if (why.empty()) routes_->add(device, peer, std::min(there.lanes, lanes_of(*devices_[device])));
  return why;
}

bool network::shares_files() const noexcept {
  return ranks_here_ > 1 && std::ranges::any_of(devices_, [](const transport::device* d) {
           return d->describe().maps_files || d->describe().reaches_files;
         });
}

void network::close() noexcept {
  devices_.clear();
  backends_.clear();
}

// --- for people ------------------------------------------------------------------------

std::string network::route(rank peer) const {
  if (!is_rank(peer)) return "";
  const auto found = std::ranges::find(devices_, &to(peer));
  return found == devices_.end()
             ? ""
             : device_names_[static_cast<std::size_t>(found - devices_.begin())];
}

std::string network::host(rank peer) const {
  return is_rank(peer) ? std::string(hosts_.name_of(hosts_.host_of(peer))) : "";
}

int network::host_number(rank peer) const noexcept {
  return is_rank(peer) ? hosts_.host_of(peer) : -1;
}

std::string network::describe() const {
  std::string text;
  for (const opened_device& b : backends_) {
    text += b.device ? device_lines(b.name, b.device->describe()) + b.device->details()
                     : fmt::format("  {:<9} not usable: {}\n", b.name, b.unusable);
  }
  return text;
}

std::string network::ways() const {
  std::string text;
  for (std::size_t d = 0; d < first_->devices.size(); ++d) {
    const auto peers = std::ranges::count(first_->route, static_cast<std::uint8_t>(d));
    const auto found = std::ranges::find(devices_, first_->devices[d]);
    if (peers != 0)
      text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", peers,
                          device_names_[static_cast<std::size_t>(found - devices_.begin())]);
  }
  return text;
}

}  // namespace heddle::engine
