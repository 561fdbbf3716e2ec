// SPDX-License-Identifier: BSD-3-Clause
// session.cpp - sharing out the cores; joining, alternating, writing.
#include "contenders/session.h"

#include <heddle/collectives.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "contenders/rivals.h"
#include "harness/files.h"
#include "parts/cache_line.h"
#include "run/machine.h"
#include "standard_output.h"

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;

std::vector<int> first(std::vector<int> cpus, std::size_t count) {
  cpus.resize(std::min(count, cpus.size()));
  return cpus;
}

std::size_t at_least_one(int threads) {
  return static_cast<std::size_t>(std::max(threads, 1));
}

/// Core by core, where the system gives only numbers.
std::vector<int> in_order_of_cores(const std::vector<int>& cpus) {
  tools::binding_plan all = tools::plan_binding({}, tools::look_at_machine(cpus), 1);
  return all.cpus.empty() ? cpus : all.cpus.front();
}

std::unique_ptr<world> join(const options& o, const host_seats& seats) {
  if (o.backend != "auto") setenv("HEDDLE_BACKENDS", o.backend.c_str(), 1);
  if (!o.free_executors) seats.take_early(most_threads(o));
  return std::make_unique<world>();
}

}  // namespace

host_seats::host_seats(const tools::binding& how) : how_(how), mine_(bare::allowed_cores()) {}

// Whoever has started this rank may use more itself, unless it has bound nothing.
void host_seats::take_early(int threads) const {
  cpu_set_t parent;
  const bool known = sched_getaffinity(getppid(), sizeof parent, &parent) == 0;
  const bool bound = known && static_cast<std::size_t>(CPU_COUNT(&parent)) > mine_.size();
  if (bound && how_.what != tools::binding::unit::none)
    bare::pin_this_thread(first(in_order_of_cores(mine_), at_least_one(threads)));
}

void host_seats::meet(const world& job, lane& over) {
  const cpu_set_t own = bare::set_of(mine_);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(job.size()));
  require(allgather(over, std::span(&own, 1), std::span(all)), "tell which cores may be used");
  std::set<int> used;
  for (rank r = 0; r < job.size(); ++r) {
    if (job.host_number(r) != job.host_number(job.rank())) continue;
    if (r == job.rank()) own_ = ranks_.size();
    ranks_.push_back(r);
    seats_.push_back(bare::cores_in(all[static_cast<std::size_t>(r)]));
    used.insert(seats_.back().begin(), seats_.back().end());
  }
  cpus_ = used.size();
  if (how_.what == tools::binding::unit::none) return seats_.clear();
  const bool alike = std::all_of(seats_.begin(), seats_.end(),
                                 [this](const auto& seat) { return seat == seats_.front(); });
  if (alike && (ranks_.size() > 1 || how_.asked))
    seats_ =
        tools::plan_binding(how_, tools::look_at_machine(mine_), static_cast<int>(ranks_.size()))
            .cpus;
  else
    for (auto& seat : seats_) seat = in_order_of_cores(seat);
}

void host_seats::take(int threads) const {
  if (!seats_.empty()) bare::pin_this_thread(first(seats_[own_], at_least_one(threads)));
}

std::vector<int> host_seats::pair(int threads) const {
  if (seats_.empty()) return {};
  if (seats_.size() == 1) return {seats_[0][0], seats_[0][1 % seats_[0].size()]};
  const std::size_t count = std::min({at_least_one(threads), seats_[0].size(), seats_[1].size()});
  std::vector<int> cpus = first(seats_[0], count);
  cpus.insert(cpus.end(), seats_[1].begin(), seats_[1].begin() + static_cast<long>(count));
  return cpus;
}

bool host_seats::crowded(int ranks, int threads) const {
  const auto here =
      std::count_if(ranks_.begin(), ranks_.end(), [ranks](rank r) { return r < ranks; });
  return static_cast<std::size_t>(here) * at_least_one(threads) > cpus_;
}

void print_line(const std::string& line) {
  tools::print(line + '\n');
}

void results::conclude(const case_result& c) {
  print_line(summary_table(c));
  const std::vector<record> more = records_of(c);
  records_.insert(records_.end(), more.begin(), more.end());
}

void results::write(const std::string& json_file) const {
  if (!json_file.empty()) write_records(json_file, records_);
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

void session::hold_rounds(case_result& c) {
  print(round_heading(c));
  for (int round = 0; round < o_.rounds; ++round) {
    for (series& who : c.contenders) {  // the same order on every rank
      at_.job().barrier();
      play(who);
    }
    at_.job().barrier();
    if (!reports()) continue;
    c.cache_line_ns.push_back(bare::cache_line_one_way(pair(), 20ms) * 1e9);
    print(round_line(c));
  }
  at_.job().barrier();  // before anybody's buffers are withdrawn
}

/// One round of one contender. Only rank 0, whose child a rival is, learns that it failed.
void session::play(series& who) const {
  if (!who.failure.empty()) return;
  try {
    const round_result r = who.round();
    if (reports()) add_round(who, r);
  } catch (const rival_failure& why) {
    who.failure = why.what();
  }
}

void session::conclude(const case_result& c) {
  if (reports()) results_.conclude(c);
}

void session::print(const std::string& line) const {
  if (reports()) print_line(line);
}

void session::write() const {
  if (reports()) results_.write(o_.json_file);
}

}  // namespace heddle::bench
