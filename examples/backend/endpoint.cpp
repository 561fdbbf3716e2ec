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

post_result endpoint::post(std::span<op* const> ops) noexcept {
  for (std::size_t n = 0; n < ops.size(); ++n) {
    const sent how = send(ops[n]->peer, *ops[n]);
    if (how == sent::full) return {n, status::busy_queue};
    if (how == sent::refused) return {n, status::peer_lost};
    ops[n]->over = true;  // the kernel has a copy
  }
  return {ops.size(), status::done};
}

/// refused: the peer is gone, and poll() says so once what it sent is taken.
sent endpoint::send(rank number, const op& o) noexcept {
  if (lost_.contains(number)) return sent::refused;
  peer* const p = find(number);
  if (p == nullptr) return sent::full;  // for lack of descriptors
  sent how = p->connected ? sent::yes : meet(number, *p);
  if (how == sent::yes) how = p->to.send(head_of(head::kind_t::message), o);
  if (how == sent::full && p->connected) watch(*p, true);
  if (how != sent::refused) return how;
  lost_.insert(number);
  leaving_.push_back(number);
  return how;
}

endpoint::peer* endpoint::find(rank number) noexcept {
  try {
    return &peers_.try_emplace(number).first->second;
  } catch (const std::exception&) {
    return nullptr;
  }
}

/// Connects to the peer's lane. full: it is not there yet, and the peer's device has been told.
sent endpoint::meet(rank number, peer& p) noexcept {
  const std::uint64_t process = device_.process_of(number);
  p.connected = p.to.connect(name_of(process, lane_));
  if (p.connected) return sent::yes;
  const sent told = in_.send_to(name_of(process, device_lane), head_of(head::kind_t::knock));
  return told == sent::refused ? told : sent::full;
}

head endpoint::head_of(head::kind_t kind) const noexcept {
  return {device_.secret(), device_.self(), lane_, kind};
}

/// Whether room at the peer makes fd() readable.
void endpoint::watch(peer& p, bool room) noexcept {
  if (p.watched == room) return;
  p.watched = room;
  epoll_event news{.events = EPOLLOUT, .data = {}};
  ::epoll_ctl(epoll_, room ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, p.to.fd(), &news);
}

// --- in --------------------------------------------------------------------------------

std::size_t endpoint::poll(std::span<event> out) noexcept {
  for (auto& [number, p] : peers_) watch(p, false);
  if (buffers_.size() < out.size()) buffers_.resize(out.size());
  std::size_t n = 0;
  while (n < out.size() && take(out[n], buffers_[n])) ++n;
  for (; n < out.size() && !leaving_.empty(); ++n, leaving_.pop_back())
    out[n] = {event::kind_t::peer_lost, status::peer_lost, leaving_.back(), nullptr,
              heddle::transport::bytes_of("its socket is gone: it has ended, or left the job")};
  return n;
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
    const bool ours = h.secret == device_.secret() && device_.knows(h.from);
    const bool gone = lost_.contains(h.from) && std::ranges::count(leaving_, h.from) == 0;
    if (!ours || gone || h.kind != head::kind_t::message) continue;
    out = {event::kind_t::arrived, status::done, h.from, nullptr,
           std::span(buffer).subspan(sizeof h, bytes - sizeof h)};
    return true;
  }
}

/// A dead process has no socket.
void endpoint::maintain() noexcept {
  for (const auto& [number, p] : peers_) {
    if (lost_.contains(number)) continue;
    const std::string door = name_of(device_.process_of(number), device_lane);
    if (in_.send_to(door, head_of(head::kind_t::probe)) != sent::refused) continue;
    lost_.insert(number);
    leaving_.push_back(number);
  }
}

}  // namespace unix_backend
