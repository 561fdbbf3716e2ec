// posting.cpp - how a connection turns ops into frames.
#include <array>
#include <utility>

#include "backends/tcp/connection.h"

namespace heddle::transport::tcp {
namespace {

std::uint32_t narrow(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>(bytes);
}

}  // namespace

// Written straight from the caller's memory where nothing goes before; copied is what the socket
// does not take. If it is broken, the next flush will find that too.
status connection::send_uncopied(message_head head, std::span<const std::byte> header,
                                 std::span<const std::byte> data) noexcept {
  const std::size_t bytes = sizeof head + header.size() + data.size();
  if (bytes > max_message) return status::invalid;
  if (!out_.has_room(common_header + bytes)) return status::busy_queue;
  std::array<std::byte, common_header> frame;
  write_message(frame.data(), narrow(bytes));
  const std::array<std::span<const std::byte>, 4> parts{frame, std::as_bytes(std::span(&head, 1)),
                                                        header, data};
  std::size_t gone = 0;
  if (out_.empty()) {
    std::array<iovec, 4> all;
    for (std::size_t i = 0; i < parts.size(); ++i)
      all[i] = {const_cast<std::byte*>(parts[i].data()), parts[i].size()};
    gone = transmit(fd(), all).bytes;
    out_.written += gone;
  }
  for (const auto& part : parts) {
    const auto rest = part.subspan(std::min(gone, part.size()));
    gone -= part.size() - rest.size();
    if (!rest.empty()) copy_few(out_.extend(rest.size()), rest);
  }
  return status::done;
}

bool connection::has_room_for(const op& o) const noexcept {
  if (o.kind != op_kind::put) return requests_.has_room() && out_.has_room(max_header);
  if (out_.unacknowledged.size() + post_transfers >= put_window) return false;
  return o.memory.size() > copy_bytes ? out_.has_transfer_room()
                                      : out_.has_room(max_header + o.memory.size());
}

void connection::begin(op& o, std::size_t from, std::size_t bytes) noexcept {
  if (o.kind == op_kind::get) return begin_get(o, from, bytes);
  if (o.kind == op_kind::atomic) return begin_atomic(o);
  o.memory.size() > copy_bytes ? out_.add_put(o, from, bytes) : begin_small_put(o);
}

void connection::begin_small_put(op& o) noexcept {
  std::byte* const at = out_.extend(24 + o.memory.size());
  write_put(at, flag_last, o.region.slot, o.region.generation, o.offset, narrow(o.memory.size()));
  copy_few(at + 24, o.memory);
  out_.unacknowledged.push(&o);
}

void connection::begin_get(op& o, std::size_t from, std::size_t bytes) noexcept {
  write_get(out_.extend(32), requests_.add(o, o.memory.subspan(from, bytes)), o.region.slot,
            o.region.generation, o.offset + from, bytes);
}

void connection::begin_atomic(op& o) noexcept {
  frame f;
  f.atomic = o.atomic;
  f.width = o.width;
  f.id = requests_.add(o, o.memory);
  f.slot = o.region.slot;
  f.generation = o.region.generation;
  f.offset = o.offset;
  f.operand = o.operand;
  f.compare = o.compare;
  write_atomic(out_.extend(40), f);
}

void connection::end_all() noexcept {
  const auto lose = [&](op& o) { shared_.end(o, status::peer_lost); };
  out_.discard();
  for (; !out_.unacknowledged.empty(); out_.unacknowledged.pop())
    lose(*out_.unacknowledged.front());
  requests_.take_all(lose);
}

}  // namespace heddle::transport::tcp
