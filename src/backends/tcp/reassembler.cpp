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
  const parsed p = parse_frame(bytes);
  out.is = p.is;
  if (p.is != verdict::frame) return out;
  out.head = p.head;
  const auto body = bytes.subspan(header_bytes(static_cast<std::uint8_t>(p.head.kind)));
  if (body.size() >= p.head.payload) {
    out.payload = body.first(p.head.payload);
  } else if (p.head.kind == frame_kind::message || p.head.payload <= stream_bytes) {
    out.is = verdict::more;
    return out;
  } else {
    out.payload = body;
    out.missing = p.head.payload - static_cast<std::uint32_t>(body.size());
  }
  begin_ += bytes.size() - body.size() + out.payload.size();
  return out;
}

}  // namespace heddle::transport::tcp
