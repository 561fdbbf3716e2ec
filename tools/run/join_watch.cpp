// SPDX-License-Identifier: BSD-3-Clause
#include "run/join_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace heddle::tools {
namespace {

constexpr std::uint64_t first_word_s = 5;
constexpr std::size_t most_names = 4;

/// After 5 seconds, and then each time that four times as many have passed.
bool is_time_for_a_word(std::uint64_t seconds) {
  std::uint64_t due = first_word_s;
  while (due < seconds) due *= 4;
  return due == seconds;
}

std::string limit_in_words(std::uint64_t seconds) {
  return seconds == 0 ? "without limit (HEDDLE_JOIN_TIMEOUT_MS=0)"
                      : fmt::format("at most {} s (HEDDLE_JOIN_TIMEOUT_MS)", seconds);
}

}  // namespace

join_watch::join_watch(meeting_rounds& meetings, int size, teller tell)
    : meetings_(meetings), tell_(std::move(tell)), members_(static_cast<std::size_t>(size)) {}

void join_watch::process_started(int rank, pid_t process, const std::string& host) {
  member& m = members_[static_cast<std::size_t>(rank)];
  m.process = process;
  m.host = host;
}

void join_watch::begin(int rank, int round, std::uint64_t limit_ms) {
  member& m = members_[static_cast<std::size_t>(rank)];
  m.joins = true;
  m.round = round;
  m.limit_s = limit_ms / 1000 + (limit_ms % 1000 != 0 ? 1 : 0);
}

void join_watch::end(int rank) {
  members_[static_cast<std::size_t>(rank)].joins = false;
  set_waiting(rank, false);
}

void join_watch::set_waiting(int rank, bool waits) {
  member& m = members_[static_cast<std::size_t>(rank)];
  m.waits = waits;
  m.ticks = 0;
}

bool join_watch::somebody_waits() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const member& m) { return m.joins && m.waits; });
}

void join_watch::tick() {
  // Nobody waits in vain while there are ranks to be started.
  if (std::any_of(members_.begin(), members_.end(), [](const member& m) { return m.process == 0; }))
    return meetings_.tell_of_starts();
  std::map<int, const member*> longest;  // by round
  for (member& m : members_) {
    if (!m.joins || !m.waits) continue;
    ++m.ticks;
    const member*& so_far = longest[m.round];
    if (so_far == nullptr || so_far->ticks < m.ticks) so_far = &m;
  }
  for (const auto& [round, m] : longest) look_at(round, *m);
}

// The limit of the one that has waited for longest counts: all have the same but in odd jobs.
void join_watch::look_at(int round, const member& longest) {
  // The first tick ends a second that had begun before the waiting did.
  const std::uint64_t waited = longest.ticks - 1, limit = longest.limit_s;
  const bool over = limit != 0 && waited >= limit;
  if (!over && !is_time_for_a_word(waited)) return;
  const std::string whom = names_of(meetings_.missing(round));
  if (over)
    meetings_.give_up(round,
                      fmt::format("waited {} s in vain for {}: is it stopped, or does its program "
                                  "make no world? HEDDLE_JOIN_TIMEOUT_MS sets how long ranks wait "
                                  "for each other at the start, 0: without limit",
                                  waited, whom));
  else
    tell_(fmt::format("waiting for {}: {} s so far, {}", whom, waited, limit_in_words(limit)));
}

std::string join_watch::names_of(const std::vector<int>& ranks) const {
  std::string names;
  for (std::size_t i = 0; i < std::min(ranks.size(), most_names); ++i) {
    const member& m = members_[static_cast<std::size_t>(ranks[i])];
    names += fmt::format("{}rank {} (host {}, process {})", i == 0 ? "" : ", ", ranks[i], m.host,
                         m.process);
  }
  if (ranks.size() > most_names) names += fmt::format(" and {} more", ranks.size() - most_names);
  return names;
}

}  // namespace heddle::tools
