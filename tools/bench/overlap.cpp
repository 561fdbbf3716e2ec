#include "bench/overlap.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "bench/command.h"
#include "bench/memory.h"
#include "bench/session.h"
#include "bench/threads.h"

namespace heddle::bench {
namespace {

/// Touches no memory that anybody else uses.
void compute(double seconds) {
  const clock::time_point begin = clock::now();
  while (seconds_between(begin, clock::now()) < seconds) {
  }
}

/// Iterations of one pass, the same on both sides: about a round's time, at 1 GB/s and 20 us.
std::uint64_t iterations(const overlap_options& o, std::uint64_t bytes) {
  const double each = o.compute_us * 1e-6 + 20e-6 + static_cast<double>(bytes) * 1e-9;
  const double time = std::chrono::duration<double>(o.job.base.time).count() / 2;
  return static_cast<std::uint64_t>(std::clamp(time / each, 5.0, 1e5));
}

double median_of(const std::vector<side_times>& all, double side_times::*field) {
  std::vector<double> values;
  for (const side_times& t : all) values.push_back(t.*field);
  return median(values);
}

/// One of two ranks that move one message at a time.
class mover {
 public:
  mover(station& at, std::uint64_t bytes, buffer_kind where)
      : at_(at), lane_(at.first_lane()), memory_(at.job(), bytes, where, false) {}

  /// `count` iterations with `seconds` of computing between posting and waiting.
  side_times pass(std::uint64_t count, double seconds) {
    std::vector<side_times> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(iterate(seconds));
    return {median_of(all, &side_times::post), median_of(all, &side_times::compute),
            median_of(all, &side_times::wait), median_of(all, &side_times::total)};
  }

 private:
  /// The sender begins when it hears that the receive is posted.
  side_times iterate(double seconds) {
    const rank peer = at_.peer();
    flag ended;
    status posted = status::done;
    clock::time_point begin, after_post;
    if (at_.initiates()) {
      require(lane_.recv(peer, tag_of(purpose::ready, 0), {}).code, "hear of the receive");
      begin = clock::now();
      posted = lane_.try_send(peer, tag_of(purpose::data, 0), memory_.bytes(), ended);
      after_post = clock::now();
    } else {
      begin = clock::now();
      posted = lane_.try_recv(peer, tag_of(purpose::data, 0), memory_.bytes(), ended);
      require(lane_.send(peer, tag_of(purpose::ready, 0), {}), "tell of the receive");
      after_post = clock::now();
    }
    require(posted, "post");
    if (seconds > 0) compute(seconds);
    const clock::time_point computed = clock::now();
    if (posted == status::posted) require(lane_.wait(ended), "complete");
    const clock::time_point end = clock::now();
    return {seconds_between(begin, after_post), seconds_between(after_post, computed),
            seconds_between(computed, end), seconds_between(begin, end)};
  }

