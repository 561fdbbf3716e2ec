// SPDX-License-Identifier: BSD-3-Clause
// convolution.cpp - threads with a block each, in either order, in turn: their parts, and the
// comparison with one thread's result.
#include "kernels/convolution.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <numeric>

#include "bench/commands.h"
#include "contenders/command.h"
#include "contenders/session.h"
#include "libraries/halo_exchange.h"

namespace heddle::bench {
namespace {

constexpr const char* details =
    R"(A matrix is cut into one block per thread, as many of them in a row as in a column
where that is possible. Every step applies a kernel of 5 x 5 to the whole matrix, so
that each block needs a frontier two items wide from up to eight neighbours. A step
that overlaps: compute1 (the own frontier), isend (receives and sends posted),
compute2 (the interior), wait (until the neighbours' frontiers are there). Without:
both computations, then communication. Times are per step and mean over the threads,
the total is that of the slowest thread. Edges between threads of one rank are
messages as well. Before measuring, some steps of either kind are compared with the
same matrix computed by one thread; a difference ends in status 3.

The source (Trahay, Denis, Aumage and Namyst, section 4.3) gives neither sizes nor
grid; 2 ranks with 2 threads each, and 2 with 8, are its two cases.)";

constexpr std::uint64_t verified_steps = 10;
constexpr double tolerated_difference = 1e-9;

/// The orders of a step, by whether they overlap.
const char* name_of_order(bool overlapped) {
  return overlapped ? "overlap" : "no-overlap";
}

/// The threads of this rank.
class team {
 public:
  /// `s` has the threads and lanes; blocks are `side` x `side`.
  team(session& in, const spec& s, int side)
      : in_(in), side_(side), grid_(block_grid::of(in.job().size() * s.threads)) {
    for (int t = 0; t < s.threads; ++t)
      workers_.emplace_back(in.at(), s, grid_, in.at().self() * s.threads + t, side);
  }
  [[nodiscard]] const block_grid& grid() const { return grid_; }

  /// Of a step, in us, on rank 0: that of the slowest thread, and the means of its parts.
  std::vector<double> run(std::uint64_t steps, bool overlapped) {
    std::vector<step_times> mine(workers_.size());
    in_.job().barrier();
    on_threads(static_cast<int>(workers_.size()), [&](int t) {
      const auto i = static_cast<std::size_t>(t);
      mine[i] = workers_[i].run(steps, overlapped);
    });
    const std::vector<step_times> all = collect(in_, std::span<const step_times>(mine));
    const double us = 1e6 / static_cast<double>(steps);
    std::vector<double> figures(1 + step::parts);
    for (const step_times& t : all) {
      figures[0] = std::max(figures[0], std::accumulate(t.begin(), t.end(), 0.0) * us);
      for (std::size_t i = 0; i < step::parts; ++i)
        figures[1 + i] += t[i] * us / static_cast<double>(all.size());
    }
    return figures;
  }

  /// Whether both orders give what one thread computes. The same answer on every rank.
  bool verify() {
    const block whole = convolve_alone(grid().rows * side_, grid().columns * side_,
                                       static_cast<int>(verified_steps));
    bool good = true;
    for (const bool overlapped : {true, false}) {
      const double off = difference(overlapped, whole);
      const bool fine = off <= tolerated_difference;
      good = good && fine;
      in_.print(fmt::format("{}: {} steps differ by at most {:.1e} from one thread's: {}",
                            name_of_order(overlapped), verified_steps, off,
                            fine ? "verified" : "FAILED"));
    }
    return agree(in_, good);
  }

  /// The same number on every rank, so that a round lasts about as long as asked.
  std::uint64_t steps_of_a_round() {
    constexpr std::uint64_t tried = 5;
    const double each = agree(in_, run(tried, false).front()) * 1e-6;
    const double time = std::chrono::duration<double>(in_.what().base.time).count();
    return static_cast<std::uint64_t>(std::clamp(time / std::max(each, 1e-9), 4.0, 1e6));
  }

 private:
  /// How far at most the blocks are from those of the whole matrix; on rank 0.
  double difference(bool overlapped, const block& whole) {
    for (worker& w : workers_) w.reset();
    (void)run(verified_steps, overlapped);
    double mine = 0;
    for (const worker& w : workers_) mine = std::max(mine, w.difference_from(whole));
    const std::vector<double> all = collect(in_, std::span<const double>(&mine, 1));
    return in_.reports() ? *std::ranges::max_element(all) : 0;
  }

  session& in_;
  const int side_;
  const block_grid grid_;
  std::deque<worker> workers_;
};

int run_convolution_in_job(const options& o, int side) {
  session in(o);
  spec s = o.base;
  s.threads = o.thread_counts.front();
  s.bytes = static_cast<std::uint64_t>(side) * reach * sizeof(double);  // of an edge
  team threads(in, s, side);
  in.print(
      fmt::format("convolution over {}, {} ranks, {} thread(s) each, {} x {} blocks of {} x {}, "
                  "edges of {} B: us per step",
                  in.backend(), o.ranks, s.threads, threads.grid().rows, threads.grid().columns,
                  side, side, s.bytes));
  if (!threads.verify()) return tools::corrupted;
  const std::uint64_t steps = threads.steps_of_a_round();
  case_result c{.what = s,
                .benchmark = o.benchmark,
                .metrics = {{"step", "us"},
                            {"compute1", "us"},
                            {"isend", "us"},
                            {"compute2", "us"},
                            {"wait", "us"}},
                .backend = in.backend(),
                .contenders = {},
                .comparisons = {{0, 1, "heddle", "ratio"}}};
  for (const bool overlapped : {true, false}) {
    const std::string name = name_of_order(overlapped);
    c.contenders.push_back({.label = name,
                            .library = "heddle",
                            .op = name,
                            .ranks = o.ranks,
                            .threads = s.threads,
                            .round = [&threads, overlapped, steps] {
                              return round_result{threads.run(steps, overlapped)};
                            }});
  }
  in.hold_rounds(c);
  in.conclude(c);
  in.write();
  in.job().barrier();
  return tools::success;
}

}  // namespace

void add_convolution(CLI::App& bench, int& code) {
  auto o = std::make_shared<options>();
  auto side = std::make_shared<int>(128);  // a step takes about as long as the source's
  o->benchmark = "convolution";
  o->thread_counts = {2};
  CLI::App& app = *bench.add_subcommand("convolution", "A stencil with halos, overlapping or not");
  app.footer(details);
  app.add_option("--block", *side, "rows and columns of a block")
      ->check(CLI::Range(8, 8192))
      ->capture_default_str();
  add_job(app, *o);
  add_thread_counts(app, *o);
  add_lanes(app, *o);
  app.callback([o, side, &code] {
    if (o->thread_counts.size() != 1)
      throw tools::usage_error("--threads takes one number here: it cuts the matrix");
    code = on_every_rank(*o, [&] { return run_convolution_in_job(*o, *side); });
  });
}

}  // namespace heddle::bench
