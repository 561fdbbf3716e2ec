// outbox.cpp - writing one connection's frames: gathering them and keeping account of what is out.
#include "backends/tcp/outbox.h"

#include <algorithm>
#include <cstring>

namespace heddle::transport::tcp {
namespace {

// Stands in for bytes that were promised in a header and whose region was withdrawn since.
constexpr std::array<std::byte, 16 * 1024> zeros{};

}  // namespace

outbox::outbox(shared_state& shared)
    : shared_(shared), buffer_(std::make_unique_for_overwrite<std::byte[]>(capacity)) {}

void outbox::gathered::add(const void* at, std::size_t size) noexcept {
  if (size == 0) return;
  parts[count++] = {const_cast<void*>(at), size};
  bytes += size;
}

bool outbox::compact(std::size_t bytes) noexcept {
  if (buffered() + bytes > capacity) return false;
  std::memmove(buffer_.get(), buffer_.get() + head_, buffered());
  tail_ -= head_;
  head_ = 0;
  return true;
}

void outbox::add_put(record_id id, memory::region_ref to, std::uint64_t offset,
                     std::span<const std::byte> data) noexcept {
  transfer t;
  t.id = id;
  t.region = to;
  t.offset = offset;
  t.data = data;
  t.bytes = data.size();
  own_.push(t);
}

bool outbox::add_reply(std::uint32_t id, memory::region_ref from, std::uint64_t offset,
                       std::uint64_t bytes) noexcept {
  if (replies_.size() >= request_window) return false;
  transfer t;
  t.kind = transfer::kind_t::reply;
  t.id = id;
  t.region = from;
  t.offset = offset;
  t.bytes = bytes;
  replies_.push(t);
  return true;
}

void outbox::discard() noexcept {
  head_ = tail_ = 0;
  own_.clear();
  replies_.clear();
  fragment_.queue = nullptr;
}

outbox::flow outbox::flush(int fd) noexcept {
  std::size_t turn = turn_bytes;
  while (!empty()) {
    gathered g;
    gather(g);
    if (violated_) return flow::broken;
    const transferred t =
        g.count == 1 ? transmit(fd, {static_cast<const std::byte*>(g.parts[0].iov_base), g.bytes})
                     : transmit(fd, std::span(g.parts).first(g.count));
    if (t.kind == transferred::kind_t::none) return flow::blocked;
    if (t.kind != transferred::kind_t::some) {
      error = t.code;
      return flow::broken;
    }
    written += t.bytes;
    advance(t.bytes);
    if (t.bytes < g.bytes || turn <= t.bytes) return empty() ? flow::drained : flow::blocked;
    turn -= t.bytes;
  }
  return violated_ ? flow::broken : flow::drained;
}

// A fragment that has begun must end before anything else; otherwise small frames go first.
void outbox::gather(gathered& g) noexcept {
  if (fragment_.queue != nullptr && fragment_.written != 0) {
    gather_fragment(g);
    if (g.bytes == fragment_.head_bytes + fragment_.body - fragment_.written) gather_small(g);
    return;
  }
  gather_small(g);
  while (fragment_.queue != nullptr || begin_fragment()) {
    if (gather_fragment(g)) return;
    gathered again;  // the transfer ended instead, with a small frame
    g = std::move(again);
    gather_small(g);
  }
}

void outbox::gather_small(gathered& g) noexcept {
  g.add(buffer_.get() + head_, buffered());
}

bool outbox::begin_fragment() noexcept {
  if (own_.empty() && replies_.empty()) return false;
  replies_turn_ = own_.empty() || (!replies_.empty() && !replies_turn_);
  fragment_.queue = replies_turn_ ? &replies_ : &own_;
  fragment_.written = 0;
  const transfer& t = fragment_.queue->front();
  fragment_.body = std::min<std::uint64_t>(t.bytes - t.done, shared_.chunk_bytes);
  fragment_.last = t.done + fragment_.body == t.bytes;
  write_head(t);
  return true;
}

void outbox::write_head(const transfer& t) noexcept {
  std::byte* at = fragment_.head.data();
  const auto body = static_cast<std::uint32_t>(fragment_.body);
  std::uint8_t flags = fragment_.last ? flag_last : 0;
  switch (t.kind) {
    case transfer::kind_t::put:
      if (fragment_.body != t.bytes) flags |= flag_part;
      fragment_.head_bytes =
          write_put(at, flags, t.region.slot, t.region.generation, t.offset + t.done, body);
      return;
    case transfer::kind_t::reply:
      fragment_.head_bytes = write_get_data(at, 0, t.id, body);
      return;
  }
}

// False: the fragment was given up before any of it was written.
bool outbox::gather_fragment(gathered& g) noexcept {
  transfer& t = fragment_.queue->front();
  const std::size_t head_left =
      fragment_.head_bytes - std::min<std::uint64_t>(fragment_.written, fragment_.head_bytes);
  g.add(fragment_.head.data() + fragment_.head_bytes - head_left, head_left);
  const std::uint64_t body_out = fragment_.written - (fragment_.head_bytes - head_left);
  const std::uint64_t from = t.done + body_out, left = fragment_.body - body_out;
  if (t.kind == transfer::kind_t::reply) return gather_reply(g, t, from, left);
  g.add(t.data.data() + from, left);
  return true;
}

bool outbox::gather_reply(gathered& g, transfer& t, std::uint64_t from,
                          std::uint64_t bytes) noexcept {
  g.pin = shared_.regions.look_up(t.region, t.offset + from, bytes, rights::read);
  if (g.pin.code() == status::done) {
    g.add(g.pin.at(), bytes);
    return true;
  }
  t.code = g.pin.code();
  if (fragment_.written == 0) {
    end_transfer();
    return false;
  }
  g.add(zeros.data(), std::min<std::uint64_t>(bytes, zeros.size()));
  return true;
}

// In the order of gather().
void outbox::advance(std::size_t bytes) noexcept {
  if (fragment_.queue != nullptr && fragment_.written != 0) bytes = advance_fragment(bytes);
  bytes = advance_small(bytes);
  if (bytes != 0) advance_fragment(bytes);
}

std::size_t outbox::advance_small(std::size_t bytes) noexcept {
  const std::size_t out = std::min(bytes, buffered());
  head_ += out;
  if (head_ == tail_) head_ = tail_ = 0;
  return bytes - out;
}

std::size_t outbox::advance_fragment(std::size_t bytes) noexcept {
  const transfer& t = fragment_.queue->front();
  if (fragment_.written == 0 && t.kind == transfer::kind_t::put && fragment_.last)
    shared_.records.push(unacknowledged, t.id);
  const std::uint64_t left = fragment_.head_bytes + fragment_.body - fragment_.written;
  const auto out = std::min<std::uint64_t>(bytes, left);
  fragment_.written += out;
  if (out == left) end_fragment();
  return bytes - out;
}

void outbox::end_fragment() noexcept {
  transfer& t = fragment_.queue->front();
  t.done += fragment_.body;
  if (t.done == t.bytes || t.code != status::done) {
    end_transfer();
  } else {
    fragment_.queue = nullptr;
  }
}

void outbox::end_transfer() noexcept {
  const transfer t = fragment_.queue->front();
  fragment_.queue->pop();
  fragment_.queue = nullptr;
  if (t.kind == transfer::kind_t::put) return;
  std::byte* at = extend(16);
  violated_ = violated_ || at == nullptr;
  if (at != nullptr) write_reply(at, t.code, t.id, 0);
}

}  // namespace heddle::transport::tcp
