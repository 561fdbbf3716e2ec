// color_scale.h - which value is how bad, and in which unit a matrix is written.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace heddle::linktest {

/// Maps the values of one matrix to a badness from 0 to 1, on a logarithmic scale that spans them.
/// A span narrower than a quarter is widened, so that mere noise does not look like a fault.
class color_scale {
 public:
  /// `is_time`: seconds, large is bad; else bytes per second, small is bad.
  color_scale(std::span<const double> values, bool is_time);

  [[nodiscard]] double badness(double value) const noexcept;
  [[nodiscard]] double good_end() const noexcept { return is_time_ ? low_ : high_; }
  [[nodiscard]] double bad_end() const noexcept { return is_time_ ? high_ : low_; }
  [[nodiscard]] bool empty() const noexcept { return !(low_ > 0); }

  /// "us", "GB/s" ...: fits the matrix's median; number() is in it, at most 6 characters.
  [[nodiscard]] std::string_view unit() const noexcept { return unit_; }
  [[nodiscard]] std::string number(double value) const;

 private:
  bool is_time_;
  double low_, high_;
  double unit_size_ = 1;
  std::string_view unit_;
};

}  // namespace heddle::linktest
