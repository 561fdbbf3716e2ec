// SPDX-License-Identifier: BSD-3-Clause
// pair_class.h - sorts of pairs: a link inside a host is never compared with one between hosts.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linktest/results/run_facts.h"
#include "linktest/results/time_order.h"

namespace heddle::linktest {

enum class pair_class : std::uint8_t {
  core,     ///< both ranks on the same core
  complex,  ///< on cores that share their last cache
  socket,   ///< on cores of one processor
  host,     ///< on one host, without that or without knowing
  group,    ///< on two hosts of one group; none where no groups are told
  network,  ///< on two hosts, otherwise
};
inline constexpr pair_class all_classes[]{pair_class::core,   pair_class::complex,
                                          pair_class::socket, pair_class::host,
                                          pair_class::group,  pair_class::network};
/// "same core", "same core complex", "same socket", "same host", "same group", and "other group",
/// or "other host" where no groups are told.
[[nodiscard]] std::string_view name_of(const run_facts& facts, pair_class c) noexcept;
/// The same in one word, for files: "core", "complex", "socket", "host", "group", "network".
[[nodiscard]] std::string_view word_of(pair_class c) noexcept;
/// Whether both ranks of such a pair are on one host.
[[nodiscard]] constexpr bool on_one_host(pair_class c) noexcept {
  return c <= pair_class::host;
}
[[nodiscard]] pair_class class_of(const run_facts& facts, int a, int b);

/// The order of times in each class of pairs.
class times_by_class {
 public:
  /// Each time it is asked, `look_at_all(look)` calls `look(class, time)` for all of the same
  /// times.
  template <class Walk>
  explicit times_by_class(const Walk& look_at_all) {
    for (int round = 0; round < time_order::looks; ++round) {
      look_at_all(
          [this](pair_class c, float time) { orders_[static_cast<std::size_t>(c)].look(time); });
      for (time_order& one : orders_) one.end_round();
    }
  }
  [[nodiscard]] const time_order& of(pair_class c) const noexcept {
    return orders_[static_cast<std::size_t>(c)];
  }

 private:
  std::array<time_order, std::size(all_classes)> orders_;
};

/// What the pairs of one class show at one size.
struct class_figures {
  pair_class what;
  std::uint64_t pairs;  ///< ordered pairs with a value
  spread time, bandwidth;
};
/// Of the classes that have a measured pair, in order.
[[nodiscard]] std::vector<class_figures> figures_by_class(const run_facts& facts,
                                                          const results& all,
                                                          std::size_t size_index);

/// The `count` pairs whose median time is the largest multiple of the median of their own class,
/// the worst first. Those that are at the median or below are left out.
[[nodiscard]] std::vector<slow_pair> slowest_in_class(const run_facts& facts, const results& all,
                                                      std::size_t size_index, std::size_t count);

/// Medians over the pairs from one host to another: hosts x hosts values, row by row, NaN without
/// any. `hosts` as each_host() gives them.
[[nodiscard]] std::vector<double> host_matrix(const run_facts& facts, const results& all,
                                              const std::vector<std::string>& hosts,
                                              std::size_t size_index, metric m);

}  // namespace heddle::linktest
