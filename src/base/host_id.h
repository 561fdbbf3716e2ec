// SPDX-License-Identifier: BSD-3-Clause
// host_id.h - which host this process runs on, so that peers can tell "same host" from "another".
#pragma once
#include <string>

namespace heddle {

struct host_identity {
  /// Equal on two processes that count as being on one host, and perhaps on others: clones of a
  /// machine say the same of themselves (bootstrap/host_token.h proves it).
  std::string id;
  std::string name;  ///< for people
};

/// The boot id of the kernel and the network namespace this process is in. `override`
/// (HEDDLE_HOST), when not empty, stands in place of the namespace and of the name: it splits one
/// machine into several hosts or joins namespaces, but never joins two machines.
[[nodiscard]] host_identity this_host(const std::string& override);

}  // namespace heddle
