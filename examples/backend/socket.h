// SPDX-License-Identifier: BSD-3-Clause
// socket.h - datagrams between processes of one host: Unix sockets with names that no file has.
#pragma once
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "transport/op.h"

namespace unix_backend {

/// In front of every datagram.
struct head {
  enum class kind_t : std::int32_t {
    message,  ///< lane to lane: what follows is for the engine
    open,     ///< device to lane: the lane that it knocked for is there now
    knock,    ///< lane to device: be so kind as to open this lane
    probe,    ///< lane to device: are you there?
  };
  std::array<std::byte, 32> secret{};  ///< the job's: others can send to a socket of any name
  heddle::rank from = 0;
  std::int32_t lane = 0;     ///< of `from`
  std::int32_t to_lane = 0;  ///< knock: which one
  kind_t kind = kind_t::message;
};

/// A process's sockets are named by a number of its own, drawn anew by each: of lane `lane`, or of
/// the device where that is -1.
[[nodiscard]] std::string name_of(std::uint64_t process, int lane);

enum class sent { yes, full, refused };

/// Never blocks. Movable, so that containers can hold it.
class socket {
 public:
  socket();  ///< throws heddle::error: no descriptors left
  ~socket();
  socket(socket&& other) noexcept;
  socket& operator=(socket&&) = delete;

  void bind(const std::string& name);                            ///< throws heddle::error
  [[nodiscard]] bool connect(const std::string& name) noexcept;  ///< false: there is none
  /// To whom it is connected.
  sent send(const head& h, const heddle::transport::op& o) noexcept;
  sent send_to(const std::string& name, const head& h) noexcept;
  /// The next datagram; its length, or 0 when there is none.
  std::size_t receive(std::span<std::byte> into) noexcept;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

}  // namespace unix_backend
