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
  /// No rail now: it is better to wait until a stripe under way has ended.
  static constexpr std::size_t none = SIZE_MAX;
  using rail_set = std::uint32_t;  ///< a bit for each

  virtual ~strategy() = default;
  /// The rail for a stripe of `bytes`, or none. Not one of `full`, which take nothing now.
  [[nodiscard]] virtual std::size_t choose(std::uint64_t bytes, rail_set full) const noexcept = 0;
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
/// not been measured is tried with one stripe, and again after many that went elsewhere, because
/// networks change.
class earliest_end final : public strategy {
 public:
  explicit earliest_end(std::size_t rails) : rails_(rails) {}

  [[nodiscard]] std::size_t choose(std::uint64_t bytes, rail_set full) const noexcept override;
  void begun(std::size_t rail, std::uint64_t bytes) noexcept override;
  void taken_back(std::size_t rail, std::uint64_t bytes) noexcept override;
  void ended(std::size_t rail, std::uint64_t bytes, std::uint64_t begun_ns,
             std::uint64_t now_ns) noexcept override;
  void close(std::size_t rail) noexcept override { rails_[rail].open = false; }

  /// Of one rail at once: enough that the next is there when one ends.
  static constexpr unsigned window = 2;
  /// Sent over other rails, after which a measurement is held for out of date.
  static constexpr std::uint64_t stale_bytes = std::uint64_t{4} << 30;

 private:
  struct load {
    bool open = true;
    unsigned stripes = 0;  ///< under way, and together:
    std::uint64_t bytes = 0;
    double ns_per_byte = 0;  ///< 0: not measured
    std::uint64_t last_end_ns = 0;
    std::uint64_t elsewhere = 0;  ///< bytes that other rails took since its last stripe
  };
  std::vector<load> rails_;
};

}  // namespace heddle::protocols
