// SPDX-License-Identifier: BSD-3-Clause
// write_queue.cpp - writing one connection's frames, and keeping account of what is out.
#include "backends/tcp/write_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/copy.h"

namespace heddle::transport::tcp {
namespace {

// Stands in for bytes that were promised in a header and whose region was withdrawn since.
constexpr std::array<std::byte, 16 * 1024> zeros{};

}  // namespace

void write_queue::gathered::add(const void* at, std::size_t size) noexcept {
  if (size == 0) return;
  parts[count++] = {const_cast<void*>(at), size};
  bytes += size;
}

void write_queue::add_put(op& o) noexcept {
  transfer t;
  t.put = &o;
  t.region = o.region;
  t.offset = o.offset;
  t.data = o.memory.data();
  t.bytes = o.memory.size();
  own_.push(t);
}

bool write_queue::add_notice(const op& o) noexcept {
  std::byte* at = frames.extend(notice_bytes(o));
  if (at == nullptr) return false;
  at += write_notice(at, static_cast<std::uint32_t>(sizeof o.head + o.header.size()));
  std::memcpy(at, &o.head, sizeof o.head);
  copy_few(at + sizeof o.head, o.header);
  return true;
}

bool write_queue::add_reply(const frame& get) noexcept {
  if (replies_.size() >= request_window) return false;
  transfer t;
  t.id = get.id;
  t.region = {get.slot, get.generation};
  t.offset = get.offset;
  t.bytes = get.bytes;
  replies_.push(t);
  return true;
}

void write_queue::discard() noexcept {
  for (; !own_.empty(); own_.pop()) {
    if (op* const put = own_.front().put; put != nullptr) shared_.end(*put, status::peer_lost);
  }
  replies_.clear();
  frames.drop(frames.size());
  body_left_ = 0;
  unfinished_ = nullptr;
}

write_queue::flow write_queue::flush(stream& to) noexcept {
  std::size_t turn = turn_bytes;
  for (;;) {
    if (!begin_fragment()) return flow::broken;
    if (empty()) return flow::drained;
    gathered g;
    gather(g);
    const transferred t =
        g.count == 1 ? to.transmit({static_cast<const std::byte*>(g.parts[0].iov_base), g.bytes})
                     : to.transmit(std::span(g.parts).first(g.count));
    if (t.kind == transferred::kind_t::none) return flow::blocked;
    if (t.kind != transferred::kind_t::some) {
      error = t.code;
      return flow::broken;
    }
    written += t.bytes;
    shared_.room_made += t.bytes;
    if (!advance(t.bytes)) return flow::broken;
    if (t.bytes < g.bytes || turn <= t.bytes) return empty() ? flow::drained : flow::blocked;
    turn -= t.bytes;
  }
}

// Of the next transfer, if there is one and no fragment is under way. Ours and the answers take
// turns.
bool write_queue::begin_fragment() noexcept {
  while (body_left_ == 0 && !(own_.empty() && replies_.empty())) {
    answering_ = own_.empty() || (!replies_.empty() && !answering_);
    if (!(answering_ ? begin_reply(sending()) : begin_put(sending()))) return false;
  }
  return true;
}

bool write_queue::begin_put(transfer& t) noexcept {
  const std::uint64_t body = std::min<std::uint64_t>(t.bytes - t.begun, shared_.chunk_bytes);
  const bool last = t.begun + body == t.bytes;
  std::byte* const at = frames.extend(24);
  if (at == nullptr) return false;
  const auto flags =
      static_cast<std::uint8_t>((body != t.bytes ? flag_part : 0) | (last ? flag_last : 0));
  write_put(at, flags, t.region.slot, t.region.generation, t.offset + t.begun,
            static_cast<std::uint32_t>(body));
  op* const put = t.put;
  if (last) unacknowledged.push(unfinished_ = std::exchange(t.put, nullptr));
  begin_body(t, body);
  return !last || !put->tells || add_notice(*put);
}

// Nothing is promised of a region that is not there.
bool write_queue::begin_reply(transfer& t) noexcept {
  const std::uint64_t body = std::min<std::uint64_t>(t.bytes - t.begun, shared_.chunk_bytes);
  t.code = shared_.regions.look_up(t.region, t.offset + t.begun, body, rights::read).code();
  if (t.code != status::done) return end_reply();
  std::byte* const at = frames.extend(16);
  if (at == nullptr) return false;
  write_get_data(at, 0, t.id, static_cast<std::uint32_t>(body));
  begin_body(t, body);
  return true;
}

void write_queue::begin_body(transfer& t, std::uint64_t bytes) noexcept {
  t.begun += bytes;
  body_left_ = bytes;
  before_body_ = frames.size();
}

void write_queue::gather(gathered& g) noexcept {
  if (body_left_ == 0) return g.add(frames.data(), frames.size());
  g.add(frames.data(), before_body_);
  gather_body(g);
  if (g.bytes == before_body_ + body_left_)
    g.add(frames.data() + before_body_, frames.size() - before_body_);
}

void write_queue::gather_body(gathered& g) noexcept {
  transfer& t = sending();
  const std::uint64_t from = t.begun - body_left_;
  if (!answering_) return g.add(t.data + from, body_left_);
  g.pin = shared_.regions.look_up(t.region, t.offset + from, body_left_, rights::read);
  if (g.pin.code() == status::done) return g.add(g.pin.at(), body_left_);
  t.code = g.pin.code();
  g.add(zeros.data(), std::min<std::uint64_t>(body_left_, zeros.size()));
}

// In the order of gather(). False: the peer keeps no window.
bool write_queue::advance(std::size_t bytes) noexcept {
  const std::size_t before = body_left_ != 0 ? std::min(bytes, before_body_) : bytes;
  const auto body = std::min<std::uint64_t>(bytes - before, body_left_);
  frames.drop(bytes - body);
  before_body_ -= std::min(before, before_body_);
  body_left_ -= body;
  return body == 0 || body_left_ != 0 || end_fragment();
}

bool write_queue::end_fragment() noexcept {
  const transfer& t = sending();
  if (t.begun != t.bytes && t.code == status::done) return true;
  if (answering_) return end_reply();
  own_.pop();
  unfinished_ = nullptr;
  return true;
}

bool write_queue::end_reply() noexcept {
  const transfer t = replies_.front();
  replies_.pop();
  std::byte* const at = frames.extend(16);
  if (at != nullptr) write_reply(at, t.code, t.id, 0);
  return at != nullptr;
}

}  // namespace heddle::transport::tcp
