// SPDX-License-Identifier: BSD-3-Clause
#include <heddle/status.h>

#include <array>

namespace heddle {

std::string_view name_of(status s) noexcept {
  static constexpr std::array names{
      std::string_view{"done"},          std::string_view{"posted"},
      std::string_view{"busy_queue"},    std::string_view{"busy_records"},
      std::string_view{"busy_lane"},     std::string_view{"not_found"},
      std::string_view{"canceled"},      std::string_view{"truncated"},
      std::string_view{"out_of_bounds"}, std::string_view{"misaligned"},
      std::string_view{"denied"},        std::string_view{"withdrawn"},
      std::string_view{"peer_lost"},     std::string_view{"invalid"},
      std::string_view{"unsupported"},   std::string_view{"no_memory"},
      std::string_view{"closed"},        std::string_view{"timed_out"}};
  static_assert(names.size() == static_cast<std::size_t>(status::timed_out) + 1);
  const auto index = static_cast<std::size_t>(s);
  return index < names.size() ? names[index] : "unknown";
}

}  // namespace heddle
