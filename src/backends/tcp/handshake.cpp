// handshake.cpp - both ends of the proof that a fresh connection is of this job.
#include "backends/tcp/handshake.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace heddle::transport::tcp {

using enum handshake::state;

handshake::handshake(unique_fd fd, role role, std::span<const std::byte, 32> secret) noexcept
    : fd_(std::move(fd)), role_(role), secret_(secret) {}

handshake handshake::initiate(unique_fd fd, hello mine, std::span<const std::byte, 32> secret) {
  handshake h(std::move(fd), role::initiator, secret);
  h.connecting_ = true;
  h.mine_ = mine;
  h.mine_.random = fresh_nonce();
  h.my_image_ = encode(h.mine_);
  h.queue(h.my_image_);
  h.expect(hello_bytes + proof_bytes);
  return h;
}

handshake handshake::accept(unique_fd fd, std::uint32_t self, std::uint32_t size,
                            std::span<const std::byte, 32> secret) {
  handshake h(std::move(fd), role::acceptor, secret);
  h.mine_.from = self;
  h.size_ = size;
  h.expect(hello_bytes);
  return h;
}

handshake::state handshake::advance() noexcept {
  if (connecting_) {
    const connect_state c = state_of_connect(fd_.get());
    if (c == connect_state::pending) return pending;
    if (c == connect_state::failed) {
      error_ = errno;
      return failed;
    }
    connecting_ = false;
  }
  for (;;) {
    if (!write_out()) return broken_ ? failed : pending;
    if (last_write_) return done;
    if (!read_in()) return broken_ ? failed : pending;
    if (const state s = step(); s != pending) return s;
  }
}

void handshake::wait_in(int epoll) noexcept {
  const std::uint32_t wanted = connecting_ || sent_ < to_send_ ? EPOLLOUT : EPOLLIN;
  (void)watch(epoll, fd_.get(), std::exchange(watched_, wanted), wanted);
}

// Both: true when all is through; false: would block, or broken_.
bool handshake::write_out() noexcept {
  while (sent_ < to_send_) {
    const auto t = transmit(fd_.get(), std::span(out_).subspan(sent_, to_send_ - sent_));
    broken_ = t.kind == transferred::kind_t::broken;
    if (broken_) error_ = t.code;
    if (t.kind != transferred::kind_t::some) return false;
    sent_ += t.bytes;
  }
  return true;
}

bool handshake::read_in() noexcept {
  while (got_ < to_get_) {
    const auto t = receive(fd_.get(), std::span(in_).subspan(got_, to_get_ - got_));
    broken_ = t.kind == transferred::kind_t::broken || t.kind == transferred::kind_t::ended;
    if (broken_) error_ = t.code;
    if (t.kind != transferred::kind_t::some) return false;
    got_ += t.bytes;
  }
  return true;
}

// What was expected has been read.
handshake::state handshake::step() noexcept {
  if (role_ == role::initiator) return meet_acceptor();
  return met_ ? check_initiator() : meet_initiator();
}

handshake::state handshake::meet_initiator() noexcept {
  their_image_ = image_read();
  const auto theirs = parse_hello(their_image_);
  if (!theirs || theirs->to != mine_.from || theirs->from >= size_) return failed;
  theirs_ = *theirs;
  mine_ = {mine_.from, theirs_.from, theirs_.lane, theirs_.rail, fresh_nonce()};
  my_image_ = encode(mine_);
  queue(my_image_);
  queue(prove(secret_, role::acceptor, their_image_, my_image_));
  expect(proof_bytes);
  met_ = true;
  return pending;
}

handshake::state handshake::check_initiator() noexcept {
  const auto right = prove(secret_, role::initiator, their_image_, my_image_);
  return same_proof(proof_read(0), right) ? done : failed;
}

handshake::state handshake::meet_acceptor() noexcept {
  their_image_ = image_read();
  const auto right = prove(secret_, role::acceptor, my_image_, their_image_);
  if (!same_proof(proof_read(hello_bytes), right)) return failed;
  const auto theirs = parse_hello(their_image_);
  if (!theirs || theirs->from != mine_.to || theirs->to != mine_.from ||
      theirs->lane != mine_.lane || theirs->rail != mine_.rail)
    return failed;
  theirs_ = *theirs;
  queue(prove(secret_, role::initiator, my_image_, their_image_));
  last_write_ = true;
  return pending;
}

void handshake::queue(std::span<const std::byte> bytes) noexcept {
  if (sent_ == to_send_) sent_ = to_send_ = 0;
  std::ranges::copy(bytes, out_.begin() + static_cast<std::ptrdiff_t>(to_send_));
  to_send_ += bytes.size();
}

void handshake::expect(std::size_t bytes) noexcept {
  got_ = 0;
  to_get_ = bytes;
}

hello_image handshake::image_read() const noexcept {
  hello_image image;
  std::copy_n(in_.begin(), image.size(), image.begin());
  return image;
}

proof handshake::proof_read(std::size_t at) const noexcept {
  proof p;
  std::copy_n(in_.begin() + static_cast<std::ptrdiff_t>(at), p.size(), p.begin());
  return p;
}

}  // namespace heddle::transport::tcp
