// SPDX-License-Identifier: BSD-3-Clause
// reassembler.cpp - the receive buffer of one connection.
#include "backends/tcp/reassembler.h"

#include <cstring>

namespace heddle::transport::tcp {

reassembler::reassembler() : buffer_(std::make_unique_for_overwrite<std::byte[]>(capacity)) {}

void reassembler::move_to_front() noexcept {
  if (begin_ != end_) std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
}

reassembler::item reassembler::next() noexcept {
  item out;
  const std::byte* const at = buffer_.get() + begin_;
  const frame& head = out.head;
  out.is = parse_frame({at, end_ - begin_}, out.head);
  if (out.is != verdict::frame) return out;
  const std::size_t header = header_bytes(static_cast<std::uint8_t>(head.kind));
  const std::size_t here = std::min<std::size_t>(end_ - begin_ - header, head.payload);
  out.missing = head.payload - static_cast<std::uint32_t>(here);
  if (out.missing != 0 && (head.kind == frame_kind::message || head.payload <= stream_bytes)) {
    out.is = verdict::more;
    return out;
  }
  out.payload = {at + header, here};
  begin_ += header + here;
  return out;
}

}  // namespace heddle::transport::tcp
