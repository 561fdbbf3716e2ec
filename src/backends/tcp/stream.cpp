// SPDX-License-Identifier: BSD-3-Clause
// stream.cpp - receiving what comes in units.
#include "backends/tcp/stream.h"

#include <sys/socket.h>

#include <cerrno>

namespace heddle::transport::tcp {

using enum transferred::kind_t;

transferred sealed_stream::receive(int fd, std::span<const iovec> into) noexcept {
  transferred all;
  bool drained = false;
  for (const iovec& part : into) {
    const transferred t = fill(fd, {static_cast<std::byte*>(part.iov_base), part.iov_len}, drained);
    all.bytes += t.bytes;
    if (t.kind == some) continue;
    if (all.bytes == 0) return t;
    break;  // the next call will find the end
  }
  all.kind = some;
  return all;
}

// Some: all of `into` is full. Otherwise why it is not.
transferred sealed_stream::fill(int fd, std::span<std::byte> into, bool& drained) noexcept {
  std::size_t bytes = 0;
  while (bytes != into.size()) {
    const std::size_t taken = in_.take(into.subspan(bytes));
    bytes += taken;
    if (taken != 0) continue;
    if (in_.forged()) {
      (void)::shutdown(fd, SHUT_RD);  // so that whoever waits for the socket hears of it
      return {bytes, broken, EBADMSG};
    }
    if (drained) return {bytes, none};
    const auto room = in_.room();
    const transferred t = tcp::receive(fd, room);
    if (t.kind != some) return {bytes, t.kind, t.code};
    in_.filled(t.bytes);
    drained = t.bytes < room.size();
  }
  return {bytes, some};
}

}  // namespace heddle::transport::tcp
