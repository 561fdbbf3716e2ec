// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/lane_carriers.h"

#include <algorithm>

namespace heddle::linktest {

/// Keys need no exchange, for the memory is symmetric; the first visit of a pair finds them.
status counted_path::prepare(messenger& wire, rank peer, std::uint64_t number,
                             const kernel_buffers& buffers) {
  at_ = static_cast<std::uint64_t>(buffers.receive.data() - memory_.receive.local().data());
  slots_ = std::max<std::uint64_t>(buffers.receive.size() / buffers.send.size(), 1);
  const std::uint64_t mine = arrived_.begin_visit();
  return wire.exchange(peer, tag_for(purpose::places, number), std::as_bytes(std::span(&mine, 1)),
                       std::as_writable_bytes(std::span(&their_ticket_, 1)));
}

status counted_path::await(rank from, std::uint64_t count) {
  return lane_.await(arrived_.all(), arrived_.expect(count), from) ? status::done
                                                                   : status::peer_lost;
}

status counted_path::send(rank to, tag, std::span<const std::byte> data) {
  return lane_.run(one_, to, [&](flag& f) { return post_counted(to, 0, data, f); });
}

status counted_path::recv(rank from, tag, std::span<std::byte>, patience) {
  return await(from, 1);
}

status counted_path::exchange(rank peer, tag, std::span<const std::byte> data,
                              std::span<std::byte>) {
  const status started = lane_.post(one_, [&](flag& f) { return post_counted(peer, 0, data, f); });
  if (!accepted(started)) return started;
  const status came = await(peer, 1);
  if (came == status::done) return lane_.finish(one_, peer);
  lane_.give_up(one_);
  return came;
}

status put_path::post_counted(rank to, std::uint64_t number, std::span<const std::byte> data,
                              flag& done) {
  return lane_.path().try_put_notify(data, memory_.receive.at(to, offset_of(number, data.size())),
                                     arrival_counter::notice, their_ticket_, done);
}

status put_path::send_burst(rank to, tag, std::span<const std::byte> data, std::uint64_t count,
                            std::uint64_t window) {
  const status s = lane_.run_burst(to, count - 1, window, [&](std::uint64_t i, flag& f) {
    return lane_.path().try_put(data, memory_.receive.at(to, offset_of(i, data.size())), f);
  });
  if (s != status::done) return s;
  return lane_.run_burst(
      to, 1, 1, [&](std::uint64_t, flag& f) { return post_counted(to, count - 1, data, f); });
}

status put_path::recv_burst(rank from, tag, std::span<std::byte>, std::size_t, std::uint64_t) {
  return await(from, 1);
}

status call_path::prepare(messenger& wire, rank peer, std::uint64_t number,
                          const kernel_buffers& buffers) {
  const status s = counted_path::prepare(wire, peer, number, buffers);
  for (std::uint64_t slot = 0; slot < slots(); ++slot)
    labels_.at(slot) = {their_ticket_, offset_of(slot, buffers.send.size())};
  return s;
}

status call_path::post_counted(rank to, std::uint64_t number, std::span<const std::byte> data,
                               flag& done) {
  const arrival_counter::label& what = labels_[number % slots()];
  return lane_.path().try_call(to, arrival_counter::delivery, std::as_bytes(std::span(&what, 1)),
                               data, done);
}

status call_path::send_burst(rank to, tag, std::span<const std::byte> data, std::uint64_t count,
                             std::uint64_t window) {
  return lane_.run_burst(to, count, window,
                         [&](std::uint64_t i, flag& f) { return post_counted(to, i, data, f); });
}

status call_path::recv_burst(rank from, tag, std::span<std::byte>, std::size_t,
                             std::uint64_t count) {
  return await(from, count);
}

status get_path::prepare(messenger&, rank, std::uint64_t, const kernel_buffers& buffers) {
  at_ = static_cast<std::uint64_t>(buffers.send.data() - memory_.send.local().data());
  return status::done;
}

status get_path::fetch(rank peer, std::span<std::byte> into) {
  return lane_.run(one_, peer, [&](flag& f) {
    return lane_.path().try_get(into, memory_.send.at(peer, at_), f);
  });
}

status get_path::fetch_burst(rank peer, std::span<std::byte> slots, std::size_t bytes,
                             std::uint64_t count, std::uint64_t window) {
  const std::uint64_t places = std::max<std::uint64_t>(slots.size() / bytes, 1);
  return lane_.run_burst(peer, count, window, [&](std::uint64_t i, flag& f) {
    return lane_.path().try_get(slots.subspan(i % places * bytes, bytes),
                                memory_.send.at(peer, at_), f);
  });
}

carrier lane_carriers::of(operation op) noexcept {
  switch (op) {
    case operation::put:
      return &put_;
    case operation::call:
      return &call_;
    case operation::get:
      return &get_;
    case operation::send:
    case operation::unknown:
      break;
  }
  return {};
}

}  // namespace heddle::linktest
