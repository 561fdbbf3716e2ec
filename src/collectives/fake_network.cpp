// SPDX-License-Identifier: BSD-3-Clause
// fake_network.cpp - see fake_network.h.
#include "collectives/fake_network.h"

#include <algorithm>

namespace heddle::test {

fake_network::fake_network(const fake_options& options)
    : options_(options),
      random_(options.seed),
      victims_{victim{options.victim, options.dies_at},
               victim{options.second_victim, options.second_dies_at}} {
  for (rank r = 0; r < options.ranks; ++r) {
    lanes_.push_back(std::make_unique<fake_lane>(*this, r));
  }
}

fake_network::~fake_network() = default;

bool fake_network::deliver_one() {
  event now;
  {
    const std::lock_guard lock(mutex_);
    if (events_.empty()) return false;
    std::swap(events_[random_() % events_.size()], events_.back());
    now = events_.back();
    events_.pop_back();
  }
  now.to(now.what);
  return true;
}

std::size_t fake_network::left_over() const {
  const std::lock_guard lock(mutex_);
  return messages_waiting_.size() + receives_waiting_.size();
}

void fake_lane::when_ready(completion c) noexcept {
  const std::lock_guard lock(network_.mutex_);
  network_.events_.push_back({c, {}});
}

status fake_network::send(rank from, rank to, heddle::tag t, std::span<const std::byte> data,
                          completion c) {
  const std::lock_guard lock(mutex_);
  if (pretends_busy()) return status::busy_records;
  if (dead_now(from)) return status::closed;
  if (dead(to)) {
    events_.push_back({c, {.code = status::peer_lost, .peer = to}});
    return status::posted;
  }
  ++messages_;
  const bool eager = data.size() <= options_.eager_bytes;
  sent message{from, to, t, {data.begin(), data.end()}, eager ? completion{} : c};
  const auto wanted = std::ranges::find_if(receives_waiting_, [&](const receive& r) {
    return r.at == to && r.from == from && r.match.accepts(t);
  });
  if (wanted != receives_waiting_.end()) {
    match(message, *wanted);
    receives_waiting_.erase(wanted);
  } else {
    messages_waiting_.push_back(std::move(message));
  }
  return eager ? status::done : status::posted;
}

status fake_network::recv(rank at, rank from, tag_match t, std::span<std::byte> into,
                          completion c) {
  const std::lock_guard lock(mutex_);
  if (pretends_busy()) return status::busy_queue;
  if (dead_now(at)) return status::closed;
  const receive wanted{at, from, t, into, c};
  const auto message = std::ranges::find_if(messages_waiting_, [&](const sent& m) {
    return m.to == at && m.from == from && t.accepts(m.tag);
  });
  if (message != messages_waiting_.end()) {
    match(*message, wanted);
    messages_waiting_.erase(message);
  } else if (dead(from)) {
    events_.push_back({c, {.code = status::peer_lost, .peer = from}});
  } else {
    receives_waiting_.push_back(wanted);
  }
  return status::posted;
}

void fake_network::match(const sent& message, const receive& wanted) {
  const std::size_t size = std::min(message.data.size(), wanted.into.size());
  std::copy_n(message.data.begin(), size, wanted.into.begin());
  const bool cut = message.data.size() > wanted.into.size();
  events_.push_back({wanted.waiting,
                     {.code = cut ? status::truncated : status::done,
                      .peer = message.from,
                      .tag = message.tag,
                      .bytes = size}});
  if (message.waiting != completion{}) {
    events_.push_back({message.waiting, {.peer = message.to, .bytes = message.data.size()}});
  }
}

bool fake_network::pretends_busy() {
  return random_() % 100 < options_.busy_percent;
}

bool fake_network::dead_now(rank r) {
  for (victim& v : victims_) {
    if (v.who != r || v.died || v.operations_left-- > 0) continue;
    v.died = true;
    die(r);
  }
  return dead(r);
}

/// What others wait for from it is lost, what it waited for itself is cut off. What it has
/// sent before and nobody has received yet still arrives.
void fake_network::die(rank gone) {
  std::erase_if(receives_waiting_, [&](const receive& r) {
    if (r.at != gone && r.from != gone) return false;
    events_.push_back(
        {r.waiting, {.code = r.at == gone ? status::closed : status::peer_lost, .peer = gone}});
    return true;
  });
  std::erase_if(messages_waiting_, [&](const sent& m) {
    const bool unfinished = m.from == gone && m.waiting != completion{};
    if (m.to != gone && !unfinished) return false;
    if (m.waiting != completion{}) {
      events_.push_back(
          {m.waiting, {.code = unfinished ? status::closed : status::peer_lost, .peer = gone}});
    }
    return true;
  });
}

}  // namespace heddle::test
