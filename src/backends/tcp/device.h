// SPDX-License-Identifier: BSD-3-Clause
// device.h - one tcp rail of a process: its listening sockets and the way to its endpoints.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/tcp/acceptor.h"
#include "backends/tcp/address_book.h"
#include "backends/tcp/interfaces.h"
#include "transport/device.h"

namespace heddle::transport::tcp {

class tcp_endpoint;

class tcp_device final : public device {
 public:
  /// Listens at all addresses of `own`, of which there is one at least. Peers are told that they
  /// are `told`, if that names any, with the same ports. Throws heddle::error.
  tcp_device(const context& where, rail own, std::vector<rail_address> told = {});
  ~tcp_device() override;

  [[nodiscard]] const traits& describe() const noexcept override { return traits_; }
  [[nodiscard]] std::vector<std::byte> address() const override {
    return encode({told_, algorithms_});
  }
  std::string add_peer(rank peer, std::span<const std::byte> address, bool same_host) override;
  std::unique_ptr<endpoint> make_endpoint(int lane) override;
  void expose(const memory::local_region& region) noexcept override;
  void withdraw(const memory::local_region& region) noexcept override;
  std::shared_ptr<void> import(rank peer, memory::region_ref region,
                               detail::remote_target& out) override;
  [[nodiscard]] int fd() const noexcept override { return acceptor_->fd(); }
  int serve() noexcept override;

  // For endpoints.

  /// One way to a peer. Whence: nowhere in particular, where there is nothing.
  struct way {
    std::optional<rail_address> from;
    rail_address to;
    std::size_t place = 0;  ///< as address_book::entry
  };
  /// To be tried in this order; none when `peer` was not added. Any thread.
  [[nodiscard]] std::vector<way> ways_to(rank peer) const;
  [[nodiscard]] bool knows(rank peer) const;
  /// Which of them led to the peer, and which did not before it did. Any thread.
  void learn(rank peer, std::size_t answered, std::span<const std::size_t> failed);
  [[nodiscard]] rank self() const noexcept { return self_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] std::span<const std::byte, 32> secret() const noexcept { return secret_; }
  /// By which connections are encrypted; empty: they are not.
  [[nodiscard]] algorithm_set algorithms() const noexcept { return algorithms_; }
  /// No connection is handed to the endpoint of `lane` any more.
  void forget(int lane) noexcept;

 private:
  // Connections of lanes without an endpoint; more are turned away.
  static constexpr std::size_t most_waiting = 1024;

  void hand_over(accepted who);

  // Constant after construction.
  rank self_;
  int size_;
  std::array<std::byte, 32> secret_;
  settings config_;
  memory::region_table* regions_;
  traits traits_;
  rail own_;
  std::vector<rail_address> told_;
  algorithm_set algorithms_;

  std::unique_ptr<acceptor> acceptor_;  // executor thread only
  std::vector<accepted> proven_;        // likewise

  mutable std::mutex mutex_;  // guards what follows
  address_book peers_;
  std::array<tcp_endpoint*, max_lanes> endpoints_{};  // by lane; null: none
  std::vector<int> wanted_;                           // lanes that serve() has not named yet
  std::vector<accepted> waiting_;
};

}  // namespace heddle::transport::tcp
