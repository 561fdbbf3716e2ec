// SPDX-License-Identifier: BSD-3-Clause
// sealed_units.cpp - sealing what is written, and opening what has come.
#include "backends/tcp/sealed_units.h"

#include <cstring>

#include "backends/tcp/bytes.h"

namespace heddle::transport::tcp {

/// A place in the parts that are to be written.
class sealed_writer::source {
 public:
  explicit source(std::span<const iovec> parts) noexcept : parts_(parts) { skip(0); }

  [[nodiscard]] bool empty() const noexcept { return parts_.empty(); }
  /// What lies in one piece here.
  [[nodiscard]] std::span<const std::byte> piece() const noexcept {
    const iovec& part = parts_.front();
    return std::span(static_cast<const std::byte*>(part.iov_base), part.iov_len).subspan(at_);
  }
  void skip(std::size_t bytes) noexcept {
    at_ += bytes;
    for (; !parts_.empty() && at_ >= parts_.front().iov_len; parts_ = parts_.subspan(1))
      at_ -= parts_.front().iov_len;
  }

 private:
  std::span<const iovec> parts_;
  std::size_t at_ = 0;  // in the first of them
};

sealed_writer::sealed_writer(algorithm which, const cipher::key& key)
    : cipher_(which, key),
      unit_(std::make_unique_for_overwrite<std::byte[]>(most_plain + unit_extra)) {}

transferred sealed_writer::transmit(int fd, std::span<const iovec> from) noexcept {
  source rest(from);
  std::size_t done = 0;
  while (promised_ != 0 || !rest.empty()) {
    if (promised_ == 0) seal(rest);
    const transferred t = write(fd);
    if (begin_ != end_) return done == 0 ? t : transferred{done, transferred::kind_t::some};
    rest.skip(promised_);
    done += promised_;
    promised_ = 0;
  }
  return {done, transferred::kind_t::some};
}

// Large pieces are encrypted from where they lie, small ones gathered first.
void sealed_writer::seal(source from) noexcept {
  std::byte* const body = unit_.get() + unit_head;
  std::span<const std::byte> plain = from.piece();
  if (plain.size() < most_plain) {
    std::size_t bytes = 0;
    for (; bytes != most_plain && !from.empty(); from.skip(plain.size())) {
      plain = from.piece();
      plain = plain.first(std::min(plain.size(), most_plain - bytes));
      std::memcpy(body + bytes, plain.data(), plain.size());
      bytes += plain.size();
    }
    plain = {body, bytes};
  }
  plain = plain.first(std::min(plain.size(), most_plain));
  store_le(unit_.get(), static_cast<std::uint32_t>(plain.size()));
  cipher_.seal({unit_.get(), unit_head}, plain, body);
  begin_ = 0;
  end_ = plain.size() + unit_extra;
  promised_ = plain.size();
}

// Until the socket takes no more: then, if anything is left, `none` or what broke it.
transferred sealed_writer::write(int fd) noexcept {
  for (;;) {
    const transferred t = tcp::transmit(fd, std::span(unit_.get() + begin_, end_ - begin_));
    if (t.kind != transferred::kind_t::some) return t;
    begin_ += t.bytes;
    moved_ += t.bytes;
    if (begin_ == end_) return t;
  }
}

sealed_reader::sealed_reader(algorithm which, const cipher::key& key)
    : cipher_(which, key), buffer_(std::make_unique_for_overwrite<std::byte[]>(capacity)) {}

// A unit that has begun fits behind its beginning.
std::span<std::byte> sealed_reader::room() noexcept {
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (capacity - begin_ < most_plain + unit_extra) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  return {buffer_.get() + end_, capacity - end_};
}

std::size_t sealed_reader::take(std::span<std::byte> into) noexcept {
  if (!left_.empty()) return take_left(into);
  const std::size_t here = end_ - begin_;
  if (forged_ || into.empty() || here < unit_head) return 0;
  std::byte* const head = buffer_.get() + begin_;
  std::byte* const body = head + unit_head;
  const auto bytes = load_le<std::uint32_t>(head);
  forged_ = bytes == 0 || bytes > most_plain;
  if (forged_ || here < bytes + unit_extra) return 0;
  const bool fits = bytes <= into.size();
  forged_ = !cipher_.open({head, unit_head}, {body, bytes + cipher::tag_bytes},
                          fits ? into.data() : body);
  if (forged_) return 0;
  begin_ += bytes + unit_extra;
  if (fits) return bytes;
  left_ = {body, bytes};
  return take_left(into);
}

std::size_t sealed_reader::take_left(std::span<std::byte> into) noexcept {
  const std::size_t bytes = std::min(into.size(), left_.size());
  std::memcpy(into.data(), left_.data(), bytes);
  left_ = left_.subspan(bytes);
  return bytes;
}

}  // namespace heddle::transport::tcp
