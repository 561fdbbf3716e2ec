// SPDX-License-Identifier: BSD-3-Clause
// session.cpp - joining, alternating, writing.
#include "contenders/session.h"

#include <cstdlib>

#include "contenders/rivals.h"
#include "harness/files.h"
#include "parts/bare.h"
#include "standard_output.h"

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<world> join(const options& o, const host_seats& seats) {
  if (o.backend != "auto") setenv("HEDDLE_BACKENDS", o.backend.c_str(), 1);
  if (!o.free_executors) seats.take_early(most_threads(o));
  return std::make_unique<world>();
}

/// One round of one contender. Only rank 0, whose child a rival is, learns that it failed.
void play(series& s, bool reports) {
  if (!s.failure.empty()) return;
  try {
    const round_result r = s.round();
    if (reports) add_round(s, r);
  } catch (const rival_failure& why) {
    s.failure = why.what();
  }
}

}  // namespace

void print_line(const std::string& line) {
  tools::print(line + '\n');
}

session::session(const options& o)
    : o_(o),
      seats_(o.bind),
      job_(join(o, seats_)),
      at_(*job_, o),
      backend_(job_->route(at_.partner())) {
  if (reports()) check_writable(o.json_file, "--json");
  seats_.meet(*job_, at_.first_lane());
  seats_.take(most_threads(o));
}

bare::core_pair session::pair() const {
  const std::vector<int> cores = seats_.pair(1);
  if (cores.empty()) return {};
  return {cores.front(), cores.back()};
}

double session::cache_line() const {
  return bare::cache_line_one_way(pair(), 20ms);
}

void session::hold_rounds(case_result& c) {
  print(round_heading(c));
  for (int round = 0; round < o_.rounds; ++round) play_round(c);
  at_.job().barrier();  // before anybody's buffers are withdrawn
}

/// The same order on every rank.
void session::play_round(case_result& c) {
  for (series& who : c.contenders) {
    at_.job().barrier();
    play(who, reports());
  }
  at_.job().barrier();
  if (!reports()) return;
  c.cache_line_ns.push_back(cache_line() * 1e9);
  print(round_line(c));
}

void session::conclude(const case_result& c) {
  if (!reports()) return;
  print(summary_table(c));
  const std::vector<record> more = records_of(c);
  records_.insert(records_.end(), more.begin(), more.end());
}

void session::print(const std::string& line) const {
  if (reports()) print_line(line);
}

void session::write() const {
  if (reports() && !o_.json_file.empty()) write_records(o_.json_file, records_);
}

}  // namespace heddle::bench
