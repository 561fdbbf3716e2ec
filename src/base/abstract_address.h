// SPDX-License-Identifier: BSD-3-Clause
// abstract_address.h - a name for a socket between processes of one host that is on no file system
// and goes away with its socket.
#pragma once
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace heddle {

/// For bind and connect. Names of more than 107 bytes are cut off.
class abstract_address {
 public:
  explicit abstract_address(std::string_view name) noexcept {
    address_.sun_family = AF_UNIX;  // the name begins behind a null byte
    const std::size_t length = std::min(name.size(), sizeof address_.sun_path - 1);
    std::ranges::copy(name.substr(0, length), address_.sun_path + 1);
    length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&address_);
  }
  [[nodiscard]] socklen_t length() const noexcept { return length_; }

 private:
  sockaddr_un address_{};
  socklen_t length_ = 0;
};

}  // namespace heddle
