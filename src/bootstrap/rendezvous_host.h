// SPDX-License-Identifier: BSD-3-Clause
// rendezvous_host.h - rank 0 of a job without a launcher: it listens, and gathers what all give.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "bootstrap/patience.h"
#include "bootstrap/rendezvous.h"
#include "bootstrap/sealed_link.h"

namespace heddle::bootstrap {

/// One thread. Strangers at the port are told of and turned away; they cannot hold up the ranks.
class rendezvous_host {
 public:
  /// Throws error: the port is taken, or may not be used.
  rendezvous_host(const meeting_place& where, std::uint64_t limit_ms);

  /// Collective: everybody's blob by rank, for this rank and for all guests. Throws error, and
  /// tells the guests the same: a rank has not come within the limit, or went away.
  gathered exchange(std::span<const std::byte> mine);
  /// Random, and the same for all ranks of this job.
  [[nodiscard]] const secret_bytes& nonce() const noexcept { return nonce_; }

 private:
  struct visitor {
    sealed_link link;
    std::string from;
    std::uint64_t since_ns;
    std::optional<blob> given = {};
  };
  using visitor_ptr = std::unique_ptr<visitor>;

  void listen_at(const meeting_place& where);
  void turn(patience& limit);
  void accept_one();
  bool settle(visitor_ptr& newcomer);
  void admit(visitor_ptr newcomer, std::span<const std::byte> request);
  void refuse(visitor& who, const std::string& why);
  void turn_away(const visitor& who, const std::string& why);
  void hear(int rank);
  [[nodiscard]] bool all_have_given() const;
  [[nodiscard]] std::string missing() const;
  [[noreturn]] void give_up(const std::string& why);
  void flush();

  int size_;
  secret_bytes secret_, nonce_;
  std::uint64_t limit_ms_;
  unique_fd listener_;
  std::vector<visitor_ptr> newcomers_;  // have not proved themselves
  std::vector<visitor_ptr> guests_;     // by rank; null: has not come
  int told_of_ = 0;                     // strangers
};

}  // namespace heddle::bootstrap
