// SPDX-License-Identifier: BSD-3-Clause
// device.h - this process on a Tofu machine: its VCQs, what it exposes, and the peers it knows.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/utofu/exposed.h"
#include "backends/utofu/settings.h"
#include "backends/utofu/shared_memory.h"
#include "backends/utofu/vcq.h"
#include "base/fd.h"
#include "memory/registration_cache.h"
#include "memory/segment.h"
#include "transport/device.h"

namespace heddle::transport::utofu {

class utofu_endpoint;

/// What this process knows of another, from its address.
struct peer_facts {
  rank number = 0;
  std::array<std::uint8_t, 6> coords{};
  std::uint64_t nonce = 0;
  std::shared_ptr<const std::vector<place>> lanes;  ///< by lane number; shared by peers alike

  /// The id of the VCQ of lane `lane`, to post to.
  [[nodiscard]] utofu_vcq_id_t vcq_of(std::size_t lane) const noexcept;
};

class utofu_device final : public device {
 public:
  /// Throws error: no Tofu, no VCQ left, or which setting is impossible.
  explicit utofu_device(const context& where);
  ~utofu_device() override;

  [[nodiscard]] const traits& describe() const noexcept override { return traits_; }
  [[nodiscard]] std::vector<std::byte> address() const override;
  std::string add_peer(rank peer, std::span<const std::byte> address, bool same_host) override;
  std::unique_ptr<endpoint> make_endpoint(int lane) override;
  void expose(const memory::local_region& region) noexcept override { exposed_->add(region); }
  void withdraw(const memory::local_region& region) noexcept override {
    exposed_->remove(region.ref);
  }
  void revoke(const memory::local_region& region) noexcept override { exposed_->revoke(region); }
  std::shared_ptr<void> import(rank, memory::region_ref, detail::remote_target&) override {
    return nullptr;  // nothing is mapped: the network reaches it
  }
  [[nodiscard]] int fd() const noexcept override { return timer_.get(); }
  int serve() noexcept override;
  [[nodiscard]] std::string details() const override;

  // For this device's endpoints; any thread.

  [[nodiscard]] rank self() const noexcept { return self_; }
  [[nodiscard]] std::uint64_t nonce() const noexcept { return nonce_; }
  [[nodiscard]] const options& chosen() const noexcept { return options_; }
  [[nodiscard]] const vcq& vcq_of(int lane) const noexcept {
    return *vcqs_[static_cast<std::size_t>(lane)];
  }
  [[nodiscard]] listener& listener_of(int lane) const noexcept {
    return reinterpret_cast<listener*>(listeners_.memory().data())[lane];
  }
  /// Registrations on the CQ of this lane.
  [[nodiscard]] memory::registration_cache& cache_of(int lane) noexcept {
    return exposed_->cache_of(lane);
  }
  [[nodiscard]] const exposed_regions& exposed() const noexcept { return *exposed_; }
  /// nullptr: not added.
  [[nodiscard]] std::shared_ptr<const peer_facts> find_peer(rank peer) const;

 private:
  void set_up_listeners();
  void set_timer(bool sooner) noexcept;
  std::shared_ptr<const std::vector<place>> same_lanes(std::vector<place> lanes);

  // Constant after construction.
  const rank self_;
  const options options_;
  traits traits_;
  std::array<std::uint8_t, 6> coords_{};
  std::uint64_t nonce_ = 0;
  std::vector<std::unique_ptr<vcq>> vcqs_;  // by lane
  memory::segment listeners_;               // by lane
  std::vector<utofu_stadd_t> listener_addresses_;
  std::unique_ptr<exposed_regions> exposed_;
  unique_fd timer_;

  mutable std::mutex mutex_;  // guards what follows
  std::unordered_map<rank, std::shared_ptr<const peer_facts>> peers_;
  std::vector<std::shared_ptr<const std::vector<place>>> layouts_;
  std::vector<bool> made_;  // by lane: an endpoint was made, or serve() has asked for one
  std::uint64_t nap_ns_ = 0;
};

}  // namespace heddle::transport::utofu
