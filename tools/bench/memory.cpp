// memory.cpp - allocating, exposing, and exchanging keys with the partner.
#include "bench/memory.h"

#include <algorithm>
#include <bit>
#include <memory>

namespace heddle::bench {
namespace {

constexpr std::size_t table_bytes = 1 << 20;
/// Plain buffers begin at a page, as those of the rivals do: copies of unaligned memory are slower.
constexpr std::size_t page_bytes = 4096;

/// At least one byte, so that every buffer has an address.
std::size_t room_for(std::size_t bytes) {
  return std::max<std::size_t>(bytes, 1);
}

key exchange_keys(station& at, const key& mine) {
  key theirs;
  lane& l = at.first_lane();
  flag received;
  const status posted = l.try_recv(at.peer(), tag_of(purpose::setup, 0), theirs.bytes, received);
  require(posted, "receive a key");
  require(l.send(at.peer(), tag_of(purpose::setup, 0), mine.bytes), "send a key");
  if (posted == status::posted) require(l.wait(received), "receive a key");
  return theirs;
}

}  // namespace

buffer::buffer(world& job, std::size_t bytes, buffer_kind where, bool addressable) {
  if (where == buffer_kind::exposed) {
    region_ = job.allocate(bytes);
    bytes_ = region_.memory();
  } else {
    plain_.resize(bytes + page_bytes);
    void* at = plain_.data();
    std::size_t room = plain_.size();
    bytes_ = {static_cast<std::byte*>(std::align(page_bytes, bytes, at, room)), bytes};
    if (addressable) region_ = job.expose(bytes_);
  }
  std::fill(bytes_.begin(), bytes_.end(), std::byte{0});  // every page is there before timing
}

table_layout table_layout::for_spec(const spec& s) {
  const auto bytes = static_cast<std::size_t>(s.bytes);
  const auto threads = static_cast<std::size_t>(s.threads);
  table_layout l;
  l.stride = s.what == kind::latency ? std::max(bytes, line_bytes)
                                     : std::max(bytes, sizeof(std::uint64_t));
  l.stride = (l.stride + 7) / 8 * 8;
  l.slots = std::max(std::bit_ceil(threads), std::bit_floor(table_bytes / l.stride | 1));
  l.part = std::bit_floor(l.slots / threads);
  return l;
}

equipment::equipment(station& at, const spec& s)
    : bytes_(static_cast<std::size_t>(s.bytes)),
      window_(static_cast<std::size_t>(s.window)),
      layout_(table_layout::for_spec(s)),
      table_(at.job(), layout_.control() + static_cast<std::size_t>(s.threads) * line_bytes,
             s.buffers, true),
      sources_(at.job(), room_for(static_cast<std::size_t>(s.threads) * bytes_), s.buffers, false),
      landings_(at.job(), room_for(static_cast<std::size_t>(s.threads) * window_ * bytes_),
                s.buffers, false),
      their_table_(at.job().import(exchange_keys(at, table_.key()))) {}

std::span<std::byte> equipment::source(int t) const noexcept {
  return sources_.bytes().subspan(static_cast<std::size_t>(t) * bytes_, bytes_);
}

std::span<std::byte> equipment::landing(int t, std::size_t slot) const noexcept {
  const std::size_t place = static_cast<std::size_t>(t) * window_ + slot;
  return landings_.bytes().subspan(place * bytes_, bytes_);
}

}  // namespace heddle::bench
