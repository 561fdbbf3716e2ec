// SPDX-License-Identifier: BSD-3-Clause
// strategy.h - which of a peer's rails takes the next stripe of a large transfer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::protocols {

/// Asked for each stripe of a peer that is reached over several rails. Told what becomes of it.
/// Holder only.
class strategy {
 public:
  using rail_set = std::uint32_t;  ///< a bit for each
  /// What goes on a rail next.
  struct share {
    std::size_t rail = 0;
    std::uint64_t bytes = 0;  ///< none: it is better to wait until a stripe under way has ended
  };

  virtual ~strategy() = default;
  /// For a stripe of at most `bytes`. No rail of `full`, which take nothing now.
  [[nodiscard]] virtual share choose(std::uint64_t bytes, rail_set full) const noexcept = 0;
  /// The rail has taken it.
  virtual void begun(std::size_t rail, std::uint64_t bytes) noexcept = 0;
  /// It has not gone that way after all.
  virtual void taken_back(std::size_t rail, std::uint64_t bytes) noexcept = 0;
  /// It has ended, and was on its way since `begun_ns`.
  virtual void ended(std::size_t rail, std::uint64_t bytes, std::uint64_t begun_ns,
                     std::uint64_t now_ns) noexcept = 0;
  /// The rail is no way to the peer any more.
  virtual void close(std::size_t rail) noexcept = 0;
};

/// A stripe goes where it will be through first, as measured by the ones before. So equal rails
/// share evenly, and one that is several times slower than another is left alone. A rail that has
/// not been measured is tried with short stripes. So is one left alone, because one measurement is
/// easily wrong: soon at first, and ever more rarely the longer the trials come to nothing.
class earliest_end final : public strategy {
 public:
  explicit earliest_end(std::size_t rails) : rails_(rails) {}

  [[nodiscard]] share choose(std::uint64_t bytes, rail_set full) const noexcept override;
  void begun(std::size_t rail, std::uint64_t bytes) noexcept override;
  void taken_back(std::size_t rail, std::uint64_t bytes) noexcept override;
  void ended(std::size_t rail, std::uint64_t bytes, std::uint64_t begun_ns,
             std::uint64_t now_ns) noexcept override;
  void close(std::size_t rail) noexcept override { rails_[rail].open = false; }

  /// Under way on one rail: enough that it has something to do until we hear that some has ended,
  /// however late that is, and two stripes at least.
  static constexpr std::uint64_t window_bytes = std::uint64_t{2} << 20;
  static constexpr unsigned least_stripes = 2;
  /// A trial has the least number of stripes, of so many bytes.
  static constexpr std::uint64_t trial_bytes = 128 * 1024;
  /// What was measured before counts as much as so many bytes measured now.
  static constexpr std::uint64_t memory_bytes = std::uint64_t{1} << 20;
  /// Sent over other rails until the first trial, and between the last ones.
  static constexpr std::uint64_t soon = std::uint64_t{16} << 20, rarely = std::uint64_t{4} << 30;

 private:
  struct load {
    bool open = true;
    unsigned stripes = 0;  ///< under way, and together:
    std::uint64_t bytes = 0;
    double ns_per_byte = 0;  ///< 0: not measured
    // Measured over the time in which the rail always had something to do, so that what a single
    // stripe waits for its acknowledgement counts little: since when, bytes that ended since, and
    // what was known before.
    std::uint64_t busy_since_ns = 0, busy_bytes = 0;
    double before = 0;
    std::uint64_t last_end_ns = 0;
    std::uint64_t elsewhere = 0;      ///< bytes that other rails took since its last stripe, and
    std::uint64_t next_trial = soon;  ///< how many they take until it is tried again
  };
  std::vector<load> rails_;
};

}  // namespace heddle::protocols
