// SPDX-License-Identifier: BSD-3-Clause
// matched_message.cpp - see <heddle/matched_message.h>.
#include <heddle/lane.h>
#include <heddle/matched_message.h>

#include <utility>

namespace heddle {

matched_message::matched_message(matched_message&& other) noexcept
    : core_(other.core_), taken_(other.taken_) {
  other.taken_.message = nullptr;
}

matched_message& matched_message::operator=(matched_message&& other) noexcept {
  if (this == &other) return *this;
  if (holds()) drop();
  core_ = other.core_;
  taken_ = other.taken_;
  other.taken_.message = nullptr;
  return *this;
}

void matched_message::drop() noexcept {
  if (holds()) lane::drop(*core_, *std::exchange(taken_.message, nullptr));
}

}  // namespace heddle
