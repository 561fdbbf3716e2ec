// SPDX-License-Identifier: BSD-3-Clause
// nap.h - sleeping where the network wakes nobody: a timer does, soon after the last event and less
// and less often the longer nothing comes, so that news is late by a fraction of the silence before
// it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

namespace heddle::transport::utofu {

inline constexpr std::uint64_t first_nap_ns = 50'000;
inline constexpr std::uint64_t longest_nap_ns = 32'000'000;

/// How long a lane sleeps. One thread.
class nap {
 public:
  /// News is late by at most this part of the silence before it.
  static constexpr std::uint64_t part_of_silence = 8;

  explicit nap(std::uint64_t now_ns) noexcept : last_news_ns_(now_ns) {}

  /// The lane was looked at: whether there was news.
  void saw(bool news) noexcept { eventful_ |= news; }
  /// The lane goes to sleep, for so many nanoseconds. Silence counts from the first of these behind
  /// the last news.
  [[nodiscard]] std::uint64_t begin(std::uint64_t now_ns) noexcept {
    if (std::exchange(eventful_, false)) last_news_ns_ = now_ns;
    return std::clamp((now_ns - last_news_ns_) / part_of_silence, first_nap_ns, longest_nap_ns);
  }

 private:
  std::uint64_t last_news_ns_;
  bool eventful_ = false;  // since the last nap began
};

}  // namespace heddle::transport::utofu
