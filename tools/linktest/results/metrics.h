// SPDX-License-Identifier: BSD-3-Clause
// metrics.h - what a measurement means: the kernels' formulas, what is kept of repeats, and units.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace heddle::linktest {

/// How two ranks exercise their link.
enum class kernel : std::uint8_t {
  semi,     ///< one message goes there and back, n times
  bi,       ///< two messages go there and back at the same time, n times
  uni,      ///< n messages go there back to back, then one receipt comes back
  unknown,  ///< of results whose file does not say; nothing is measured by it
};

/// What carries a message.
enum class operation : std::uint8_t {
  send,     ///< a tagged message and its receive
  put,      ///< written to the peer's memory, with a notification where the peer waits for it
  get,      ///< read from the peer's memory, by the initiator, in kernel bi by both
  call,     ///< an active message, whose handler copies it into place
  unknown,  ///< as a kernel may be
};
inline constexpr operation all_operations[]{operation::send, operation::put, operation::get,
                                            operation::call};
/// "send", "put", "get", "call", "unknown".
[[nodiscard]] std::string_view name_of(operation op) noexcept;

/// "semi", "bi", "uni", "unknown".
[[nodiscard]] std::string_view name_of(kernel k) noexcept;

/// Seconds per message: elapsed / 2n for semi and bi, elapsed / n for uni (its receipt included).
/// `elapsed_s` is what the initiator's clock says from before its first send until after its last
/// receive; `messages` is n >= 1.
[[nodiscard]] double seconds_per_message(kernel k, double elapsed_s,
                                         std::uint64_t messages) noexcept;

/// Bytes per second that the link carried: size / time, for bi 2 * size / time as both directions
/// are busy at once. NaN when the time is not a positive number, or the kernel unknown.
[[nodiscard]] double bytes_per_second(kernel k, std::uint64_t size_bytes,
                                      double message_s) noexcept;

/// Smallest, middle and largest of a set of values; NaN when there are none.
struct spread {
  double min, median, max;
};
/// The median of an even number of values is the mean of the middle two. NaN values are left out.
[[nodiscard]] spread spread_of(std::span<const double> values);

/// What is kept of many measured times, in seconds per message; NaN where there are none.
struct sketch {
  std::uint32_t n = 0;  ///< values it was made of
  float min = unknown, median = unknown, p90 = unknown, p99 = unknown, max = unknown;
  float mean = unknown;
  float mad = unknown;  ///< median distance from the median
  /// 95 % confidence interval of the median. NaN for fewer than 6 values, which cannot give one.
  float ci_low = unknown, ci_high = unknown;

  static constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
};
/// NaN values are left out. The quantile p of n values is the ceil(p n)-th smallest; the median of
/// an even number the mean of the middle two. The interval is that of two order statistics, by the
/// binomial distribution, so it assumes nothing about how the times are distributed.
[[nodiscard]] sketch sketch_of(std::span<const float> values);

/// The number with the fewest digits that is the same in single precision, in which times are kept:
/// what files of text hold.
[[nodiscard]] double shortest(double value);

/// "870 ns", "1.23 us", "45.6 ms", "-" for NaN: three significant digits.
[[nodiscard]] std::string format_seconds(double seconds);
/// "12.3 GB/s" with powers of 1000.
[[nodiscard]] std::string format_bandwidth(double bytes_per_s);
/// "8 B", "128 KiB", "1.5 MiB": powers of 1024.
[[nodiscard]] std::string format_size(std::uint64_t bytes);

}  // namespace heddle::linktest
