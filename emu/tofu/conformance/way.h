// SPDX-License-Identifier: BSD-3-Clause
// way.h - how two processes of this program talk: over a socket, or through files in a folder that
// both see, or not at all because they are one.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

namespace conformance {

class process;

/// Carries messages of a fixed size both ways, in order.
class way {
 public:
  virtual ~way() = default;
  /// False: the other side is gone.
  virtual bool send(const void* message, std::size_t bytes) = 0;
  /// False: nothing came in that time, or the other side is gone.
  virtual bool receive(void* message, std::size_t bytes, double seconds) = 0;
};

/// Over a connected stream socket, which stays the caller's.
std::unique_ptr<way> way_over_socket(int socket);

/// Through files in `folder`, which has to be empty when the run starts.
std::unique_ptr<way> way_through_files(std::string folder, int me, int other);

}  // namespace conformance
