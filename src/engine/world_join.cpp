// world_join.cpp - how a world comes to be: who is where, which devices there are, which way to
// whom.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "backends/faults/faults.h"
#include "backends/registry.h"
#include "base/error.h"
#include "base/log.h"
#include "engine/placement.h"
#include "engine/world_core.h"

namespace heddle::engine {
namespace {

constexpr std::string_view greeting = "heddle-1";

/// What ranks tell each other before they open devices: lines of text.
struct introduction {
  host_identity host;
  std::uint64_t credit_bytes = 0;
};

bootstrap::blob to_blob(const introduction& i) {
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n", greeting, i.host.id, i.host.name, i.credit_bytes);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

introduction from_blob(std::span<const std::byte> blob, std::size_t rank) {
  std::istringstream text(std::string(reinterpret_cast<const char*>(blob.data()), blob.size()));
  std::string version;
  introduction i;
  std::getline(text, version);
  std::getline(text, i.host.id);
  std::getline(text, i.host.name);
  text >> i.credit_bytes;
  if (!text || version != greeting) {
    fail("rank {} speaks another version of Heddle: install the same one on every host", rank);
  }
  return i;
}

/// Device addresses of one rank: for each {name length, name, address length (2 bytes), address}.
void append(bootstrap::blob& blob, const std::string& name, std::span<const std::byte> address) {
  const auto size = static_cast<std::uint16_t>(address.size());
  blob.push_back(static_cast<std::byte>(name.size()));
  for (const char c : name) blob.push_back(static_cast<std::byte>(c));
  blob.push_back(static_cast<std::byte>(size & 0xff));
  blob.push_back(static_cast<std::byte>(size >> 8));
  blob.insert(blob.end(), address.begin(), address.end());
}

/// The address filed under `name`, or an empty span.
std::span<const std::byte> find(std::span<const std::byte> blob, const std::string& name) {
  while (!blob.empty()) {
    const auto name_bytes = std::to_integer<std::size_t>(blob[0]);
    if (blob.size() < 1 + name_bytes + 2) return {};
    const auto* at = blob.data() + 1 + name_bytes;
    const std::size_t bytes =
        std::to_integer<std::size_t>(at[0]) | std::to_integer<std::size_t>(at[1]) << 8;
    if (blob.size() < 1 + name_bytes + 2 + bytes) return {};
    if (name_bytes == name.size() && std::memcmp(blob.data() + 1, name.data(), name_bytes) == 0) {
      return blob.subspan(1 + name_bytes + 2, bytes);
    }
    blob = blob.subspan(1 + name_bytes + 2 + bytes);
  }
  return {};
}

}  // namespace

void world_core::meet_peers() {
  const host_identity mine = this_host(config_.host);
  const auto blobs = session_->exchange(to_blob({mine, config_.credit_bytes}));
  for (std::size_t r = 0; r < blobs.size(); ++r) {
    const introduction i = from_blob(blobs[r], r);
    if (i.credit_bytes != config_.credit_bytes) {
      fail("HEDDLE_CREDIT_BYTES is {} here and {} on rank {}: set the same value on all ranks",
           config_.credit_bytes, i.credit_bytes, r);
    }
    const auto known = std::find_if(hosts_.begin(), hosts_.end(),
                                    [&](const host_identity& h) { return h.id == i.host.id; });
    host_of_.push_back(static_cast<std::uint32_t>(known - hosts_.begin()));
    if (known == hosts_.end()) hosts_.push_back(i.host);
  }
  const std::uint32_t here = host_of_[static_cast<std::size_t>(self())];
  ranks_here_ = static_cast<int>(std::count(host_of_.begin(), host_of_.end(), here));
  cores_ = share_of_cores(ranks_here_);
}

void world_core::open_devices() {
  const transport::fault_plan faults = transport::parse_faults(config_.faults, self());
  for (const transport::backend& b : transport::known_backends(config_)) {
    if (!transport::is_listed(config_, b.name)) {
      backends_.push_back({b.name, nullptr, "not in HEDDLE_BACKENDS"});
      continue;
    }
    try {
      for (auto& [name, device] : open(b)) {
        if (!config_.faults.empty()) device = transport::make_faulty(std::move(device), faults);
        devices_.push_back(device.get());
        device_names_.push_back(name);
        backends_.push_back({name, std::move(device), {}});
      }
    } catch (const error& e) {
      backends_.push_back({b.name, nullptr, e.what()});
      log::info("backend {} is not usable: {}", b.name, e.what());
    }
  }
}

std::vector<transport::named_device> world_core::open(const transport::backend& which) {
  const transport::factory& f = which.get();
  return f.open(f, {.self = self(),
                    .size = size(),
                    .on_host = ranks_here_,
                    .job_secret = job_.secret,
                    .config = &config_,
                    .regions = &regions_});
}

void world_core::choose_routes() {
  bootstrap::blob mine;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    append(mine, device_names_[d], devices_[d]->address());
  }
  const auto blobs = session_->exchange(mine);
  for (rank peer = 0; peer < size(); ++peer) {
    const auto& blob = blobs[static_cast<std::size_t>(peer)];
    std::string reasons;
    std::size_t chosen = devices_.size(), for_atomics = devices_.size();
    // Every device learns of every peer it can reach; the first one becomes the route.
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      const std::string why = reach(d, peer, blob);
      if (why.empty() && chosen == devices_.size()) chosen = d;
      if (why.empty() && !devices_[d]->describe().cpu_atomics) for_atomics = d;
      if (!why.empty()) reasons += fmt::format("; {}: {}", device_names_[d], why);
    }
    for (const opened_device& b : backends_) {
      if (!b.unusable.empty()) reasons += fmt::format("; {}: {}", b.name, b.unusable);
    }
    if (chosen == devices_.size()) fail("no way from rank {} to rank {}{}", self(), peer, reasons);
    route_.push_back(static_cast<std::uint8_t>(chosen));
    if (for_atomics == devices_.size()) for_atomics = chosen;
    atomic_route_.push_back(static_cast<std::uint8_t>(for_atomics));
  }
}

/// Why `device` cannot reach `peer`; empty when it can.
std::string world_core::reach(std::size_t device, rank peer, std::span<const std::byte> blob) {
  const auto address = find(blob, device_names_[device]);
  if (address.empty()) return "not usable at the peer";
  const auto r = static_cast<std::size_t>(peer);
  const bool same_host = host_of_[r] == host_of_[static_cast<std::size_t>(self())];
  return devices_[device]->add_peer(peer, address, same_host);
}

}  // namespace heddle::engine
