// SPDX-License-Identifier: BSD-3-Clause
// meeting_session.h - what ways to join have in common that help ranks to start, and no further.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "bootstrap/bootstrap.h"

namespace heddle::bootstrap {

/// A session for joining only: a barrier is an exchange of nothing. One thread at a time.
class meeting_session : public session {
 public:
  [[nodiscard]] const job& info() const noexcept final { return job_; }
  [[nodiscard]] bool meets_after_joining() const noexcept final { return false; }
  gathered exchange(std::span<const std::byte> mine) final;
  void barrier() final;

 protected:
  /// Whoever derives sets what is not known yet, before it is constructed.
  explicit meeting_session(const job& known) : job_(known) {}
  [[nodiscard]] job& known() noexcept { return job_; }
  /// Collective: what everybody has given, by rank. Throws error.
  gathered gather(std::span<const std::byte> mine);

 private:
  /// The same, where `mine` is known to be no longer than it may be.
  virtual gathered meet(std::span<const std::byte> mine) = 0;

  job job_;
};

}  // namespace heddle::bootstrap
