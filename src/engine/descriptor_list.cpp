// SPDX-License-Identifier: BSD-3-Clause
#include "engine/descriptor_list.h"

#include <ctime>

#include "base/of_this_thread.h"

namespace heddle::engine {

descriptor_list& descriptor_list::mine() {
  return of_this_thread<descriptor_list>();
}

bool descriptor_list::sleep(std::uint64_t longest_ns) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  const timespec limit{.tv_sec = static_cast<time_t>(longest_ns / second),
                       .tv_nsec = static_cast<long>(longest_ns % second)};
  return ppoll(watched_.data(), watched_.size(), &limit, nullptr) != 0;
}

}  // namespace heddle::engine
