// SPDX-License-Identifier: BSD-3-Clause
#include "endpoint.h"

#include <heddle/status.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "device.h"

namespace unix_backend {

using heddle::rank;
using heddle::status;
using heddle::transport::event;
using heddle::transport::op;
using heddle::transport::post_result;

endpoint::endpoint(device& owner, int lane)
    : device_(owner), lane_(lane), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) throw heddle::error("unix: no descriptors left (ulimit -n)");
  in_.bind(name_of(owner.process(), lane));
  epoll_event news{.events = EPOLLIN, .data = {}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, in_.fd(), &news);
}

endpoint::~endpoint() {
  ::close(epoll_);
}

// --- out -------------------------------------------------------------------------------

heddle::transport::remote_lane* endpoint::reach(rank peer, int lane) noexcept {
  if (!device_.knows(peer) || lane < 0) return nullptr;
  try {
    return &peers_.try_emplace({peer, lane}, peer, lane).first->second;
  } catch (const std::exception&) {  // no memory, or no descriptor for its socket
    return nullptr;
  }
}

post_result endpoint::post(std::span<op* const> ops) noexcept {
  for (std::size_t n = 0; n < ops.size(); ++n) {
    const sent how = hand_over(static_cast<peer_lane&>(*ops[n]->to), *ops[n]);
    if (how == sent::full) return {n, status::busy_queue};
    if (how == sent::refused) return {n, status::peer_lost};
    ops[n]->over = true;  // the kernel has a copy
  }
  return {ops.size(), status::done};
}

/// refused: the peer is gone, and poll() says so once what it sent is taken.
sent endpoint::hand_over(peer_lane& to, const op& o) noexcept {
  if (to.is != peer_lane::life::here) return sent::refused;
  sent how = to.connected ? sent::yes : meet(to);
  if (how == sent::yes) how = to.out.send(head_of(head::kind_t::message), o);
  if (how == sent::full && to.connected) watch(to, true);
  if (how == sent::refused) to.is = peer_lane::life::leaving;
  return how;
}

/// Connects to the peer's lane. full: it is not there yet, and the peer's device has been told.
sent endpoint::meet(peer_lane& to) noexcept {
  const std::uint64_t process = device_.process_of(to.peer);
  to.connected = to.out.connect(name_of(process, to.lane));
  if (to.connected) return sent::yes;
  head knock = head_of(head::kind_t::knock);
  knock.to_lane = to.lane;
  const sent told = in_.send_to(name_of(process, device_lane), knock);
  return told == sent::refused ? told : sent::full;
}

head endpoint::head_of(head::kind_t kind) const noexcept {
  return {device_.secret(), device_.self(), lane_, lane_, kind};
}

/// Whether room at the peer makes fd() readable.
void endpoint::watch(peer_lane& p, bool room) noexcept {
  if (p.watched == room) return;
  p.watched = room;
  epoll_event news{.events = EPOLLOUT, .data = {}};
  ::epoll_ctl(epoll_, room ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, p.out.fd(), &news);
}

// --- in --------------------------------------------------------------------------------

std::size_t endpoint::poll(std::span<event> out) noexcept {
  for (auto& [name, p] : peers_) watch(p, false);
  if (buffers_.size() < out.size()) buffers_.resize(out.size());
  std::size_t n = 0;
  while (n < out.size() && take(out[n], buffers_[n])) ++n;
  for (auto& [name, p] : peers_) {
    if (n == out.size()) break;
    if (p.is != peer_lane::life::leaving) continue;
    p.is = peer_lane::life::lost;
    out[n++] = {event::kind_t::peer_lost, status::peer_lost, &p, nullptr,
                heddle::transport::bytes_of("its socket is gone: it has ended, or left the job")};
  }
  return n;
}

bool endpoint::arm() noexcept {
  return std::ranges::none_of(peers_, [](const auto& each) {
    return each.second.is == peer_lane::life::leaving;  // still to be told
  });
}

/// The next message of a rank of the job. What other processes send is dropped.
bool endpoint::take(event& out, std::vector<std::byte>& buffer) noexcept {
  buffer.resize(sizeof(head) + device_.describe().max_message);
  for (;;) {
    const std::size_t bytes = in_.receive(buffer);
    if (bytes == 0) return false;
    head h;
    if (bytes < sizeof h) continue;
    std::memcpy(&h, buffer.data(), sizeof h);
    if (h.secret != device_.secret() || h.kind != head::kind_t::message) continue;
    auto* const from = static_cast<peer_lane*>(reach(h.from, h.lane));
    if (from == nullptr || from->is == peer_lane::life::lost) continue;
    out = {event::kind_t::arrived, status::done, from, nullptr,
           std::span(buffer).subspan(sizeof h, bytes - sizeof h)};
    return true;
  }
}

/// A dead process has no socket.
void endpoint::maintain() noexcept {
  for (auto& [name, p] : peers_) {
    if (p.is != peer_lane::life::here) continue;
    const std::string door = name_of(device_.process_of(p.peer), device_lane);
    if (in_.send_to(door, head_of(head::kind_t::probe)) == sent::refused)
      p.is = peer_lane::life::leaving;
  }
}

}  // namespace unix_backend
