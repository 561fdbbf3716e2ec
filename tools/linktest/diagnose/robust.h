// SPDX-License-Identifier: BSD-3-Clause
// robust.h - statistics that a few wild values do not move.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace heddle::linktest {

/// The value below which a share of all lies: that of order floor(share (n - 1)). Reorders
/// `values`; at least one.
[[nodiscard]] float order_statistic(std::span<float> values, double share) noexcept;
/// The middle value, the lower of the middle two. So half of the values being high do not raise it.
[[nodiscard]] float low_median(std::span<float> values) noexcept;
/// Standard deviation that normal values with this median distance from `center` would have.
[[nodiscard]] double robust_sigma(std::span<float> values, float center) noexcept;
/// The chance of a normal value above z standard deviations.
[[nodiscard]] double chance_above(double z) noexcept;
/// Benjamini and Hochberg's limit: testing `tests` things, of which only the chances in `small`
/// need be looked at, those at or below the limit are findings of which a share `rate` is expected
/// to be false. 0: no finding. Every chance below `rate` must be in `small`.
[[nodiscard]] double discovery_limit(std::vector<double> small, std::size_t tests, double rate);

}  // namespace heddle::linktest
