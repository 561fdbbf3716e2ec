// lane_messenger.cpp - every wait has a limit, and what is given up is taken back or kept aside.
#include "linktest/lane_messenger.h"

#include <algorithm>
#include <thread>

namespace heddle::linktest {
namespace {

using clock = std::chrono::steady_clock;
constexpr int meeting_patience = 20;     // timeouts: peers may have waited for others themselves
constexpr std::size_t send_window = 64;  // messages in flight in a burst

}  // namespace

bool abandoned::settled() const noexcept {
  return std::all_of(flags_.begin(), flags_.end(), [](const auto& f) { return f->ready(); });
}

lane_messenger::lane_messenger(lane& path, std::chrono::nanoseconds timeout, abandoned& given_up)
    : lane_(path), timeout_(timeout), given_up_(given_up) {}

/// Asks until the lane takes the operation. done, posted or a refusal; peer_lost when the lane
/// stays busy for longer than the timeout.
template <class Operation>
status lane_messenger::post(slot& s, Operation operation) {
  s.done->reset();
  status answer = operation(*s.done);
  if (is_busy(answer)) {
    const auto until = clock::now() + timeout_;
    while (is_busy(answer = operation(*s.done))) {
      if (clock::now() >= until) return status::peer_lost;
      if (lane_.poll() == 0) std::this_thread::yield();
    }
  }
  s.waiting = answer == status::posted;
  return answer;
}

status lane_messenger::start_send(slot& s, rank to, tag t, std::span<const std::byte> data) {
  return post(s, [&](flag& f) { return lane_.try_send(to, t, data, f); });
}

status lane_messenger::start_recv(slot& s, rank from, tag t, std::span<std::byte> into) {
  return post(s, [&](flag& f) { return lane_.try_recv(from, t, into, f); });
}

/// The outcome of what was started; done at once when that needed no completion.
status lane_messenger::finish(slot& s, std::chrono::nanoseconds limit) {
  if (!s.waiting) return status::done;
  if (!s.done->ready() && !lane_.wait_for(*s.done, limit)) {
    give_up(s);
    return status::peer_lost;
  }
  s.waiting = false;
  return s.done->result().code;
}

status lane_messenger::finish_recv(slot& s, std::size_t bytes, std::chrono::nanoseconds limit) {
  if (!s.waiting) return status::done;
  const status answer = finish(s, limit);
  if (answer == status::done && s.done->result().bytes != bytes) return status::truncated;
  return answer;
}

/// Takes an unmatched receive back; what cannot be taken back is kept until it ends by itself.
void lane_messenger::give_up(slot& s) {
  if (!s.waiting) return;
  s.waiting = false;
  constexpr std::chrono::milliseconds soon{100};
  const auto until = clock::now() + soon;
  while (lane_.try_cancel(*s.done) == status::busy_lane && clock::now() < until)
    std::this_thread::yield();
  if (lane_.wait_for(*s.done, soon)) return;
  given_up_.keep(std::move(s.done));
  s.done = std::make_unique<flag>();
}

void lane_messenger::give_up(std::vector<slot>& all) {
  for (slot& s : all) give_up(s);
}

std::vector<lane_messenger::slot>& lane_messenger::at_least(std::vector<slot>& slots,
                                                            std::size_t count) {
  if (slots.size() < count) slots.resize(count);
  return slots;
}

status lane_messenger::send(rank to, tag t, std::span<const std::byte> data) {
  const status started = start_send(send_, to, t, data);
  return accepted(started) ? finish(send_, timeout_) : started;
}

status lane_messenger::recv(rank from, tag t, std::span<std::byte> into, patience how) {
  const status started = start_recv(recv_, from, t, into);
  if (!accepted(started)) return started;
  return finish_recv(recv_, into.size(),
                     how == patience::usual ? timeout_ : timeout_ * meeting_patience);
}

status lane_messenger::exchange(rank peer, tag t, std::span<const std::byte> data,
                                std::span<std::byte> into) {
  status answer = start_recv(recv_, peer, t, into);
  if (!accepted(answer)) return answer;
  answer = start_send(send_, peer, t, data);
  if (accepted(answer)) answer = finish_recv(recv_, into.size(), timeout_);
  if (answer != status::done) {
    give_up(recv_);
    give_up(send_);
    return answer;
  }
  return finish(send_, timeout_);
}

status lane_messenger::send_burst(rank to, tag t, std::span<const std::byte> data,
                                  std::uint64_t count) {
  auto& slots = at_least(sends_, send_window);
  status answer = status::done;
  for (std::uint64_t i = 0; i < count && answer == status::done; ++i) {
    slot& s = slots[i % send_window];
    answer = finish(s, timeout_);
    if (answer != status::done) break;
    const status started = start_send(s, to, t, data);
    if (!accepted(started)) answer = started;
  }
  for (std::size_t i = 0; i < send_window && answer == status::done; ++i)
    answer = finish(slots[i], timeout_);
  if (answer != status::done) give_up(slots);
  return answer;
}

status lane_messenger::recv_burst(rank from, tag t, std::span<std::byte> memory, std::size_t bytes,
                                  std::uint64_t count) {
  const std::size_t window = std::max<std::size_t>(memory.size() / bytes, 1);
  auto& slots = at_least(receives_, window);
  status answer = status::done;
  // Message i is awaited before its slot takes message i + window.
  for (std::uint64_t i = 0; i < count + window && answer == status::done; ++i) {
    slot& s = slots[i % window];
    answer = finish_recv(s, bytes, timeout_);
    if (answer != status::done || i >= count) continue;
    const status started = start_recv(s, from, t, memory.subspan(i % window * bytes, bytes));
    if (!accepted(started)) answer = started;
  }
  if (answer != status::done) give_up(slots);
  return answer;
}

}  // namespace heddle::linktest
