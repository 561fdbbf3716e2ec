// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_questions.h"

#include <unistd.h>

#include <exception>
#include <thread>

namespace heddle::engine {
namespace {

using protocols::delivery_batch;

/// Of so many polls that find the lane held, one boosts the helpers, which costs system calls.
constexpr std::uint64_t polls_before_boost = 32;
constexpr int report_attempts = 100;
constexpr useconds_t between_attempts_us = 1000;

}  // namespace

std::size_t lane_questions::poll() noexcept {
  lane_driver& driver = driver_;
  delivery_batch& batch = delivery_batch::mine();
  if (batch.running() || !(plainly_ || may_poll())) return 0;
  if (!driver.hold().enter_free() && !driver.hold().enter_queued()) [[unlikely]]
    return miss_poll();
  driver.parking().state().note_poll(&batch);
  const std::size_t events = driver.advance(batch);
  driver.release_unposted();  // it has just been polled
  return batch.empty() ? events : events + batch.run();
}

/// Not in mode dedicated, whose executor may need this core. In mode inline the executor's duties
/// come first.
bool lane_questions::may_poll() const noexcept {
  const helpers& help = driver_.help();
  help.dedicated() ? std::this_thread::yield() : help.keeper.serve_inline();
  return !help.dedicated();
}

/// A helper of mode idle holds the lane, perhaps, and the polling thread may have its core.
std::size_t lane_questions::miss_poll() noexcept {
  if (missed_polls_.next() % polls_before_boost == 0) driver_.help().boost();
  return 0;
}

/// `question(port)`, once what has arrived is known.
template <class F>
status lane_questions::look(F&& question) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!server_.enter_with_patience()) return busy_or_closed();
  (void)driver_.drain(batch);
  driver_.parking().state().note_poll(&batch);
  driver_.advance(batch);
  const status s = question(driver_.port());
  driver_.release(batch);
  batch.run();
  return s;
}

status lane_questions::probe(rank source, const tag_match& match, outcome& found) noexcept {
  return look([&](protocols::port& port) { return port.tagged().probe(source, match, found); });
}

status lane_questions::take(rank source, const tag_match& match,
                            detail::taken_message& found) noexcept {
  return look(
      [&](protocols::port& port) { return port.tagged().matched().take(source, match, found); });
}

status lane_questions::cancel(const completion& which) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!server_.enter_with_patience()) return busy_or_closed();
  if (!driver_.drain(batch)) {  // what is to be taken back may still be queued
    driver_.hand_over();
    batch.run();
    return status::busy_lane;
  }
  if (driver_.help().only_inline()) {  // nobody else would, ever
    driver_.parking().state().note_poll(&batch);
    driver_.advance(batch);
  }
  const status s = driver_.port().dispatch().cancel(which, batch);
  driver_.release(batch);
  batch.run();
  return s;
}

/// Takes nothing on: what is queued meanwhile is left to others, who are told.
template <class Question>
bool lane_questions::ask(Question&& question) {
  delivery_batch& batch = delivery_batch::mine();
  for (int i = 0; i < report_attempts; ++i) {
    if (!server_.enter_asking()) {
      usleep(between_attempts_us);
      continue;
    }
    std::exception_ptr problem;
    try {
      question(driver_.port());
    } catch (const std::exception&) {  // no memory: not without letting go
      problem = std::current_exception();
    }
    driver_.commands().pending() ? driver_.hand_over() : driver_.release(batch);
    batch.run();
    if (problem) std::rethrow_exception(problem);
    return true;
  }
  return false;
}

bool lane_questions::report(std::uint64_t now_ns, protocols::port_report& found) {
  return ask([&](protocols::port& port) { found = port.census().report(now_ns); });
}

bool lane_questions::count(std::vector<peer_counters>& into) {
  return ask([&](const protocols::port& port) { port.census().count(into); });
}

}  // namespace heddle::engine
