// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/questions.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace heddle::transport::verbs {
namespace {

constexpr std::uint64_t first_pause_ns = 20'000'000, longest_pause_ns = 1'000'000'000;
constexpr std::uint64_t until_there_is_room_ns = 1'000'000;

}  // namespace

std::uint32_t questions::ask(const peer_facts& whom, hello what,
                             const std::shared_ptr<letter_box>& of) {
  what.question = ++last_;
  const std::uint64_t now = now_ns();
  look(now);
  const bool asked = greeter_.send(whom, what);
  const std::uint64_t next = now + (asked ? first_pause_ns : until_there_is_room_ns);
  open_[last_] = {whom, what, of, next, first_pause_ns, now + patience_ns_};
  return last_;
}

void questions::look(std::uint64_t now) noexcept {
  const std::uint64_t away_ns = looks_.unwatched(now, patience_ns_);
  for (auto& [number, q] : open_) q.end_ns += away_ns;
}

void questions::tell(const question& q, std::uint32_t number, std::optional<hello> answer) {
  if (const auto box = q.of.lock()) box->put({q.what.stream, number, answer});
}

void questions::on_answer(const hello& answer) {
  const auto found = open_.find(answer.question);
  if (found == open_.end()) return;
  const question& q = found->second;
  if (answer.from != q.what.to || answer.from_nonce != q.what.to_nonce ||
      answer.stream != q.what.stream)
    return;
  const bool yes = answer.kind == hello::kind_t::answer;
  tell(q, found->first, yes ? std::optional(answer) : std::nullopt);
  open_.erase(found);
}

std::uint64_t questions::move(std::uint64_t now) {
  look(now);
  std::uint64_t next = 0;
  for (auto at = open_.begin(); at != open_.end();) {
    auto& [number, q] = *at;
    if (now >= q.end_ns || q.of.expired()) {
      tell(q, number, std::nullopt);
      at = open_.erase(at);
      continue;
    }
    if (now >= q.next_ns) {
      const bool asked = greeter_.send(q.whom, q.what);
      if (asked) q.pause_ns = std::min(2 * q.pause_ns, longest_pause_ns);
      q.next_ns = now + (asked ? q.pause_ns : until_there_is_room_ns);
    }
    const std::uint64_t wait = q.next_ns - now;
    next = next == 0 ? wait : std::min(next, wait);
    ++at;
  }
  return next;
}

}  // namespace heddle::transport::verbs
