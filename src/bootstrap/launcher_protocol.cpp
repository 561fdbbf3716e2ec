// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher_protocol.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "bootstrap/passed_file.h"

namespace heddle::bootstrap::protocol {
namespace {

struct frame_header {
  std::uint32_t payload_bytes;
  std::uint8_t version;
  std::uint8_t kind;
  std::uint16_t zero;
};
static_assert(sizeof(frame_header) == head_bytes);

struct welcome_layout {
  std::int32_t rank, size, local_ranks, zero;
  std::array<std::byte, 32> secret;
};
static_assert(sizeof(welcome_layout) == 48);

void append(std::vector<std::byte>& to, const void* bytes, std::size_t count) {
  const auto* first = static_cast<const std::byte*>(bytes);
  to.insert(to.end(), first, first + count);
}

template <class T>
T read_as(std::span<const std::byte> bytes) noexcept {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

bool plausible(const frame_header& h, std::size_t max_payload) noexcept {
  return h.version == version && h.zero == 0 && h.payload_bytes <= max_payload &&
         h.kind >= static_cast<std::uint8_t>(frame_kind::join) &&
         h.kind <= static_cast<std::uint8_t>(frame_kind::starting);
}

}  // namespace

void check_blob(std::span<const std::byte> given) {
  if (given.size() > max_blob_bytes)
    fail("{} bytes, at most {} can be given", given.size(), max_blob_bytes);
}

frame_kind kind_of(std::span<const std::byte> whole_frame) noexcept {
  return static_cast<frame_kind>(read_as<frame_header>(whole_frame).kind);
}

std::vector<std::byte> encode(frame_kind kind, std::span<const std::byte> payload) {
  const frame_header header{static_cast<std::uint32_t>(payload.size()), version,
                            static_cast<std::uint8_t>(kind), 0};
  std::vector<std::byte> bytes;
  bytes.reserve(sizeof header + payload.size());
  append(bytes, &header, sizeof header);
  append(bytes, payload.data(), payload.size());
  return bytes;
}

void frame_parser::push(std::span<const std::byte> received) {
  if (broken_) return;
  buffered_.erase(buffered_.begin(), buffered_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
  append(buffered_, received.data(), received.size());
}

std::optional<frame> frame_parser::next() {
  const auto rest = std::span<const std::byte>(buffered_).subspan(taken_);
  if (broken_ || rest.size() < sizeof(frame_header)) return {};
  const auto header = read_as<frame_header>(rest);
  if (!plausible(header, max_payload_)) {
    broken_ = true;
    buffered_.clear();
    taken_ = 0;
    return {};
  }
  const std::size_t whole = sizeof header + header.payload_bytes;
  if (rest.size() < whole) return {};
  taken_ += whole;
  const auto payload = rest.subspan(sizeof header, header.payload_bytes);
  frame made{static_cast<frame_kind>(header.kind), {payload.begin(), payload.end()}};
  if (taken_ < buffered_.size()) return made;
  // What all ranks have given is large, and whoever wants it has it now.
  buffered_ = std::vector<std::byte>();
  taken_ = 0;
  return made;
}

std::vector<std::byte> encode(const welcome& w) {
  const welcome_layout layout{w.rank, w.size, w.local_ranks, 0, w.secret};
  std::vector<std::byte> bytes;
  append(bytes, &layout, sizeof layout);
  return bytes;
}

std::optional<welcome> decode_welcome(std::span<const std::byte> payload) {
  if (payload.size() != sizeof(welcome_layout)) return {};
  const auto w = read_as<welcome_layout>(payload);
  if (w.size < 1 || w.size > max_ranks || w.rank < 0 || w.rank >= w.size) return {};
  if (w.local_ranks < 1 || w.local_ranks > w.size) return {};
  return welcome{w.rank, w.size, w.local_ranks, w.secret};
}

std::vector<std::byte> encode_blobs(std::span<const std::vector<std::byte>> blobs) {
  std::vector<std::byte> bytes;
  std::size_t begin = blobs.size() * sizeof(std::uint32_t);
  for (const auto& blob : blobs) {
    const auto word = static_cast<std::uint32_t>(begin);
    append(bytes, &word, sizeof word);
    begin += sizeof word + blob.size();
  }
  bytes.reserve(begin);
  for (const auto& blob : blobs) {
    const auto length = static_cast<std::uint32_t>(blob.size());
    append(bytes, &length, sizeof length);
    append(bytes, blob.data(), blob.size());
  }
  return bytes;
}

std::vector<std::byte> encode_limit(std::uint64_t ms) {
  const auto bytes = std::as_bytes(std::span(&ms, 1));
  return {bytes.begin(), bytes.end()};
}

std::optional<std::uint64_t> decode_limit(std::span<const std::byte> payload) {
  if (payload.size() != sizeof(std::uint64_t)) return {};
  return read_as<std::uint64_t>(payload);
}

std::vector<std::byte> encode(const ending& e) {
  const auto status = static_cast<std::uint32_t>(e.status);
  std::vector<std::byte> bytes;
  append(bytes, &status, sizeof status);
  append(bytes, e.why.data(), std::min(e.why.size(), max_blob_bytes - sizeof status));
  return bytes;
}

std::optional<ending> decode_ending(std::span<const std::byte> payload) {
  if (payload.size() < sizeof(std::uint32_t)) return {};
  const auto status = read_as<std::uint32_t>(payload);
  if (status < 1 || status > 255) return {};
  return ending{static_cast<int>(status), decode_text(payload.subspan(sizeof status))};
}

std::vector<std::byte> encode_text(std::string_view text) {
  std::vector<std::byte> bytes;
  append(bytes, text.data(), std::min(text.size(), max_text_bytes));
  return bytes;
}

std::string decode_text(std::span<const std::byte> payload) {
  std::string text(payload.size(), ' ');
  const auto printable = [](std::byte b) {
    const auto c = static_cast<unsigned char>(b);
    return c < 0x20 || c == 0x7f ? '?' : static_cast<char>(c);
  };
  std::transform(payload.begin(), payload.end(), text.begin(), printable);
  return text;
}

int send_join(int inherited, int connection) noexcept {
  const frame_header header{0, version, static_cast<std::uint8_t>(frame_kind::join), 0};
  for (;;) {
    if (send_with_file(inherited, std::as_bytes(std::span(&header, 1)), connection) >= 0) return 0;
    if (errno != EINTR) return errno;
  }
}

join_request receive_join(int inherited) noexcept {
  using result_t = join_request::result_t;
  frame_header header{};
  unique_fd connection;
  received came{};
  do {
    came = receive_with_file(inherited, std::as_writable_bytes(std::span(&header, 1)), connection,
                             MSG_DONTWAIT);
  } while (came.bytes < 0 && errno == EINTR);
  const auto [got, no_room] = came;
  if (got < 0) return {errno == EAGAIN ? result_t::nothing : result_t::ended, {}, 0};
  if (got == 0) return {result_t::ended, {}, 0};
  if (no_room) return {result_t::no_room, {}, 0};

  join_request request{result_t::not_a_join, std::move(connection), header.version};
  const bool whole = got == static_cast<ssize_t>(sizeof header) && request.connection;
  if (whole && header.kind == static_cast<std::uint8_t>(frame_kind::join))
    request.result = result_t::joined;
  return request;
}

}  // namespace heddle::bootstrap::protocol
