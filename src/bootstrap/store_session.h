// SPDX-License-Identifier: BSD-3-Clause
// store_session.h - membership in a job whose launcher offers a key-value store: PMIx and PMI-1.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "bootstrap/bootstrap.h"
#include "bootstrap/store_tree.h"

namespace heddle::bootstrap {

/// How each value begins: two programs of different versions in one job find each other out.
inline constexpr std::byte store_version{3};

/// A launcher's store, seen by one rank. One thread at a time. All but leave() throw error.
class key_store {
 public:
  /// Without leave(): this rank has failed, and the launcher ends the others with this process.
  virtual ~key_store() = default;
  /// What no other job's store on this host is called, and no other join's; the same for all ranks.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Gives `value`, 1 byte or more. Never the same key twice.
  virtual void put(const std::string& key, std::span<const std::byte> value) = 0;
  /// Collective: returns when all ranks have called it. What was put before can be got then.
  virtual void fence() = 0;
  /// What `rank` has put before the last fence.
  virtual blob get(int rank, const std::string& key) = 0;
  /// What session::abort() says. Any thread.
  virtual void abort(int status, std::string_view why) noexcept = 0;
  /// The last call: this rank leaves the job in order.
  virtual void leave() noexcept = 0;
};

/// Collective: rank 0 makes the job's secret and shares it by the store, which its launcher can
/// read; HEDDLE_SECRET_FILE, where set, is mixed in. `known` has all but the secret, `limit_ms` is
/// join()'s.
/// In an exchange one rank of each host (host_circle.h) puts what all of them give, and these ranks
/// bring it together in groups of `group` (store_tree.h). The session is for joining only: see
/// session::meets_after_joining().
[[nodiscard]] std::unique_ptr<session> join_by_store(std::unique_ptr<key_store> store,
                                                     const job& known, std::uint64_t limit_ms,
                                                     int group = store_group);

}  // namespace heddle::bootstrap
