// SPDX-License-Identifier: BSD-3-Clause
// halo_exchange.h - a step of the convolution (kernels/convolution.h) by a thread of Heddle's: it
// computes its block, and its neighbours' frontiers come as messages meanwhile, or afterwards.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "harness/pace.h"
#include "kernels/convolution.h"
#include "libraries/station.h"
#include "libraries/window.h"

namespace heddle::bench {

/// What a step consists of: its frontier, posting receives and sends, the interior, and until all
/// is there.
struct step {
  enum part : std::size_t { compute1, isend, compute2, wait, parts };
};
/// Seconds of one or of many steps, by their parts.
using step_times = std::array<double, step::parts>;

/// An edge from one block to a neighbour, which may be another thread's of this rank: a message
/// each way, on the lane that its sender has.
class edge {
 public:
  /// By their numbers, and the direction that leads there.
  edge(station& at, const spec& s, const block& own, int number, int neighbor, std::size_t way)
      : way_(way),
        peer_(neighbor / s.threads),
        out_lane_(at.lane_of(s, number % s.threads)),
        in_lane_(at.lane_of(s, neighbor % s.threads)),
        sent_(message_of(number % s.threads, way)),
        received_(message_of(neighbor % s.threads, opposite(way))),
        out_(own.frontier(directions[way]).items()),
        in_(out_.size()) {}

  void post_recv() {
    receiving_.post([this](const completion& c, std::size_t) {
      return in_lane_.try_recv(peer_, received_, std::as_writable_bytes(std::span(in_)), c);
    });
  }
  void post_send(const block& from) {
    from.copy_out(from.frontier(directions[way_]), out_);
    sending_.post([this](const completion& c, std::size_t) {
      return out_lane_.try_send(peer_, sent_, std::as_bytes(std::span(out_)), c);
    });
  }
  void finish_recv(block& to) {
    receiving_.drain();
    to.copy_in(in_, to.halo(directions[way_]));
  }
  void finish_send() { sending_.drain(); }

 private:
  /// A message is known by the thread that sends it and the direction it goes.
  static tag message_of(int thread, std::size_t way) {
    return tag_of(purpose::data,
                  thread * static_cast<int>(directions.size()) + static_cast<int>(way));
  }

  const std::size_t way_;
  const rank peer_;
  lane& out_lane_;
  lane& in_lane_;
  const tag sent_, received_;
  std::vector<double> out_, in_;
  window sending_{lane_use(out_lane_), 1}, receiving_{lane_use(in_lane_), 1};
};

/// A thread's block, whose halo comes by its edges, before or while the interior is computed.
class worker {
 public:
  /// Of block `number`; blocks are `side` x `side`.
  worker(station& at, const spec& s, const block_grid& grid, int number, int side)
      : grid_(grid),
        where_{number / grid_.columns * side, number % grid_.columns * side, side, side},
        block_(side, side) {
    for (std::size_t way = 0; way < directions.size(); ++way) {
      const int neighbor = grid_.neighbor(number, directions[way]);
      if (neighbor >= 0) edges_.emplace_back(at, s, block_, number, neighbor, way);
    }
    reset();
  }

  /// The matrix before the first step. Then a barrier is needed before anybody steps.
  void reset() { fill(block_, where_, grid_.rows * where_.rows, grid_.columns * where_.columns); }
  /// Each step adds to the sums that are returned. `overlapped`: computes while messages move.
  [[nodiscard]] step_times run(std::uint64_t steps, bool overlapped) {
    step_times sums{};
    clock::time_point last = clock::now();
    const auto lap = [&](step::part part) {
      const clock::time_point now = clock::now();
      sums[part] += seconds_between(last, now);
      last = now;
    };
    const auto compute_interior = [&] {
      block_.compute_interior();
      lap(step::compute2);
    };
    for (std::uint64_t i = 0; i < steps; ++i) {
      block_.compute_frontier();
      lap(step::compute1);
      if (!overlapped) compute_interior();
      post();
      lap(step::isend);
      if (overlapped) compute_interior();
      finish();
      block_.advance();
      lap(step::wait);
    }
    return sums;
  }
  /// How far at most the own items are from those of the whole matrix.
  [[nodiscard]] double difference_from(const block& whole) const {
    double largest = 0;
    for (int r = 0; r < where_.rows; ++r)
      for (int c = 0; c < where_.columns; ++c)
        largest = std::max(largest,
                           std::abs(block_.at(r, c) - whole.at(where_.row + r, where_.column + c)));
    return largest;
  }

 private:
  void post() {
    for (edge& e : edges_) e.post_recv();
    for (edge& e : edges_) e.post_send(block_);
  }
  void finish() {
    for (edge& e : edges_) e.finish_recv(block_);
    for (edge& e : edges_) e.finish_send();
  }

  const block_grid grid_;
  const rectangle where_;
  block block_;
  std::deque<edge> edges_;
};

}  // namespace heddle::bench
