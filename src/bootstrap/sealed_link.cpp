// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/sealed_link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "bootstrap/secret_file.h"

namespace heddle::bootstrap {
namespace {

constexpr std::string_view magic = "heddle-meet-1\n";
constexpr std::size_t nonce_bytes = std::tuple_size_v<secret_bytes>;
constexpr std::size_t hello_bytes = magic.size() + nonce_bytes;
constexpr std::size_t header_bytes = crypto_secretstream_xchacha20poly1305_HEADERBYTES;
constexpr std::size_t seal_bytes = crypto_secretstream_xchacha20poly1305_ABYTES;
constexpr std::size_t length_bytes = sizeof(std::uint32_t);

static_assert(crypto_secretstream_xchacha20poly1305_KEYBYTES == nonce_bytes);

unsigned char* chars(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}
const unsigned char* chars(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

void append(std::vector<std::byte>& to, std::span<const std::byte> more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// Least significant byte first.
void append_length(std::vector<std::byte>& to, std::size_t length) {
  for (std::size_t i = 0; i < length_bytes; ++i)
    to.push_back(static_cast<std::byte>(length >> 8 * i & 0xff));
}
std::size_t length_at(const std::byte* at) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= std::to_integer<std::size_t>(at[i]) << 8 * i;
  return length;
}

}  // namespace

sealed_link::sealed_link(unique_fd socket, const secret_bytes& secret, side mine,
                         std::size_t most_bytes)
    : socket_(std::move(socket)),
      secret_(secret),
      mine_(mine),
      most_bytes_(most_bytes),
      nonce_(random_secret()) {
  (void)fcntl(socket_.get(), F_SETFL, fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
  if (mine_ == side::guest) greet();
}

short sealed_link::events() const noexcept {
  return static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT);
}

void sealed_link::greet() {
  append(out_, std::as_bytes(std::span(magic)));
  append(out_, nonce_);
}

void sealed_link::send(std::span<const std::byte> message) {
  if (greeted_)
    seal(message);
  else
    waiting_.emplace_back(message.begin(), message.end());
}

void sealed_link::pump() {
  if (problem_.empty()) receive();
  if (problem_.empty() && !greeted_) take_hello();
  flush();
}

void sealed_link::receive() {
  std::array<std::byte, 16384> buffer;
  const std::size_t enough = hello_bytes + header_bytes + length_bytes + most_bytes_ + seal_bytes;
  while (in_.size() <= enough) {
    const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got <= 0) return break_up("it went away");
    append(in_, std::span(buffer).first(static_cast<std::size_t>(got)));
  }
}

void sealed_link::flush() {
  std::size_t sent = 0;
  while (sent < out_.size()) {
    const ssize_t now = ::send(socket_.get(), out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) break;  // full: POLLOUT tells; gone: reading finds out
    sent += static_cast<std::size_t>(now);
  }
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(sent));
}

void sealed_link::take_hello() {
  const std::size_t common = std::min(in_.size(), magic.size());
  if (common != 0 && std::memcmp(in_.data(), magic.data(), common) != 0)
    return break_up("it is no process of this version of Heddle");
  if (in_.size() < hello_bytes) return;
  const secret_bytes mine = nonce_;
  secret_bytes theirs;
  std::copy_n(in_.begin() + magic.size(), nonce_bytes, theirs.begin());
  drop(hello_bytes);
  greeted_ = true;
  if (mine_ == side::host) greet();
  const bool guest = mine_ == side::guest;
  make_keys(guest ? mine : theirs, guest ? theirs : mine);
  for (const bytes& message : std::exchange(waiting_, {})) seal(message);
}

void sealed_link::make_keys(std::span<const std::byte> guest_nonce,
                            std::span<const std::byte> host_nonce) {
  const auto key_of = [&](std::string_view sender) {
    bytes text;
    append(text, std::as_bytes(std::span(sender)));
    append(text, guest_nonce);
    append(text, host_nonce);
    return derived(secret_, text);
  };
  const bool guest = mine_ == side::guest;
  key_out_ = key_of(guest ? "guest" : "host ");
  key_in_ = key_of(guest ? "host " : "guest");
}

void sealed_link::seal(std::span<const std::byte> message) {
  if (!std::exchange(sealed_, true)) {
    std::array<std::byte, header_bytes> header;
    crypto_secretstream_xchacha20poly1305_init_push(&out_stream_, chars(header.data()),
                                                    chars(key_out_.data()));
    append(out_, header);
  }
  append_length(out_, message.size() + seal_bytes);
  const std::size_t at = out_.size();
  out_.resize(at + message.size() + seal_bytes);
  crypto_secretstream_xchacha20poly1305_push(&out_stream_, chars(out_.data() + at), nullptr,
                                             chars(message.data()), message.size(), nullptr, 0, 0);
}

std::optional<std::vector<std::byte>> sealed_link::next() {
  constexpr const char* impostor = "it does not know the job's secret";
  if (!greeted_) return {};
  if (!opened_) {
    if (in_.size() < header_bytes) return {};
    if (crypto_secretstream_xchacha20poly1305_init_pull(&in_stream_, chars(in_.data()),
                                                        chars(key_in_.data())) != 0)
      return break_up(impostor), std::nullopt;
    drop(header_bytes);
    opened_ = true;
  }
  if (in_.size() < length_bytes) return {};
  const std::size_t length = length_at(in_.data());
  if (length < seal_bytes || length > most_bytes_ + seal_bytes)
    return break_up(impostor), std::nullopt;
  if (in_.size() < length_bytes + length) return {};
  bytes message(length - seal_bytes);
  unsigned char tag = 0;
  if (crypto_secretstream_xchacha20poly1305_pull(&in_stream_, chars(message.data()), nullptr, &tag,
                                                 chars(in_.data() + length_bytes), length, nullptr,
                                                 0) != 0)
    return break_up(impostor), std::nullopt;
  drop(length_bytes + length);
  return message;
}

/// What came before it counts: the host's last word, say.
void sealed_link::break_up(const char* why) {
  if (problem_.empty()) problem_ = why;
}

void sealed_link::drop(std::size_t count) {
  in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace heddle::bootstrap
