// SPDX-License-Identifier: BSD-3-Clause
// device.h - the contract between the engine and one kind of wire, and its largest part.
//
// A backend is a folder with a device (one per process) that makes endpoints (one per lane).
// What a backend cannot do is data (traits); the protocols make up for it with messages.
// tests/contract is this folder as a test: a new backend passes it unchanged.
#pragma once
#include <heddle/detail/direct.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/settings.h"
#include "memory/region_table.h"
#include "transport/endpoint.h"
#include "transport/op.h"
#include "transport/traits.h"

namespace heddle::transport {

/// What a device is told about its process and job.
struct context {
  rank self = 0;
  int size = 1;
  int on_host = 1;                            ///< ranks of the job on this host
  std::span<const std::byte, 32> job_secret;  ///< known to the job's ranks only
  const settings* config = nullptr;
  memory::region_table* regions = nullptr;  ///< memory of this process that peers may address
};

/// One process's access to a wire. Thread-safe except where said.
class device {
 public:
  virtual ~device() = default;  ///< after all its endpoints

  [[nodiscard]] virtual const traits& describe() const noexcept = 0;

  /// What peers need to find this process; at most 512 bytes. Carried by the bootstrap.
  [[nodiscard]] virtual std::vector<std::byte> address() const = 0;

  /// Makes `peer` known by what its address() gave. Returns why this device cannot reach it, or an
  /// empty string when it can. `same_host` says whether host_id matches ours. Does not connect.
  /// `address` is the peer's: nothing in it is to be believed unchecked.
  virtual std::string add_peer(rank peer, std::span<const std::byte> address, bool same_host) = 0;

  /// At most once per lane number below traits::lanes, and only where some rank of the job sends
  /// over this device. Messages that come for the lane before wait. Throws error: why not now.
  virtual std::unique_ptr<endpoint> make_endpoint(int lane) = 0;

  /// A region entered or is about to leave context::regions. Must be cheap: large messages do it.
  virtual void expose(const memory::local_region& region) noexcept = 0;
  virtual void withdraw(const memory::local_region& region) noexcept = 0;
  /// The same, where a peer may go on reading, because it has a key, or was given up and does not
  /// know that: on return it gets nothing more of what lies there. Of `region`, `allowed` is not
  /// set. May be slow.
  virtual void revoke(const memory::local_region& region) noexcept { withdraw(region); }

  /// Where peers find a region that was exposed, to be told with what names it. Nothing: they ask.
  [[nodiscard]] virtual region_place place_of(memory::region_ref) const noexcept { return {}; }

  /// If this process can map `region` of `peer`: fills direct, live and generation of `out` and
  /// returns what keeps the mapping, which can be written to only if the owner allows that.
  /// Otherwise null, and ops go through post(). Sets bytes and allowed of `out` to what the owner
  /// says, where that can be known here. Throws error with the reason when the region cannot exist.
  virtual std::shared_ptr<void> import(rank peer, memory::region_ref region,
                                       detail::remote_target& out) = 0;

  /// Set-up work no endpoint can do (accepting connections). Executor thread only. fd() is readable
  /// when there is some; -1: never.
  [[nodiscard]] virtual int fd() const noexcept = 0;
  /// Returns the number of a lane that a peer wants to talk to and that has no endpoint yet, or -1.
  virtual int serve() noexcept = 0;

  /// For people: what lies behind each lane, a line each, indented by four. May be empty.
  [[nodiscard]] virtual std::string details() const { return {}; }
};

/// One of a backend's devices, and the name under which peers know theirs of the kind: the
/// backend's, or with a dot and a part behind it where there are several ("x.port1").
struct named_device {
  std::string name;
  std::unique_ptr<transport::device> device;
};

/// A backend, for the registry.
struct factory {
  std::string name;
  std::span<const setting> settings;  ///< its own, HEDDLE_<NAME>_...; as long-lived as the factory
  /// One device for each network card, port or domain it can use, best first, and at least one.
  /// Throws error: why there is none.
  std::vector<named_device> (*open)(const factory& self, const context& where);
};

/// For backends with one device per process.
template <class Device>
std::vector<named_device> open_one(const factory& self, const context& where) {
  std::vector<named_device> made;
  made.push_back({self.name, std::make_unique<Device>(where)});
  return made;
}

}  // namespace heddle::transport
