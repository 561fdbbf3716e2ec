// SPDX-License-Identifier: BSD-3-Clause
// socket.h - the few socket calls the tcp backend makes.
#pragma once
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "backends/tcp/address.h"
#include "base/clock.h"
#include "base/fd.h"

namespace heddle::transport::tcp {

/// Outcome of a call on a non-blocking socket.
struct transferred {
  enum class kind_t : std::uint8_t {
    some,   ///< `bytes` were moved, at least one
    none,   ///< nothing can be moved now
    ended,  ///< receiving: the peer has closed its side
    broken  ///< the connection is gone: `code`
  };
  std::size_t bytes = 0;
  kind_t kind = kind_t::none;
  int code = 0;  ///< of errno
};

/// Never block, never raise SIGPIPE, repeat after EINTR.
[[nodiscard]] transferred receive(int fd, std::span<std::byte> into) noexcept;
[[nodiscard]] transferred receive(int fd, std::span<iovec> into) noexcept;
[[nodiscard]] transferred transmit(int fd, std::span<const std::byte> from) noexcept;
[[nodiscard]] transferred transmit(int fd, std::span<iovec> from) noexcept;

/// Listens at `where` (port 0: any) and sets its port to the one taken. Throws heddle::error.
[[nodiscard]] unique_fd listen_at(rail_address& where);
/// The same where the port is given. None: it is taken.
[[nodiscard]] unique_fd try_to_listen_at(const rail_address& where);
/// Starts connecting to `to`, from `from` if there is one (its port does not matter). None: refused
/// at once, errno says why.
[[nodiscard]] unique_fd connect_to(const std::optional<rail_address>& from,
                                   const rail_address& to) noexcept;
/// Takes a waiting connection. None: there is none, or it has gone again.
[[nodiscard]] unique_fd accept_from(int listener) noexcept;

/// True when the peer has closed its side, or the connection is gone, and nothing it said before is
/// left to receive.
[[nodiscard]] bool has_hung_up(int fd) noexcept;

/// What a connection that carries frames wants: no Nagle, dead hosts noticed within `timeout_ms`,
/// and within one host, where no network can be congested, nothing that paces what is sent.
void tune(int fd, std::uint64_t timeout_ms) noexcept;

/// Ends a connection without making the kernel drop what was written: says end of stream, takes
/// what has arrived (closing with unread bytes would reset the connection), and closes.
void close_softly(unique_fd fd) noexcept;

// The three throw error when there are no descriptors left.
[[nodiscard]] unique_fd make_epoll();
[[nodiscard]] unique_fd make_eventfd();
[[nodiscard]] unique_fd make_timer();

/// A timer is readable from `ms` after this on until it is set again; 0 turns it off.
void set_timer(int fd, std::uint64_t ms) noexcept;
[[nodiscard]] inline std::uint64_t now_ms() noexcept {
  return now_ns() / 1'000'000;
}

/// Changes what `epoll` tells of `fd` from `before` to `events` (0: it is not in the set), by the
/// name of `what`. False: errno says why not.
bool watch(int epoll, int fd, std::uint32_t before, std::uint32_t events,
           void* what = nullptr) noexcept;

}  // namespace heddle::transport::tcp
