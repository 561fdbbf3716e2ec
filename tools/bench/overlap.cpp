#include "bench/overlap.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "bench/command.h"
#include "bench/memory.h"
#include "bench/record.h"
#include "bench/station.h"
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

/// Of one side, over the rounds.
struct side_series {
  std::vector<double> ratios;
  std::vector<side_times> alone, together;
};

struct round_pair {
  side_times alone, together;
};

round_pair collect(station& at, const round_pair& mine) {
  round_pair theirs{};
  lane& l = at.first_lane();
  const tag t = tag_of(purpose::result, 0);
  if (at.self() == 1) {
    require(l.send(0, t, std::as_bytes(std::span(&mine, 1))), "report to rank 0");
  } else {
    require(l.recv(1, t, std::as_writable_bytes(std::span(&theirs, 1))).code, "collect");
  }
  return theirs;
}

void add(side_series& to, const round_pair& p) {
  to.ratios.push_back(overlap_ratio(p.alone.total, p.together.compute, p.together.total));
  to.alone.push_back(p.alone);
  to.together.push_back(p.together);
}

void print_side(const char* name, const side_series& s) {
  const auto us = [](double seconds) { return seconds * 1e6; };
  fmt::print(
      "{:<9} {:>7.3f} {:>10.1f} {:>10.1f} {:>9.1f} {:>9.1f} {:>9.1f}\n", name, median(s.ratios),
      us(median_of(s.alone, &side_times::total)), us(median_of(s.together, &side_times::total)),
      us(median_of(s.together, &side_times::post)), us(median_of(s.together, &side_times::compute)),
      us(median_of(s.together, &side_times::wait)));
  std::fflush(stdout);
}

record record_of(const char* side, const std::string& backend, std::uint64_t bytes,
                 const side_series& s) {
  record r{.benchmark = "overlap",
           .op = side,
           .backend = backend,
           .library = "heddle",
           .bytes = bytes,
           .metric = "overlap_ratio",
           .unit = "1"};
  set_statistics(r, summarize(s.ratios));
  return r;
}

void measure_size(const overlap_options& o, station& at, std::uint64_t bytes,
                  std::vector<record>& records) {
  const bool computes = o.who == computing::both || (o.who == computing::sender) == at.initiates();
  mover own(at, bytes, o.job.base.buffers);
  const std::uint64_t count = iterations(o, bytes);
  const std::string backend = at.job().route(at.peer());
  side_series sender, receiver;
  for (int round = 0; round < o.job.rounds; ++round) {
    const side_times alone = own.pass(count, 0);
    const side_times together = own.pass(count, computes ? o.compute_us * 1e-6 : 0);
    const round_pair mine{alone, together};
    const round_pair theirs = collect(at, mine);
    add(sender, mine);
    add(receiver, theirs);
  }
  if (at.self() != 0) return at.job().barrier();
  fmt::print("overlap tag {} B over {}, computing {} us\n", bytes, backend, o.compute_us);
  fmt::print("{:<9} {:>7} {:>10} {:>10} {:>9} {:>9} {:>9}\n", "side", "overlap", "alone, us",
             "total, us", "post", "compute", "wait");
  if (o.who != computing::receiver) print_side("sender", sender);
  if (o.who != computing::sender) print_side("receiver", receiver);
  if (o.who != computing::receiver) records.push_back(record_of("sender", backend, bytes, sender));
  if (o.who != computing::sender)
    records.push_back(record_of("receiver", backend, bytes, receiver));
  at.job().barrier();
}

void run_overlap_in_job(const overlap_options& o) {
  const std::unique_ptr<world> job = join(o.job);
  station at(*job, o.job);
  std::vector<record> records;
  if (at.self() == 0) check_writable(o.job.json_file, "--json");
  for (const std::uint64_t bytes : o.job.sizes) measure_size(o, at, bytes, records);
  if (at.self() == 0 && !o.job.json_file.empty()) write_records(o.job.json_file, records);
}

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
  add_job(app, o->job);
  app.callback([o, &code] {
    if (o->job.sizes.empty()) o->job.sizes = {std::uint64_t{1} << 20};
    code = on_every_rank(o->job, [&] { run_overlap_in_job(*o); });
  });
}

}  // namespace heddle::bench
