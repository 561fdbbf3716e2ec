#include "bench/overlap.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "bench/memory.h"
#include "bench/record.h"
#include "bench/result_file.h"
#include "bench/run.h"
#include "bench/station.h"

namespace heddle::bench {
namespace {

double median_of(const std::vector<side_times>& all, double side_times::*field) {
  std::vector<double> values;
  for (const side_times& t : all) values.push_back(t.*field);
  return median(values);
}

/// One of two ranks that move one message at a time by tag.
class mover final : public overlap_side {
 public:
  mover(station& at, std::uint64_t bytes, buffer_kind where)
      : at_(at), lane_(at.lane_of(0)), memory_(at.job(), bytes, where, false) {}
  void prepare() override {
    const tag ready = tag_of(purpose::ready, 0);
    if (at_.initiates()) require(lane_.recv(at_.peer(), ready, {}).code, "hear of the receive");
    ended_.reset();
  }
  void post() override {
    const tag data = tag_of(purpose::data, 0);
    posted_ = at_.initiates() ? lane_.try_send(at_.peer(), data, memory_.bytes(), ended_)
                              : lane_.try_recv(at_.peer(), data, memory_.bytes(), ended_);
    require(posted_, "post");
    if (!at_.initiates()) {
      require(lane_.send(at_.peer(), tag_of(purpose::ready, 0), {}), "tell of the receive");
    }
  }
  void wait() override {
    if (posted_ == status::posted) require(lane_.wait(ended_), "complete");
  }

 private:
  station& at_;
  lane& lane_;
  buffer memory_;
  flag ended_;
  status posted_ = status::done;
};

/// Of one side, over the rounds.
struct side_series {
  std::vector<double> ratios;
  std::vector<side_times> alone, together;
};

side_round collect(station& at, const side_round& mine) {
  side_round theirs{};
  lane& l = at.lane_of(0);
  const tag t = tag_of(purpose::result, 0);
  if (at.self() == 1) {
    require(l.send(0, t, std::as_bytes(std::span(&mine, 1))), "report to rank 0");
  } else {
    require(l.recv(1, t, std::as_writable_bytes(std::span(&theirs, 1))).code, "collect");
  }
  return theirs;
}

void add(side_series& to, const side_round& p) {
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
  mover own(at, bytes, o.job.base.buffers);
  const std::uint64_t count = overlap_iterations(o.job.base.time, bytes, o.compute_us);
  const double seconds = computes(o.who, at.initiates()) ? o.compute_us * 1e-6 : 0;
  const std::string backend = at.job().route(at.peer());
  side_series sender, receiver;
  for (int round = 0; round < o.job.rounds; ++round) {
    const side_times alone = overlap_pass(own, count, 0);
    const side_times together = overlap_pass(own, count, seconds);
    const side_round mine{alone, together};
    const side_round theirs = collect(at, mine);
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

}  // namespace

void run_overlap_in_job(const overlap_options& o) {
  const std::unique_ptr<world> job = join(o.job);
  station at(*job, o.job);
  std::vector<record> records;
  if (at.self() == 0) check_writable(o.job.json_file, "--json");
  for (const std::uint64_t bytes : o.job.sizes) measure_size(o, at, bytes, records);
  if (at.self() == 0 && !o.job.json_file.empty()) write_records(o.job.json_file, records);
}

}  // namespace heddle::bench
