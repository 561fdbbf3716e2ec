// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/host_token.h"

#include <poll.h>
#include <sodium.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "base/abstract_address.h"
#include "base/error.h"
#include "base/own_thread.h"
#include "bootstrap/patience.h"
#include "bootstrap/secret_file.h"
#include "bootstrap/send_all.h"

namespace heddle::bootstrap {
namespace {

constexpr std::size_t token_bytes = 16;
constexpr std::size_t text_bytes = 2 * token_bytes;
using text_array = std::array<char, text_bytes + 1>;

text_array hex_of(const secret_bytes& bytes) {
  text_array hex{};
  sodium_bin2hex(hex.data(), hex.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                 token_bytes);
  return hex;
}

abstract_address address_of(const secret_bytes& secret) {
  constexpr std::string_view what_for = "heddle host";
  const secret_bytes hash = derived(secret, std::as_bytes(std::span(what_for)));
  return abstract_address(std::string("heddle-host-") + hex_of(hash).data());
}

/// What the other end gives; empty when it has gone.
std::string read_token(int fd, patience& limit) {
  std::string text;
  while (text.size() < text_bytes && !limit.over()) {
    pollfd readable{fd, POLLIN, 0};
    if (!limit.wait({&readable, 1})) continue;
    text_array some{};
    const ssize_t got = ::recv(fd, some.data(), text_bytes - text.size(), 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return {};
    text.append(some.data(), static_cast<std::size_t>(got));
  }
  return text.size() == text_bytes ? text : std::string{};
}

}  // namespace

// Whoever finds the name taken and nobody behind it has come between its bind and its listen, or
// its owner has died.
host_token::host_token(const secret_bytes& secret, std::uint64_t limit_ms) {
  const abstract_address where = address_of(secret);
  for (patience limit(limit_ms); !limit.over(); (void)limit.wait({}, 1)) {
    unique_fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return;
    if (bind(socket.get(), where.get(), where.length()) == 0) {
      lead(std::move(socket));
      return;
    }
    if (errno != EADDRINUSE) return;
    if (connect(socket.get(), where.get(), where.length()) != 0) {
      if (errno == ECONNREFUSED || errno == EAGAIN) continue;  // EAGAIN: many have come at once
      return;
    }
    text_ = read_token(socket.get(), limit);
    if (!text_.empty()) return;
  }
  fail(
      "the first rank of the job on this host does not say so: is it stopped? (waited {} s, "
      "HEDDLE_JOIN_TIMEOUT_MS)",
      limit_ms / 1000);
}

void host_token::lead(unique_fd listener) {
  text_ = hex_of(random_secret()).data();
  listener_ = std::move(listener);
  stop_.reset(eventfd(0, EFD_CLOEXEC));
  if (!stop_ || listen(listener_.get(), SOMAXCONN) != 0)
    fail_errno(errno, "find the ranks of this host");
  server_ = start_thread("heddle-host", [this] { serve(); });
}

void host_token::serve() const {
  std::array<pollfd, 2> either{pollfd{listener_.get(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
  while (either[1].revents == 0) {
    if (::poll(either.data(), either.size(), -1) < 0) continue;
    const unique_fd member(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (member) (void)send_all(member.get(), std::as_bytes(std::span(text_)));
  }
}

host_token::~host_token() {
  if (!leads()) return;
  (void)::eventfd_write(stop_.get(), 1);
  server_.join();
}

}  // namespace heddle::bootstrap
