// SPDX-License-Identifier: BSD-3-Clause
// device.h - one process: its number, its peers' numbers, and the door at which lanes are asked
// for.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "socket.h"
#include "transport/device.h"

namespace unix_backend {

inline constexpr int device_lane = -1;  ///< for name_of()

inline constexpr heddle::setting message_size =
    heddle::bytes_setting("HEDDLE_UNIX_MESSAGE_BYTES", "32K", "largest message in one datagram",
                          4 * heddle::kib, 64 * heddle::kib);
inline constexpr std::array own_settings{message_size};

class device final : public heddle::transport::device {
 public:
  explicit device(const heddle::transport::context& where);

  [[nodiscard]] const heddle::transport::traits& describe() const noexcept override {
    return traits_;
  }
  [[nodiscard]] std::vector<std::byte> address() const override;
  std::string add_peer(heddle::rank peer, std::span<const std::byte> address,
                       bool same_host) override;
  std::unique_ptr<heddle::transport::endpoint> make_endpoint(int lane) override;
  // Nothing is mapped and nothing registered: the engine does puts and gets with messages.
  void expose(const heddle::memory::local_region&) noexcept override {}
  void withdraw(const heddle::memory::local_region&) noexcept override {}
  std::shared_ptr<void> import(heddle::rank, heddle::memory::region_ref,
                               heddle::detail::remote_target&) override {
    return nullptr;
  }
  [[nodiscard]] int fd() const noexcept override { return door_.fd(); }
  int serve() noexcept override;

  // For this device's endpoints. Constant once all peers are added.
  [[nodiscard]] heddle::rank self() const noexcept { return self_; }
  [[nodiscard]] std::uint64_t process() const noexcept { return process_; }
  [[nodiscard]] const std::array<std::byte, 32>& secret() const noexcept { return secret_; }
  [[nodiscard]] bool knows(heddle::rank peer) const noexcept {
    return peer >= 0 && peer < static_cast<heddle::rank>(processes_.size()) &&
           process_of(peer) != 0;
  }
  [[nodiscard]] std::uint64_t process_of(heddle::rank peer) const noexcept {
    return processes_[static_cast<std::size_t>(peer)];
  }

 private:
  void answer(heddle::rank who, int from_lane, int lane);

  const heddle::rank self_;
  const std::uint64_t process_;
  std::array<std::byte, 32> secret_{};
  std::vector<std::uint64_t> processes_;  // by rank; 0: not added
  heddle::transport::traits traits_;
  socket door_;

  std::mutex mutex_;    // guards what follows
  std::set<int> made_;  // lanes that have their endpoint
  // By lane that has none: which lanes of whom have knocked for it.
  std::map<int, std::set<std::pair<heddle::rank, int>>> waiting_;
};

}  // namespace unix_backend
