// SPDX-License-Identifier: BSD-3-Clause
// equipment.cpp - allocating, exposing, and exchanging keys with the partner.
#include "libraries/equipment.h"

#include <algorithm>
#include <memory>

namespace heddle::bench {
namespace {

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
    plain_ = std::make_unique<page_buffer>(bytes);
    bytes_ = {plain_->data(), bytes};
    if (addressable) region_ = job.expose(bytes_);
  }
  std::fill(bytes_.begin(), bytes_.end(), std::byte{0});  // every page is there before timing
}

equipment::equipment(station& at, const spec& s)
    : bytes_(static_cast<std::size_t>(s.bytes)),
      window_(static_cast<std::size_t>(s.window)),
      layout_(table_layout::for_spec(s)),
      table_(at.job(), layout_.bytes(), s.buffers, true),
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
