// SPDX-License-Identifier: BSD-3-Clause
// device.h - this process at one port of a card: what it exposes, the peers it knows, and how lanes
// of two processes find each other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/verbs/card.h"
#include "backends/verbs/card_events.h"
#include "backends/verbs/exposed.h"
#include "backends/verbs/greeter.h"
#include "backends/verbs/lane_home.h"
#include "backends/verbs/lane_homes.h"
#include "backends/verbs/questions.h"
#include "backends/verbs/settings.h"
#include "base/fd.h"
#include "transport/device.h"

namespace heddle::transport::verbs {

class verbs_device final : public device {
 public:
  /// Throws error: why the port cannot be used.
  verbs_device(const context& where, const port_choice& port);
  ~verbs_device() override;

  [[nodiscard]] const traits& describe() const noexcept override { return traits_; }
  [[nodiscard]] std::vector<std::byte> address() const override;
  std::string add_peer(rank peer, std::span<const std::byte> address, bool same_host) override;
  std::unique_ptr<endpoint> make_endpoint(int lane) override;
  void expose(const memory::local_region& region) noexcept override { exposed_.add(region); }
  void withdraw(const memory::local_region& region) noexcept override {
    exposed_.remove(region.ref);
  }
  void revoke(const memory::local_region& region) noexcept override { exposed_.revoke(region); }
  [[nodiscard]] region_place place_of(memory::region_ref region) const noexcept override {
    const region_entry e = exposed_.entry_of(region);
    return {e.address, e.note, e.address != 0 ? name_of_places(nonce_) : 0};
  }
  std::shared_ptr<void> import(rank, memory::region_ref, detail::remote_target&) override {
    return nullptr;  // nothing is mapped: the card reaches it
  }
  [[nodiscard]] int fd() const noexcept override { return waker_.get(); }
  int serve() noexcept override;
  [[nodiscard]] std::string details() const override;

  // For this device's endpoints; any thread.

  [[nodiscard]] const card& port() const noexcept { return card_; }
  [[nodiscard]] rank self() const noexcept { return self_; }
  [[nodiscard]] memory::registration_cache& cache() noexcept { return exposed_.cache(); }
  /// Nothing: not added.
  [[nodiscard]] std::optional<peer_facts> find_peer(rank peer) const;
  /// What `stream` of the lane, at `our_end`, has to know before it is ready; the answer comes by a
  /// letter. Returns the question's number. Throws std::bad_alloc.
  std::uint32_t ask(const peer_facts& whom, int their_lane, const std::shared_ptr<lane_home>& of,
                    std::uint32_t stream, far_end our_end);
  void forget(std::uint32_t question) noexcept;
  /// Nothing goes through the card any more, and nothing will.
  [[nodiscard]] bool is_down() const noexcept { return events_.card_is_down(); }

 private:
  [[nodiscard]] bool knows(rank number) const noexcept;
  void on_hello(const hello& h);
  void on_ask(const hello& ask);

  // Constant after construction.
  const rank self_;
  const std::size_t job_size_;
  const options options_;
  const std::uint64_t nonce_;
  const card card_;
  traits traits_;
  unique_fd waker_, timer_;  // the first is readable when anything is
  exposed_regions exposed_;

  card_events events_;
  mutable std::mutex mutex_;  // guards what follows
  greeter greeter_;
  questions questions_;
  std::vector<peer_facts> peers_;  // by rank; those that are not known have no nonce
  lane_homes lanes_;
};

}  // namespace heddle::transport::verbs
