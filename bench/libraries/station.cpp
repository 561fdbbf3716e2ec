// SPDX-License-Identifier: BSD-3-Clause
// station.cpp - opening lanes and setting handlers.
#include "libraries/station.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <stdexcept>

#include "exit_status.h"

namespace heddle::bench {
namespace {

void count_arrival(mailbox& box) {
  const completion arrived = box.arrived;
  arrived({});
}

/// Sends as much back. One ping per thread is in flight, so the lane has room.
void answer_ping(void* context, lane& here, const call_message& message) noexcept {
  mailbox& box = *static_cast<mailbox*>(context);
  const auto pong = static_cast<handler_id>(pong_handlers + box.thread);
  box.answer.resize(std::max(message.header.size(), message.payload.size()));
  const std::span<const std::byte> answer(box.answer);
  const status s = here.try_call(message.source, pong, answer.first(message.header.size()),
                                 answer.first(message.payload.size()));
  if (!accepted(s)) {  // the partner would wait for ever
    fmt::print(stderr, "heddle bench: answering a ping: {}\n", name_of(s));
    std::_Exit(1);
  }
  count_arrival(box);
}

void count_message(void* context, lane&, const call_message&) noexcept {
  count_arrival(*static_cast<mailbox*>(context));
}

void check_route(const world& job, rank peer, const std::string& backend) {
  if (backend != "auto" && job.route(peer) != backend) {
    throw tools::usage_error(
        fmt::format("--backend {} cannot be honoured: rank {} reaches rank {} over {}", backend,
                    job.rank(), peer, job.route(peer)));
  }
}

}  // namespace

station::station(world& job, const options& o)
    : job_(job),
      mailboxes_(std::make_unique<mailbox[]>(static_cast<std::size_t>(most_threads(o)))) {
  if (job.size() != o.ranks) {
    throw tools::usage_error(
        fmt::format("this job has {} ranks, not the {} of --ranks", job.size(), o.ranks));
  }
  check_route(job, partner(), o.backend);
  const int threads = most_threads(o);
  for (int t = 0; t < threads; ++t) {
    mailbox& box = mailbox_of(t);
    box.thread = t;
    job.set_handler(static_cast<handler_id>(ping_handlers + t), answer_ping, &box);
    job.set_handler(static_cast<handler_id>(pong_handlers + t), count_message, &box);
    job.set_handler(static_cast<handler_id>(count_handlers + t), count_message, &box);
  }
  const int lanes = o.base.lanes == 0 ? threads : std::min(o.base.lanes, threads);
  locks_ = std::make_unique<std::mutex[]>(static_cast<std::size_t>(lanes));
  for (int n = 0; n < lanes; ++n) lanes_.emplace_back(job, lane_options{.number = n});
  job.barrier();
}

void require(status s, const char* what) {
  if (!accepted(s)) throw std::runtime_error(fmt::format("{}: {}", what, name_of(s)));
}

}  // namespace heddle::bench
