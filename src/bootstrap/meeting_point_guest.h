// SPDX-License-Identifier: BSD-3-Clause
// meeting_point_guest.h - the link of a host's leader to rank 0, in a job without a launcher.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bootstrap/meeting_point.h"
#include "bootstrap/meeting_point_protocol.h"
#include "bootstrap/patience.h"
#include "bootstrap/sealed_link.h"

namespace heddle::bootstrap {

/// One thread. All but the last two throw error: rank 0 is not to be found, has turned this rank
/// away, says why nobody can go on, or is gone.
class meeting_point_guest {
 public:
  /// Returns when rank 0 has welcomed the rank of `where`. `limit_ms` is join()'s.
  meeting_point_guest(const meeting_point& where, std::uint64_t limit_ms);

  /// Waits, for `most_ms` at most, for a word of rank 0 or for `entrance` to be readable (-1: for
  /// nothing else). True: it has said that all ranks of the job have come.
  [[nodiscard]] bool hears_start(int entrance, std::uint64_t most_ms);
  /// What all have given: a table as in gathered.h. `here`: what this host's ranks give, as
  /// host_gifts encodes it.
  [[nodiscard]] blob exchange(std::span<const std::byte> here);

  /// This rank speaks for these as well; before hears_start() was true.
  void speak_for(std::span<const int> ranks);
  /// Nothing comes from this host any more, for the reason given.
  void give_up(const std::string& why);

 private:
  using frame = meeting_point_protocol::frame;
  using frame_kind = meeting_point_protocol::frame_kind;

  void find_host(patience& limit);
  void open_link(unique_fd socket);
  void wait(patience& limit, int entrance = -1, std::uint64_t most_ms = 1000);
  [[nodiscard]] std::optional<frame> hear(frame_kind wanted, patience& limit);
  [[nodiscard]] frame receive(frame_kind wanted);
  [[nodiscard]] bool may_be_crowded_out() const noexcept;
  [[noreturn]] void refuse() const;
  [[nodiscard]] std::string place() const;

  const meeting_point where_;
  const std::uint64_t limit_ms_;
  patience until_start_;
  std::optional<sealed_link> link_;
  std::uint64_t tried_ns_ = 0;  // when the connection was asked for
  bool proven_ = false;
};

}  // namespace heddle::bootstrap
