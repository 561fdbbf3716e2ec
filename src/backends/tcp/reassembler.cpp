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
  const std::span<const std::byte> bytes{buffer_.get() + begin_, end_ - begin_};
  frame& head = out.head;
  out.is = parse_frame(bytes, head);
  if (out.is != verdict::frame) return out;
  const auto body = bytes.subspan(header_bytes(static_cast<std::uint8_t>(head.kind)));
  if (body.size() >= head.payload) {
    out.payload = body.first(head.payload);
  } else if (head.kind == frame_kind::message || head.payload <= stream_bytes) {
    out.is = verdict::more;
    return out;
  } else {
    out.payload = body;
    out.missing = head.payload - static_cast<std::uint32_t>(body.size());
  }
  begin_ += bytes.size() - body.size() + out.payload.size();
  return out;
}

}  // namespace heddle::transport::tcp
