// SPDX-License-Identifier: BSD-3-Clause
// kernels.cpp - semi, bi and uni. Nothing here but messages: it runs inside the timed part.
#include "linktest/measure/kernels.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace heddle::linktest {
namespace {

/// One side's messages by what both sides take part in.
struct bounced {
  message_path& path;
  const kernel_call& call;
  const kernel_buffers& buffers;

  [[nodiscard]] tag data() const { return tag_for(purpose::data, call.number); }
  [[nodiscard]] std::span<std::byte> slot() const {
    return buffers.receive.first(buffers.send.size());
  }
  /// Sends a message and takes the answer, or the other way round.
  [[nodiscard]] status once() const {
    return path.exchange(call.peer, data(), buffers.send, slot());
  }
};

/// The initiator's messages by reading them.
struct fetched {
  fetch_path& path;
  const kernel_call& call;
  const kernel_buffers& buffers;

  [[nodiscard]] status once() const {
    return path.fetch(call.peer, buffers.receive.first(buffers.send.size()));
  }
};

template <class Traffic>
status often(const Traffic& traffic, std::uint64_t count) {
  status s = status::done;
  for (std::uint64_t i = 0; i < count && s == status::done; ++i) s = traffic.once();
  return s;
}

/// The initiator sends and takes the answer, n times. The other side answers with its next receive
/// already posted, so that no message finds it unprepared.
status semi(const bounced& by) {
  if (by.call.initiator) return often(by, by.call.messages);
  status s = by.path.recv(by.call.peer, by.data(), by.slot(), patience::usual);
  if (s == status::done) s = often(by, by.call.messages - 1);
  return s == status::done ? by.path.send(by.call.peer, by.data(), by.buffers.send) : s;
}

status uni(messenger& wire, const bounced& by) {
  const kernel_call& call = by.call;
  const tag receipt = tag_for(purpose::receipt, call.number);
  std::array<std::byte, 1> signature{};
  if (call.initiator) {
    const status s =
        by.path.send_burst(call.peer, by.data(), by.buffers.send, call.messages, call.window);
    return s == status::done ? wire.recv(call.peer, receipt, signature, patience::usual) : s;
  }
  const status s = by.path.recv_burst(call.peer, by.data(), by.buffers.receive,
                                      by.buffers.send.size(), call.messages);
  return s == status::done ? wire.send(call.peer, receipt, signature) : s;
}

status run(messenger& wire, kernel k, const bounced& by) {
  switch (k) {
    case kernel::semi:
      return semi(by);
    case kernel::bi:  // two messages bounce n times: each side sends 2n and receives 2n
      return often(by, 2 * by.call.messages);
    case kernel::uni:
      return uni(wire, by);
    case kernel::unknown:
      break;
  }
  return status::invalid;
}

/// As many bytes move as where they bounce.
status run(kernel k, const fetched& by) {
  const kernel_call& call = by.call;
  if (!call.initiator && k != kernel::bi) return status::done;
  if (k != kernel::uni) return often(by, 2 * call.messages);
  return by.path.fetch_burst(call.peer, by.buffers.receive, by.buffers.send.size(), call.messages,
                             call.window);
}

/// Calls `then` with the traffic of this carrier.
template <class Then>
status with_traffic(const ways& by, const kernel_call& call, const kernel_buffers& buffers,
                    const Then& then) {
  if (auto* const fetch = std::get_if<fetch_path*>(&by.data))
    return then(fetched{**fetch, call, buffers});
  auto* const told = std::get_if<told_path*>(&by.data);
  message_path& path = told != nullptr ? static_cast<message_path&>(**told) : by.wire;
  return then(bounced{path, call, buffers});
}

/// After each answer a look at the clock, divided among `per_answer` messages one after the other.
template <class Traffic>
status time_each(const Traffic& traffic, double per_answer, double look_s, std::span<float> times) {
  using clock = std::chrono::steady_clock;
  auto before = clock::now();
  for (float& each : times) {
    const status s = traffic.once();
    if (s != status::done) return s;
    const auto now = clock::now();
    const double taken = std::chrono::duration<double>(now - before).count() - look_s;
    each = static_cast<float>(std::max(taken, 0.0) / per_answer);
    before = now;
  }
  return status::done;
}

}  // namespace

status run_kernel(const ways& by, kernel k, const kernel_call& call,
                  const kernel_buffers& buffers) {
  return with_traffic(by, call, buffers, [&](const auto& traffic) {
    if constexpr (requires { traffic.data(); })
      return run(by.wire, k, traffic);
    else
      return run(k, traffic);
  });
}

status run_kernel_by_message(const ways& by, kernel k, const kernel_call& call,
                             const kernel_buffers& buffers, double look_s, std::span<float> times) {
  if (k == kernel::uni || !call.initiator) return status::invalid;
  const bool bounces = !std::holds_alternative<fetch_path*>(by.data) && k == kernel::semi;
  return with_traffic(by, call, buffers, [&](const auto& traffic) {
    return time_each(traffic, bounces ? 2 : 1, look_s, times);
  });
}

}  // namespace heddle::linktest
