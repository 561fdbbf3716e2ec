// convolution_worker.cpp - halos by tagged messages, before or while the interior is computed.
#include "bench/convolution_worker.h"

#include "bench/threads.h"

namespace heddle::bench {
namespace {

/// A message is known by the thread that sends it and the direction it goes.
tag tag_of_edge(int thread, std::size_t way) {
  return tag_of(purpose::data,
                thread * static_cast<int>(directions.size()) + static_cast<int>(way));
}

template <class Attempt>
status post_on(lane& l, flag& f, Attempt&& attempt) {
  f.reset();
  status s = attempt(completion(f));
  while (is_busy(s)) {
    l.poll();
    s = attempt(completion(f));
  }
  require(s, "exchange halos");
  return s;
}

/// Takes the time from one call to the next.
class lap_clock {
 public:
  void lap(double& sum) {
    const clock::time_point now = clock::now();
    sum += seconds_between(last_, now);
    last_ = now;
  }

 private:
  clock::time_point last_ = clock::now();
};

}  // namespace

convolution_worker::convolution_worker(station& at, const spec& s, int side, int thread)
    : grid_(block_grid::of(at.job().size() * s.threads)),
      side_(side),
      number_(at.self() * s.threads + thread),
      thread_(thread),
      block_(side, side) {
  for (std::size_t way = 0; way < directions.size(); ++way) {
    const int neighbor = grid_.neighbor(number_, directions[way]);
    if (neighbor >= 0) add_edge(at, s, way, neighbor);
  }
  reset();
}

void convolution_worker::add_edge(station& at, const spec& s, std::size_t way, int neighbor) {
  const int their_thread = neighbor % s.threads;
  const std::size_t items = block_.frontier(directions[way]).items();
  edges_.push_back({.way = way,
                    .peer = neighbor / s.threads,
                    .out = &at.lane_of(s, thread_),
                    .in = &at.lane_of(s, their_thread),
                    .sent_tag = tag_of_edge(thread_, way),
                    .received_tag = tag_of_edge(their_thread, opposite(way)),
                    .sent = std::vector<double>(items),
                    .received = std::vector<double>(items)});
}

void convolution_worker::reset() {
  const rectangle where{number_ / grid_.columns * side_, number_ % grid_.columns * side_, side_,
                        side_};
  fill(block_, where, grid_.rows * side_, grid_.columns * side_);
}

step_times convolution_worker::run(std::uint64_t steps, step_order order) {
  step_times sums;
  const clock::time_point begin = clock::now();
  lap_clock watch;
  for (std::uint64_t i = 0; i < steps; ++i) {
    block_.compute_frontier();
    watch.lap(sums.compute1);
    if (order == step_order::one_after_the_other) {
      block_.compute_interior();
      watch.lap(sums.compute2);
    }
    post();
    watch.lap(sums.isend);
    if (order == step_order::overlapped) {
      block_.compute_interior();
      watch.lap(sums.compute2);
    }
    finish();
    block_.advance();
    watch.lap(sums.wait);
  }
  sums.total = seconds_between(begin, clock::now());
  return sums;
}

void convolution_worker::post() {
  for (edge& e : edges_) {
    e.receiving = post_on(*e.in, received_[e.way], [&](completion c) {
      return e.in->try_recv(e.peer, e.received_tag, std::as_writable_bytes(std::span(e.received)),
                            c);
    });
  }
  for (edge& e : edges_) {
    block_.copy_out(block_.frontier(directions[e.way]), e.sent);
    e.sending = post_on(*e.out, sent_[e.way], [&](completion c) {
      return e.out->try_send(e.peer, e.sent_tag, std::as_bytes(std::span(e.sent)), c);
    });
  }
}

void convolution_worker::finish() {
  for (edge& e : edges_) {
    if (e.receiving == status::posted) require(e.in->wait(received_[e.way]), "receive a halo");
    block_.copy_in(e.received, block_.halo(directions[e.way]));
  }
  for (edge& e : edges_) {
    if (e.sending == status::posted) require(e.out->wait(sent_[e.way]), "send a halo");
  }
}

void convolution_worker::copy_to(std::span<double> out) const {
  auto to = out.begin();
  for (int r = 0; r < side_; ++r) {
    for (int c = 0; c < side_; ++c) *to++ = block_.at(r, c);
  }
}

}  // namespace heddle::bench
