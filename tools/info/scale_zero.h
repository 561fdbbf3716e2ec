// SPDX-License-Identifier: BSD-3-Clause
// scale_zero.h - a job without a launcher of which one host is real: its rank 0.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/fd.h"
#include "bootstrap/meeting_point.h"
#include "bootstrap/sealed_link.h"
#include "info/scale_model.h"

namespace heddle::tools {

/// What the leader of a host and rank 0 have said to each other.
struct meeting_point_traffic {
  std::uint64_t to_zero = 0, from_zero = 0;  ///< messages
  std::uint64_t to_zero_bytes = 0, from_zero_bytes = 0;
};

/// Listens for the leader of job.measured_host, and makes up what all other hosts give. One thread.
class model_zero {
 public:
  /// All ranks of that host, but rank 0, come. Throws error: it cannot listen.
  explicit model_zero(const scale_job& job);

  /// Where a rank of that host joins.
  [[nodiscard]] bootstrap::meeting_point place_of(int rank) const;
  /// Rank 0's part, until the leader has gone; what others give is made of what `real` gives.
  [[nodiscard]] meeting_point_traffic serve(int real);

 private:
  [[nodiscard]] std::optional<bootstrap::blob> hear();
  void say(std::span<const std::byte> message);
  void welcome_host();
  [[nodiscard]] bootstrap::blob table_for(std::span<const std::byte> gifts, int real) const;

  const scale_job job_;
  const bootstrap::secret_bytes secret_;
  unique_fd listener_;
  std::optional<bootstrap::sealed_link> link_;
  meeting_point_traffic said_;
};

}  // namespace heddle::tools
