// SPDX-License-Identifier: BSD-3-Clause
// endpoint_path.cpp - post and poll: no lock, no allocation, no system call while peers are awake.
#include "backends/shm/copy.h"
#include "backends/shm/endpoint.h"

namespace heddle::transport::shm {

post_result shm_endpoint::post(std::span<op* const> ops) noexcept {
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (const status s = post_one(*ops[i]); s != status::done) [[unlikely]]
      return {i, s};
    ops[i]->over = true;
  }
  return {ops.size(), status::done};
}

inline status shm_endpoint::post_one(op& what) noexcept {
  link& to = static_cast<link&>(*what.to);
  if (to.state != link::state_t::open) [[unlikely]] {
    if (const status s = links_.open_way(to, false); s != status::done) return s;
  }
  if (what.kind == op_kind::send) [[likely]]
    return push(to, what);
  if ((device_.describe().native & only(what.kind)) == 0) return status::unsupported;
  return copy_directly(what, *to.process);
}

inline status shm_endpoint::push(link& to, const op& what) noexcept {
  const std::size_t bytes = message_bytes(what);
  if (bytes > max_message_) [[unlikely]]
    return status::invalid;
  if (!to.out) [[unlikely]] {
    if (const status s = links_.open_way(to, true); s != status::done) return s;
  }
  if (!to.out->try_push(std::as_bytes(std::span(&what.head, 1)), what.header, what.memory))
      [[unlikely]] {
    blocked_.add(to, bytes);
    return status::busy_queue;
  }
  to.wake();
  return status::done;
}

/// What fits into one line of a ring that is there; all else is post()'s.
status shm_endpoint::send(remote_lane& to, message_head head, std::span<const std::byte> header,
                          std::span<const std::byte> data) noexcept {
  link& way = static_cast<link&>(to);
  if (sizeof head + header.size() + data.size() > sync::ring_producer::line_bytes ||
      way.state != link::state_t::open || !way.out ||
      !way.out->try_push_line(head.first, head.word, header, data))
    return status::busy_queue;
  way.wake();
  return status::done;
}

/// Most polls find nothing, and take what a look takes: the rest is out of line.
std::size_t shm_endpoint::poll(std::span<event> out) noexcept {
  if (chores_ || announced_.have_news()) [[unlikely]]
    return do_chores_and_look(out);
  return look(out);
}

inline std::size_t shm_endpoint::look(std::span<event> out) noexcept {
  return incoming_.have_work() || links_.some_end() ? collect(out) : 0;
}

std::size_t shm_endpoint::do_chores_and_look(std::span<event> out) noexcept {
  if (sleep_.is_asleep()) wake_up();
  incoming_.release();  // the events of the last poll are over
  announced_.read([this](const auto& ring) { return links_.accept(ring); });
  chores_ = pace_.wait() || announced_.some_wait();
  return look(out);
}

std::size_t shm_endpoint::collect(std::span<event> out) noexcept {
  std::size_t count = incoming_.take(out, [this](link& corrupt) { links_.begin_end(corrupt); });
  if (incoming_.hold_messages()) {
    incoming_.hold_answers() ? pace_.end() : pace_.found(count);
    chores_ = true;
  }
  if (links_.some_end()) [[unlikely]]
    count += report_ends(out.subspan(count));
  return count;
}

}  // namespace heddle::transport::shm
