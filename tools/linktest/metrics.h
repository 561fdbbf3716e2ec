// metrics.h - what a measurement means: the kernels' formulas, the spread of repeats, and units.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heddle::linktest {

/// How two ranks exercise their link.
enum class kernel : std::uint8_t {
  semi,  ///< one message goes there and back, n times
  bi,    ///< two messages go there and back at the same time, n times
  uni,   ///< n messages go there back to back, then one receipt comes back
};

/// "semi", "bi", "uni".
[[nodiscard]] std::string_view name_of(kernel k) noexcept;

/// Seconds per message: elapsed / 2n for semi and bi, elapsed / n for uni (its receipt included).
/// `elapsed_s` is what the initiator's clock says from before its first send until after its last
/// receive; `messages` is n >= 1.
[[nodiscard]] double seconds_per_message(kernel k, double elapsed_s,
                                         std::uint64_t messages) noexcept;

/// Bytes per second that the link carried: size / time, for bi 2 * size / time as both directions
/// are busy at once. NaN when the time is not a positive number.
[[nodiscard]] double bytes_per_second(kernel k, std::uint64_t size_bytes,
                                      double message_s) noexcept;

/// Smallest, middle and largest of a set of values; NaN when there are none.
struct spread {
  double min, median, max;
};
/// The median of an even number of values is the mean of the middle two. NaN values are left out.
[[nodiscard]] spread spread_of(std::span<const double> values);

/// "870 ns", "1.23 us", "45.6 ms", "-" for NaN: three significant digits.
[[nodiscard]] std::string format_seconds(double seconds);
/// "12.3 GB/s" with powers of 1000.
[[nodiscard]] std::string format_bandwidth(double bytes_per_s);
/// "8 B", "128 KiB", "1.5 MiB": powers of 1024.
[[nodiscard]] std::string format_size(std::uint64_t bytes);

}  // namespace heddle::linktest
