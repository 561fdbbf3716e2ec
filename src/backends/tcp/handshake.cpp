// SPDX-License-Identifier: BSD-3-Clause
// handshake.cpp - both ends of the proof that a fresh connection is of this job.
#include "backends/tcp/handshake.h"

#include <sys/epoll.h>

#include <utility>

namespace heddle::transport::tcp {

using enum handshake::state;

handshake handshake::initiate(unique_fd fd, hello mine, std::span<const std::byte, 32> secret) {
  handshake h(std::move(fd), role::initiator, secret);
  h.self_ = mine;
  h.self_.random = fresh_nonce();
  h.mine_.image = encode(h.self_);
  h.to_send_ = hello_bytes;
  h.to_get_ = all;
  return h;
}

handshake handshake::accept(unique_fd fd, std::uint32_t self, std::uint32_t size,
                            std::span<const std::byte, 32> secret, algorithm_set algorithms) {
  handshake h(std::move(fd), role::acceptor, secret);
  h.self_.from = self;
  h.self_.algorithms = algorithms;
  h.size_ = size;
  h.to_get_ = hello_bytes;
  return h;
}

// A socket that is still connecting has no room to write, and tells why it cannot connect.
handshake::state handshake::advance() noexcept {
  const auto out = std::as_bytes(std::span(&mine_, 1));
  const auto in = std::as_writable_bytes(std::span(&theirs_, 1));
  for (;;) {
    while (sent_ < to_send_) {
      if (!move(transmit(fd(), out.subspan(sent_, to_send_ - sent_)), sent_))
        return failed_ ? failed : pending;
    }
    while (got_ < to_get_) {
      if (!move(receive(fd(), in.subspan(got_, to_get_ - got_)), got_))
        return failed_ ? failed : pending;
    }
    if (const state s = step(); s != pending) return s;
  }
}

bool handshake::move(transferred t, std::size_t& moved) noexcept {
  moved += t.bytes;
  failed_ = t.kind == transferred::kind_t::broken || t.kind == transferred::kind_t::ended;
  if (failed_) error_ = t.code;
  return t.kind == transferred::kind_t::some;
}

void handshake::wait_in(int epoll) noexcept {
  const std::uint32_t wanted = sent_ < to_send_ ? EPOLLOUT : EPOLLIN;
  (void)watch(epoll, fd(), std::exchange(watched_, wanted), wanted);
}

// What was to be sent and received has been.
handshake::state handshake::step() noexcept {
  if (role_ == role::initiator) return sent_ == all ? done : meet_acceptor();
  if (got_ != all) return meet_initiator();
  return agreed() && same_proof(theirs_.proven, proof_of(role::initiator)) ? done : failed;
}

handshake::state handshake::meet_initiator() noexcept {
  const auto theirs = parse_hello(theirs_.image);
  if (!theirs || theirs->to != self_.from || theirs->from >= size_) return failed;
  peer_ = *theirs;
  self_.to = peer_.from;
  self_.from_lane = peer_.to_lane;
  self_.to_lane = peer_.from_lane;
  self_.random = fresh_nonce();
  mine_.image = encode(self_);
  mine_.proven = proof_of(role::acceptor);
  to_send_ = to_get_ = all;
  return pending;
}

handshake::state handshake::meet_acceptor() noexcept {
  if (!same_proof(theirs_.proven, proof_of(role::acceptor))) return failed;
  const auto theirs = parse_hello(theirs_.image);
  if (!theirs || theirs->from != self_.to || theirs->to != self_.from ||
      theirs->from_lane != self_.to_lane || theirs->to_lane != self_.from_lane)
    return failed;
  peer_ = *theirs;
  disagrees_ = !agreed();
  // The acceptor says nothing more before it has the proof. Whom it has given up waiting for would
  // take itself for connected.
  if (disagrees_ || has_hung_up(fd())) return failed;
  mine_.proven = proof_of(role::initiator);
  to_send_ = all;
  return pending;
}

// The one that connects learns it from a hello that is proven, and tells why.
bool handshake::agreed() const noexcept {
  const bool plain = self_.algorithms == 0 && peer_.algorithms == 0;
  return plain || best_of(self_.algorithms, peer_.algorithms) != algorithm::none;
}

stream handshake::release() {
  const algorithm which = best_of(self_.algorithms, peer_.algorithms);
  if (which == algorithm::none) return stream(std::move(fd_));
  const role other = role_ == role::initiator ? role::acceptor : role::initiator;
  return stream(std::move(fd_), std::make_unique<sealed_stream>(
                                    sealed_stream::keys{which, key_of(role_), key_of(other)}));
}

cipher::key handshake::key_of(role speaker) const noexcept {
  return role_ == role::initiator ? frame_key(secret_, speaker, mine_.image, theirs_.image)
                                  : frame_key(secret_, speaker, theirs_.image, mine_.image);
}

proof handshake::proof_of(role prover) const noexcept {
  return role_ == role::initiator ? prove(secret_, prover, mine_.image, theirs_.image)
                                  : prove(secret_, prover, theirs_.image, mine_.image);
}

}  // namespace heddle::transport::tcp
