// SPDX-License-Identifier: BSD-3-Clause
// meeting_point_host.h - rank 0 of a job without a launcher: it listens, and gathers what the
// leaders of all hosts give for their ranks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/strangers.h"
#include "bootstrap/meeting_point.h"
#include "bootstrap/patience.h"
#include "bootstrap/sealed_link.h"

namespace heddle::bootstrap {

/// One thread. Strangers at the port are told of and turned away; they cannot hold up the ranks,
/// nor take all descriptors.
class meeting_point_host {
 public:
  /// Throws error: the port is taken, or may not be used.
  meeting_point_host(const meeting_point& where, std::uint64_t limit_ms);

  /// Collective: everybody's blob by rank, for this rank and for all guests. Throws error, and
  /// tells the guests the same: a rank has not come within the limit, or went away.
  gathered exchange(std::span<const std::byte> mine);

 private:
  struct visitor {
    sealed_link link;
    std::string from;
    std::uint64_t since_ns;
    int rank = -1;          // of who leads
    std::size_t ranks = 0;  // it speaks for, itself among them
    std::optional<blob> given = {};
  };
  using visitor_ptr = std::unique_ptr<visitor>;

  void listen_at(const meeting_point& where);
  void turn(patience& limit);
  void await_all();
  void tell_all(std::span<const std::byte> message);
  void accept_one();
  bool settle(visitor_ptr& newcomer);
  void admit(visitor_ptr newcomer, std::span<const std::byte> request);
  void refuse(visitor& who, const std::string& why);
  void turn_away(const visitor& who, const std::string& why);
  void hear(visitor& guest);
  [[nodiscard]] std::string enter(visitor& guest, std::span<const std::int32_t> ranks);
  void take_given(visitor& guest, std::vector<blob>& all);
  // Of who speaks for a rank.
  static bool has_come(const visitor* speaker) noexcept { return speaker != nullptr; }
  static bool has_given(const visitor* speaker) noexcept {
    return has_come(speaker) && speaker->given;
  }
  [[nodiscard]] std::string missing() const;
  [[noreturn]] void give_up(const std::string& why);
  void flush();

  int size_;
  secret_bytes secret_;
  std::uint64_t limit_ms_;
  unique_fd listener_;
  std::size_t most_newcomers_ = strangers_at_a_time(256);
  std::vector<visitor_ptr> newcomers_;  // have not proved themselves
  std::vector<visitor_ptr> guests_;
  std::vector<visitor*> speakers_;  // of guests_, by rank; null: has not come, and rank 0
  bool started_ = false;            // all have come
  int told_of_ = 0;                 // strangers
};

}  // namespace heddle::bootstrap
