// SPDX-License-Identifier: BSD-3-Clause
// peer_process.h - another rank's process: its segment, its files, whether it still lives.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backends/shm/os.h"
#include "backends/shm/segment.h"
#include "sync/release_acquire.h"
#include "sync/sleep_word.h"

namespace heddle::transport::shm {

/// Where to find a peer: all that is kept of one before there is a peer_process.
struct peer_address {
  rank number = 0;
  pid_t pid = 0;
  std::int32_t segment_fd = -1;
  token secret{};
};

/// Credentials of this process.
[[nodiscard]] credentials own_credentials();

/// Throws error: what does not make sense in the address that `number` gave, or why nobody with it
/// can be reached from a process with credentials like `ours`.
[[nodiscard]] address_blob read_address(rank number, std::span<const std::byte> address,
                                        const credentials& ours);

/// Shared by the device and its endpoints; any thread.
class peer_process {
 public:
  /// Throws error: why the process cannot be reached. `we_can_fence`: what enable_asymmetric() said
  /// here.
  peer_process(const peer_address& where, bool we_can_fence);
  /// A peer that is gone, or cannot be reached, for the reason given; without one, a peer that is
  /// to be opened yet. What is written to it goes to `nowhere`, zeros of a segment's size.
  peer_process(rank number, std::string why, std::shared_ptr<mapping> nowhere);

  [[nodiscard]] rank number() const noexcept { return number_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] segment& memory() const noexcept {
    return *reinterpret_cast<segment*>(mapping_->data());
  }
  /// How this process may look at that one's sleep words.
  [[nodiscard]] sync::glance how() const noexcept { return how_; }

  /// Readable once the process has ended, or its device where there is no pidfd; -1 when it is our
  /// own.
  [[nodiscard]] int watch_fd() const noexcept { return watch_.get(); }
  /// Whether the process has ended or closed its device. One system call at most.
  [[nodiscard]] bool is_gone() noexcept;
  /// The same as far as known without a system call.
  [[nodiscard]] bool known_gone() const noexcept;
  /// For people: what is_gone() found.
  [[nodiscard]] std::string describe_end() const;

  /// A file of the process. Throws; never gives a file of a later process with the same number.
  [[nodiscard]] owned_fd open_file(int fd, file_kind kind);

  /// Whether process_vm_readv works on it: tried, not guessed. One that has ended has forbidden
  /// nothing: is_gone() says so then.
  [[nodiscard]] bool allows_copies() noexcept;

 private:
  void check_segment(const token& secret) const;

  // Constant after construction.
  rank number_;
  pid_t pid_ = 0;
  std::string why_;  // it was never reached
  owned_fd watch_;
  std::shared_ptr<mapping> mapping_;  // that of an unreachable one is shared with others
  sync::glance how_ = sync::glance::full;

  sync::release_acquire<std::uint32_t> ended_{0};  // 1 once the process was seen to have ended
};

}  // namespace heddle::transport::shm
