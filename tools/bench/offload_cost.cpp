// offload_cost.cpp - the same gets inline and handed to an executor, a world for each turn.
#include "bench/offload_cost.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "bench/exchange.h"
#include "bench/laps.h"
#include "bench/mode_turns.h"
#include "bench/offload_report.h"
#include "bench/result_file.h"
#include "bench/statistics.h"
#include "exit_status.h"
#include "parts/bare.h"

namespace heddle::bench {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t dropped_samples = 1000, most_samples = 200'000;

/// Thread 0 of the initiating rank, one get at a time.
class single_gets {
 public:
  single_gets(session& in, const equipment& gear)
      : lane_(in.at().first_lane()), into_(gear.landing(0, 0)), from_(gear.their_table().at(0)) {}

  get_times measure(milliseconds time) {
    const clock::time_point end = clock::now() + time;
    for (clock::time_point now = clock::now(); now < end && overheads_.size() < most_samples;) {
      now = get();
    }
    return {median_of(overheads_) - clock_cost(), median_of(latencies_)};
  }

 private:
  /// Until accepted, complete; returns when.
  clock::time_point get() {
    ended_.reset();
    const clock::time_point begin = clock::now();
    const status posted = lane_.try_get(into_, from_, ended_);
    const clock::time_point handed_in = clock::now();
    require(posted, "get");
    if (posted == status::posted) require(lane_.wait(ended_), "get");
    const clock::time_point end = clock::now();
    overheads_.push_back(seconds_between(begin, handed_in));
    latencies_.push_back(seconds_between(begin, end));
    return end;
  }
  /// Without the first ones, but no less than half of them.
  static double median_of(const std::vector<double>& all) {
    const std::size_t dropped = std::min(dropped_samples, all.size() / 2);
    return median({all.begin() + static_cast<std::ptrdiff_t>(dropped), all.end()});
  }

  lane& lane_;
  std::span<std::byte> into_;
  remote_address from_;
  flag ended_;
  std::vector<double> overheads_, latencies_;
};

/// Rounds of one size, on every rank; only the first rank's figures count.
class offload_turns {
 public:
  offload_turns(const options& o, const mode_turns& turns, std::uint64_t bytes)
      : o_(o), turns_(turns), spec_(o.base) {
    spec_.bytes = bytes;
    spec_.buffers = buffer_kind::plain;  // what is mapped is copied within the call in any mode
  }
  offload_round next() {
    offload_round r;
    r.inline_get = play("inline", r.cache_line);
    r.offloaded = play("dedicated", r.cache_line);
    return r;
  }
  [[nodiscard]] bool reports() const noexcept { return reports_; }

 private:
  /// The executors have started, unbound, when this thread is tied to its core.
  get_times play(const char* mode, double& cache_line) {
    const std::unique_ptr<session> in = turns_.join(mode);
    const std::vector<int>& cores = turns_.cores();
    bare::pin_this_thread(cores.front());
    const equipment gear(in->at(), spec_);
    reports_ = in->reports();
    get_times times;
    in->job().barrier();
    if (reports_) {
      times = single_gets(*in, gear).measure(o_.base.time);
      cache_line =
          bare::cache_line_one_way({cores.front(), cores[1 % cores.size()]}, milliseconds(20));
    }
    in->job().barrier();  // before anybody's buffers are withdrawn
    return times;
  }

  const options& o_;
  const mode_turns& turns_;
  spec spec_;
  bool reports_ = false;
};

/// The records on rank 0, elsewhere nothing.
std::vector<record> measure_size(const options& o, const mode_turns& turns, std::uint64_t bytes) {
  offload_turns play(o, turns, bytes);
  std::vector<offload_round> rounds;
  for (int round = 1; round <= o.rounds; ++round) {
    rounds.push_back(play.next());
    if (!play.reports()) continue;
    if (round == 1)
      print_line(fmt::format("offloaded get {} B over shm\n{}", bytes, offload_heading()));
    print_line(offload_line(round, rounds.back()));
  }
  if (!play.reports()) return {};
  print_line(offload_summary(rounds));
  return offload_records(bytes, rounds);
}

}  // namespace

void check_offload_cost(const options& o) {
  if (o.backend == "tcp") throw tools::usage_error("--offload is for --backend shm");
  if (o.ranks != 2) throw tools::usage_error("--offload is for --ranks 2");
  if (o.thread_counts != std::vector{1}) throw tools::usage_error("--offload is for --threads 1");
}

void run_offload_cost_in_job(const options& o) {
  options mine = o;
  mine.backend = "shm";
  const mode_turns turns(mine);
  const int second = turns.cores()[1 % turns.cores().size()];
  setenv("HEDDLE_EXECUTOR_CORES", std::to_string(second).c_str(), 0);
  std::vector<record> records;
  for (const std::uint64_t bytes : o.sizes) {
    const std::vector<record> more = measure_size(mine, turns, bytes);
    records.insert(records.end(), more.begin(), more.end());
  }
  if (!records.empty() && !o.json_file.empty()) write_records(o.json_file, records);
}

}  // namespace heddle::bench