  station& at_;
  lane& lane_;
  buffer memory_;
};

/// Of one side, in one round.
struct round_pair {
  side_times alone, together;
};

/// Of one side, over the rounds.
struct side_series {
  const char* name;
  bool computes;
  std::vector<double> ratios = {};
  std::vector<side_times> alone = {}, together = {};
};

void add(side_series& to, const round_pair& p) {
  to.ratios.push_back(overlap_ratio(p.alone.total, p.together.compute, p.together.total));
  to.alone.push_back(p.alone);
  to.together.push_back(p.together);
}

std::string line_of(const side_series& s) {
  const auto us = [](const std::vector<side_times>& all, double side_times::*field) {
    return median_of(all, field) * 1e6;
  };
  return fmt::format("{:<9} {:>7.3f} {:>10.1f} {:>10.1f} {:>9.1f} {:>9.1f} {:>9.1f}", s.name,
                     median(s.ratios), us(s.alone, &side_times::total),
                     us(s.together, &side_times::total), us(s.together, &side_times::post),
                     us(s.together, &side_times::compute), us(s.together, &side_times::wait));
}

/// The ratio, and the parts of an iteration that computes.
std::vector<record> records_of(session& in, std::uint64_t bytes, const side_series& s) {
  const auto make = [&](const char* metric, const char* unit, const std::vector<double>& rounds) {
    record r{.benchmark = "overlap",
             .op = s.name,
             .backend = in.backend(),
             .library = "heddle",
             .ranks = in.what().ranks,
             .bytes = bytes,
             .metric = metric,
             .unit = unit};
    set_statistics(r, summarize(rounds));
    return r;
  };
  const auto part = [&](const char* metric, const std::vector<side_times>& all,
                        double side_times::*field) {
    std::vector<double> us;
    for (const side_times& t : all) us.push_back(t.*field * 1e6);
    return make(metric, "us", us);
  };
  return {make("overlap_ratio", "1", s.ratios),
          part("alone", s.alone, &side_times::total),
          part("total", s.together, &side_times::total),
          part("isend", s.together, &side_times::post),
          part("compute", s.together, &side_times::compute),
          part("wait", s.together, &side_times::wait)};
}

void report(session& in, const overlap_options& o, std::uint64_t bytes,
            const std::vector<side_series>& sides) {
  in.print(
      fmt::format("overlap tag {} B over {}, computing {} us\n{:<9} {:>7} {:>10} {:>10} "
                  "{:>9} {:>9} {:>9}",
                  bytes, in.backend(), o.compute_us, "side", "overlap", "alone, us", "total, us",
                  "isend", "compute", "wait"));
  for (const side_series& s : sides) {
    if (!s.computes) continue;
    in.print(line_of(s));
    in.keep(records_of(in, bytes, s));
  }
}

void measure_size(session& in, const overlap_options& o, std::uint64_t bytes) {
  std::vector<side_series> sides{{"sender", o.who != computing::receiver},
                                 {"receiver", o.who != computing::sender}};
  mover own(in.at(), bytes, o.job.base.buffers);
  const bool computes = sides[in.at().initiates() ? 0 : 1].computes;
  const std::uint64_t count = iterations(o, bytes);
  for (int round = 0; round < o.job.rounds; ++round) {
    const side_times alone = own.pass(count, 0);
    const side_times together = own.pass(count, computes ? o.compute_us * 1e-6 : 0);
    const round_pair mine{alone, together};
    const std::vector<round_pair> all = collect(in, std::span(&mine, 1));
    if (!in.reports()) continue;
    for (std::size_t side = 0; side < sides.size(); ++side) add(sides[side], all[side]);
  }
  if (in.reports()) report(in, o, bytes, sides);
  in.job().barrier();
}

void run_overlap_in_job(const overlap_options& o) {
  session in(o.job);
  for (const std::uint64_t bytes : o.job.sizes) measure_size(in, o, bytes);
  in.write();
}

/// The two questions of the source: do small messages leave at once, do large ones go on without
/// us.
void add_presets(CLI::App& app, overlap_options& o) {
  const auto small = [&o] {
    o.job.sizes = {8, 64, 512, 4096};
    o.compute_us = 20;
  };
  const auto rendezvous = [&o] {
    o.job.sizes = {std::uint64_t{128} << 10, std::uint64_t{512} << 10, std::uint64_t{2} << 20};
    o.compute_us = 100;
  };
  CLI::Option* const first = app.add_flag_callback(
      "--small", small, "20 us of computing, 8 B to 4 KiB: sent at once by every backend");
  CLI::Option* const second = app.add_flag_callback(
      "--rendezvous", rendezvous, "100 us of computing, 128 KiB to 2 MiB: sent by rendezvous");
  second->excludes(first);
  for (const char* const name : {"--sizes", "--compute-us"}) {
    first->excludes(app.get_option(name));
    second->excludes(app.get_option(name));
  }
}

constexpr const char* details =
    R"(A message is sent to a posted receive, without computing and with --compute-us of
it between posting and waiting. The ratio is the share of the shorter one of both
that hides behind the other: (alone + computed - total) / min(alone, computed). 1 is
all of it, 0 nothing. isend is the call that starts the transfer, on the receiver's
side the posting of the receive and telling the sender of it. Computing is a loop
over the clock that touches no memory. The figures are those of the first pair of
ranks. After Trahay, Denis, Aumage and Namyst, who had an idle core on each side.)";

}  // namespace

const std::map<std::string, computing>& computing_names() {
  static const std::map<std::string, computing> names{
      {"sender", computing::sender}, {"receiver", computing::receiver}, {"both", computing::both}};
  return names;
}

void add_overlap(CLI::App& bench, int& code) {
  auto o = std::make_shared<overlap_options>();
  o->job.bind_cores = false;
  CLI::App& app = *bench.add_subcommand("overlap", "How much of a transfer hides behind computing");
  add_sizes(app, o->job.sizes, "bytes, such as 8,1K,4M (default: 1M)");
  app.add_option("--compute-us", o->compute_us, "microseconds of computing")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  add_choice(app, "--computing", o->who, computing_names(),
             "which side computes between posting and waiting")
      ->default_str("both");
  add_presets(app, *o);
  add_job(app, o->job);
  app.footer(details);
  app.callback([o, &code] {
    check_options(o->job);
    if (o->job.sizes.empty()) o->job.sizes = {std::uint64_t{1} << 20};
    code = on_every_rank(o->job, [&] { run_overlap_in_job(*o); });
  });
}

}  // namespace heddle::bench
