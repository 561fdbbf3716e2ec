#include "bench/overlap.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "bench/memory.h"
#include "bench/overlap_report.h"
#include "bench/result_file.h"
#include "bench/rival_runner.h"
#include "bench/run.h"
#include "bench/station.h"

namespace heddle::bench {
namespace {

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

std::unique_ptr<rival_runner> runner_for(rival who, const overlap_options& o, std::uint64_t bytes,
                                         const std::string& backend) {
  rival_task t{.what = o.job.base,
               .backend = backend,
               .limit = std::chrono::seconds(o.job.rival_limit_s),
               .overlap = overlap_task{o.who, o.compute_us}};
  t.what.bytes = bytes;
  if (o.job.bind_cores) t.cores = bare::allowed_cores();
  return make_rival_runner(who, t);
}

/// A round of Heddle, on both ranks.
void play_heddle(const overlap_options& o, station& at, mover& own, overlap_case& c) {
  const std::uint64_t count = overlap_iterations(o.job.base.time, c.bytes, o.compute_us);
  const double seconds = computes(o.who, at.initiates()) ? o.compute_us * 1e-6 : 0;
  const side_times alone = overlap_pass(own, count, 0);
  const side_round mine{alone, overlap_pass(own, count, seconds)};
  c.libraries.front().sender.push_back(mine);
  c.libraries.front().receiver.push_back(collect(at, mine));
}

/// A round of a rival, on rank 0 while the other one sleeps. One that fails is left out from then
/// on.
void play_rival(rival_runner& runner, overlap_series& s) {
  if (!s.failure.empty()) return;
  try {
    const auto [sender, receiver] = runner.next().sides.value();
    s.sender.push_back(sender);
    s.receiver.push_back(receiver);
  } catch (const rival_failure& why) {
    s.failure = why.what();
  }
}

void measure_size(const overlap_options& o, station& at, std::uint64_t bytes,
                  std::vector<record>& records) {
  mover own(at, bytes, o.job.base.buffers);
  overlap_case c{o.who, o.compute_us, bytes, at.job().route(at.peer()), {{.library = "heddle"}}};
  std::vector<std::unique_ptr<rival_runner>> rivals;
  for (const rival r : o.job.rivals) {
    rivals.push_back(runner_for(r, o, bytes, c.backend));
    c.libraries.push_back({.library = name_of(r)});
  }
  for (int round = 0; round < o.job.rounds; ++round) {
    play_heddle(o, at, own, c);
    for (std::size_t i = 0; i < rivals.size() && at.self() == 0; ++i) {
      play_rival(*rivals[i], c.libraries[i + 1]);
    }
    at.job().barrier();
  }
  if (at.self() != 0) return;
  fmt::print("{}", overlap_table(c));
  std::fflush(stdout);
  const std::vector<record> more = overlap_records(c);
  records.insert(records.end(), more.begin(), more.end());
}

}  // namespace

void check_overlap_options(const overlap_options& o) {
  for (const rival r : o.job.rivals) (void)runner_for(r, o, 0, o.job.backend);
}

void run_overlap_in_job(const overlap_options& o) {
  const std::unique_ptr<world> job = join(o.job);
  station at(*job, o.job);
  std::vector<record> records;
  if (at.self() == 0) check_writable(o.job.json_file, "--json");
  for (const std::uint64_t bytes : o.job.sizes) measure_size(o, at, bytes, records);
  if (at.self() == 0 && !o.job.json_file.empty()) write_records(o.job.json_file, records);
}

}  // namespace heddle::bench
