// SPDX-License-Identifier: BSD-3-Clause
// convolution.cpp - both orders in turn, their parts, and the comparison with one thread's result.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <numeric>

#include "bench/commands.h"
#include "contenders/command.h"
#include "contenders/session.h"
#include "harness/threads.h"
#include "libraries/heddle.h"

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

struct convolution_options {
  options job;
  int side = 128;  // a step takes about as long as the source's
};

constexpr std::uint64_t verified_steps = 10;
constexpr double tolerated_difference = 1e-9;

/// The threads of this rank.
class team {
  using worker = convolution_worker<heddle_edges>;

 public:
  team(session& in, const convolution_options& o)
      : in_(in), spec_(spec_for(o)), edges_(in.at(), spec_) {
    for (int t = 0; t < spec_.threads; ++t)
      workers_.push_back(std::make_unique<worker>(edges_, spec_, o.side, t));
  }
  [[nodiscard]] const block_grid& grid() const { return workers_.front()->grid(); }

  /// Of a step, in us, on rank 0: that of the slowest thread, and the means of its parts.
  std::vector<double> run(std::uint64_t steps, step_order order) {
    std::vector<step_times> mine(workers_.size());
    in_.job().barrier();
    on_threads(spec_.threads, [&](int t) {
      const auto i = static_cast<std::size_t>(t);
      mine[i] = workers_[i]->run(steps, order);
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

  /// How far at most the blocks are from those of the whole matrix; on rank 0.
  double difference(step_order order, const block& whole) {
    for (const auto& w : workers_) w->reset();
    (void)run(verified_steps, order);
    double mine = 0;
    for (const auto& w : workers_) mine = std::max(mine, w->difference_from(whole));
    const std::vector<double> all = collect(in_, std::span<const double>(&mine, 1));
    return in_.reports() ? *std::ranges::max_element(all) : 0;
  }

 private:
  static spec spec_for(const convolution_options& o) {
    spec s = o.job.base;
    s.threads = o.job.thread_counts.front();
    return s;
  }

  session& in_;
  const spec spec_;
  heddle_edges edges_;
  std::vector<std::unique_ptr<worker>> workers_;
};

/// One of the two orders, over the rounds.
struct variant {
  const char* name;
  step_order order;
};

/// The same number on every rank, so that a round lasts about as long as asked.
std::uint64_t steps_of_a_round(session& in, team& threads) {
  constexpr std::uint64_t tried = 5;
  const double each = agree(in, threads.run(tried, step_order::one_after_the_other).front()) * 1e-6;
  const double time = std::chrono::duration<double>(in.what().base.time).count();
  return static_cast<std::uint64_t>(std::clamp(time / std::max(each, 1e-9), 4.0, 1e6));
}

/// Whether both orders give what one thread computes. The same answer on every rank.
bool verify(session& in, team& threads, int side, const std::vector<variant>& variants) {
  const block_grid& grid = threads.grid();
  const block whole =
      convolve_alone(grid.rows * side, grid.columns * side, static_cast<int>(verified_steps));
  bool good = true;
  for (const variant& v : variants) {
    const double difference = threads.difference(v.order, whole);
    const bool fine = difference <= tolerated_difference;
    good = good && fine;
    in.print(fmt::format("{}: {} steps differ by at most {:.1e} from one thread's: {}", v.name,
                         verified_steps, difference, fine ? "verified" : "FAILED"));
  }
  return agree(in, good);
}

/// Bytes of an edge.
std::uint64_t halo_bytes(const convolution_options& o) {
  return static_cast<std::uint64_t>(o.side) * reach * sizeof(double);
}

std::string title_of(const session& in, const convolution_options& o, const block_grid& grid) {
  return fmt::format(
      "convolution over {}, {} ranks, {} thread(s) each, {} x {} blocks of {} x {}, edges of {} B: "
      "us per step",
      in.backend(), o.job.ranks, o.job.thread_counts.front(), grid.rows, grid.columns, o.side,
      o.side, halo_bytes(o));
}

/// Of both orders, a round of so many steps.
case_result case_of(const session& in, const convolution_options& o, team& threads,
                    std::uint64_t steps, const std::vector<variant>& variants) {
  spec s = o.job.base;
  s.bytes = halo_bytes(o);
  std::vector<series> all;
  for (const variant& v : variants) {
    all.push_back({.label = v.name,
                   .library = "heddle",
                   .op = v.name,
                   .ranks = o.job.ranks,
                   .threads = o.job.thread_counts.front()});
    all.back().round = [&threads, order = v.order, steps] {
      return round_result{threads.run(steps, order)};
    };
  }
  return {.what = s,
          .benchmark = o.job.benchmark,
          .metrics = {{"step", "us"},
                      {"compute1", "us"},
                      {"isend", "us"},
                      {"compute2", "us"},
                      {"wait", "us"}},
          .backend = in.backend(),
          .contenders = all,
          .comparisons = {{0, 1, "heddle", "ratio"}}};
}

int run_convolution_in_job(const convolution_options& o) {
  session in(o.job);
  team threads(in, o);
  in.print(title_of(in, o, threads.grid()));
  const std::vector<variant> variants{{"overlap", step_order::overlapped},
                                      {"no-overlap", step_order::one_after_the_other}};
  if (!verify(in, threads, o.side, variants)) return tools::corrupted;
  case_result c = case_of(in, o, threads, steps_of_a_round(in, threads), variants);
  in.hold_rounds(c);
  in.conclude(c);
  in.write();
  in.job().barrier();
  return tools::success;
}

void check(const convolution_options& o) {
  if (o.job.thread_counts.size() != 1) {
    throw tools::usage_error("--threads takes one number here: it cuts the matrix");
  }
}

}  // namespace

void add_convolution(CLI::App& bench, int& code) {
  auto o = std::make_shared<convolution_options>();
  o->job.benchmark = "convolution";
  o->job.thread_counts = {2};
  CLI::App& app = *bench.add_subcommand("convolution", "A stencil with halos, overlapping or not");
  app.footer(details);
  app.add_option("--block", o->side, "rows and columns of a block")
      ->check(CLI::Range(8, 8192))
      ->capture_default_str();
  add_job(app, o->job);
  add_thread_counts(app, o->job);
  add_lanes(app, o->job);
  app.callback([o, &code] {
    check(*o);
    code = on_every_rank(o->job, [&] { return run_convolution_in_job(*o); });
  });
}

}  // namespace heddle::bench
