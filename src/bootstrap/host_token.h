// SPDX-License-Identifier: BSD-3-Clause
// host_token.h - proves which ranks of a job are on one host.
//
// What a system says of itself, such as its boot id, clones of a virtual machine and containers may
// have in common. A socket that one rank has made and another one finds is in the same kernel and
// network namespace. So the first rank of a job on a host binds an abstract socket whose name only
// the job can know, and gives all others there a random number, by which they know that they are
// beside each other.
#pragma once
#include <cstdint>
#include <string>
#include <thread>

#include "base/fd.h"
#include "bootstrap/secret.h"

namespace heddle::bootstrap {

/// To be kept until all ranks of the job have theirs.
class host_token {
 public:
  /// Waits for the first rank here, for `limit_ms` at most (0: without limit), then throws error.
  host_token(const secret_bytes& secret, std::uint64_t limit_ms);
  ~host_token();
  host_token(const host_token&) = delete;
  host_token& operator=(const host_token&) = delete;

  /// The same for all ranks of the job that find each other here, and of no others. Empty: this
  /// system permits no such sockets.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// This rank gives the token to the others.
  [[nodiscard]] bool leads() const noexcept { return server_.joinable(); }

 private:
  void lead(unique_fd listener);
  void serve() const;

  std::string text_;
  unique_fd listener_, stop_;
  std::thread server_;
};

}  // namespace heddle::bootstrap
