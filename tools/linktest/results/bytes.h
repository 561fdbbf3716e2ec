// SPDX-License-Identifier: BSD-3-Clause
// bytes.h - numbers in and out of the packed, unaligned bytes of a file, in either byte order.
#pragma once
#include <heddle/status.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace heddle::linktest {

static_assert(std::endian::native == std::endian::little);

/// Takes numbers from the front of `bytes`, which must outlive it. Throws error at their end.
class byte_reader {
 public:
  byte_reader(std::string_view bytes, bool big_endian) : rest_(bytes), swaps_(big_endian) {}

  template <class Number>
  [[nodiscard]] Number number() {
    static_assert(std::is_arithmetic_v<Number>);
    std::array<char, sizeof(Number)> raw;
    take(sizeof(Number)).copy(raw.data(), raw.size());
    if (swaps_) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<Number>(raw);
  }
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) throw error("it ends too early");
    const std::string_view out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return out;
  }
  void skip(std::size_t count) { (void)take(count); }
  [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }
  [[nodiscard]] bool swaps() const noexcept { return swaps_; }

 private:
  std::string_view rest_;
  bool swaps_;
};

/// Appends little-endian numbers.
class byte_writer {
 public:
  template <class Number>
  void number(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    const auto raw = std::bit_cast<std::array<char, sizeof(Number)>>(value);
    out_.append(raw.data(), raw.size());
  }
  void text(std::string_view bytes) { out_ += bytes; }
  void zeros(std::size_t count) { out_.append(count, '\0'); }
  [[nodiscard]] std::size_t size() const noexcept { return out_.size(); }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace heddle::linktest
