// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/lane_messenger.h"

#include <algorithm>

namespace heddle::linktest {

using slot = bounded_lane::slot;

status lane_messenger::start_send(slot& s, rank to, tag t, std::span<const std::byte> data) {
  return lane_.post(s, [&](flag& f) { return lane_.path().try_send(to, t, data, f); });
}

status lane_messenger::start_recv(slot& s, rank from, tag t, std::span<std::byte> into) {
  return lane_.post(s, [&](flag& f) { return lane_.path().try_recv(from, t, into, f); });
}

status lane_messenger::finish_recv(slot& s, rank from, std::size_t bytes, patience how) {
  if (!s.waiting) return status::done;
  const status answer = lane_.finish(s, from, how);
  if (answer == status::done && s.done->result().bytes != bytes) return status::truncated;
  return answer;
}

status lane_messenger::send(rank to, tag t, std::span<const std::byte> data) {
  const status started = start_send(send_, to, t, data);
  return accepted(started) ? lane_.finish(send_, to) : started;
}

status lane_messenger::recv(rank from, tag t, std::span<std::byte> into, patience how) {
  const status started = start_recv(recv_, from, t, into);
  if (!accepted(started)) return started;
  return finish_recv(recv_, from, into.size(), how);
}

status lane_messenger::exchange(rank peer, tag t, std::span<const std::byte> data,
                                std::span<std::byte> into) {
  status answer = start_recv(recv_, peer, t, into);
  if (!accepted(answer)) return answer;
  answer = start_send(send_, peer, t, data);
  if (accepted(answer)) answer = finish_recv(recv_, peer, into.size());
  if (answer != status::done) {
    lane_.give_up(recv_);
    lane_.give_up(send_);
    return answer;
  }
  return lane_.finish(send_, peer);
}

status lane_messenger::send_burst(rank to, tag t, std::span<const std::byte> data,
                                  std::uint64_t count, std::uint64_t window) {
  return lane_.run_burst(to, count, window, [&](std::uint64_t, flag& f) {
    return lane_.path().try_send(to, t, data, f);
  });
}

status lane_messenger::recv_burst(rank from, tag t, std::span<std::byte> memory, std::size_t bytes,
                                  std::uint64_t count) {
  const std::size_t window = std::max<std::size_t>(memory.size() / bytes, 1);
  if (receives_.size() < window) receives_.resize(window);
  status answer = status::done;
  // Message i is awaited before its slot takes message i + window.
  for (std::uint64_t i = 0; i < count + window && answer == status::done; ++i) {
    bounded_lane::slot& s = receives_[i % window];
    answer = finish_recv(s, from, bytes);
    if (answer != status::done || i >= count) continue;
    const status started = start_recv(s, from, t, memory.subspan(i % window * bytes, bytes));
    if (!accepted(started)) answer = started;
  }
  if (answer != status::done) lane_.give_up(receives_);
  return answer;
}

}  // namespace heddle::linktest
