// SPDX-License-Identifier: BSD-3-Clause
// convolution_worker.h - one thread of the convolution: its block, its neighbours, its steps.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/spec.h"
#include "harness/threads.h"
#include "kernels/convolution_block.h"

namespace heddle::bench {

/// What a step consists of: its frontier, posting receives and sends, the interior, and until all
/// is there.
struct step {
  enum part : std::size_t { compute1, isend, compute2, wait, parts };
};
/// Seconds of one or of many steps, by their parts.
using step_times = std::array<double, step::parts>;

enum class step_order { overlapped, one_after_the_other };

/// One end of an edge between two threads of the job: a message each way.
struct edge_end {
  int thread = 0, peer = 0, their_thread = 0;  ///< ours, and the neighbour's rank and thread
  int sent = 0, received = 0;                  ///< numbers of the messages
  std::size_t items = 0;                       ///< of each
};

/// Halos by the edges of a library, before or while the interior is computed. A library of edges
/// has ranks() and self(), and connect(end), a pointer to what has out() and in(), the messages,
/// post_recv(), post_send(), finish_recv() and finish_send().
template <class Library>
class convolution_worker {
 public:
  /// `s` has the threads and lanes; blocks are `side` x `side`.
  convolution_worker(Library& over, const spec& s, int side, int thread)
      : grid_(block_grid::of(over.ranks() * s.threads)),
        side_(side),
        number_(over.self() * s.threads + thread),
        where_{number_ / grid_.columns * side, number_ % grid_.columns * side, side, side},
        block_(side, side) {
    for (std::size_t way = 0; way < directions.size(); ++way) {
      const int neighbor = grid_.neighbor(number_, directions[way]);
      if (neighbor < 0) continue;
      const int theirs = neighbor % s.threads;
      edges_.push_back({way, over.connect({.thread = thread,
                                           .peer = neighbor / s.threads,
                                           .their_thread = theirs,
                                           .sent = message_of(thread, way),
                                           .received = message_of(theirs, opposite(way)),
                                           .items = block_.frontier(directions[way]).items()})});
    }
    reset();
  }

  /// The matrix before the first step. Then a barrier is needed before anybody steps.
  void reset() { fill(block_, where_, grid_.rows * side_, grid_.columns * side_); }
  /// Each step adds to the sums that are returned.
  [[nodiscard]] step_times run(std::uint64_t steps, step_order order) {
    step_times sums{};
    clock::time_point last = clock::now();
    const auto lap = [&](step::part part) {
      const clock::time_point now = clock::now();
      sums[part] += seconds_between(last, now);
      last = now;
    };
    for (std::uint64_t i = 0; i < steps; ++i) {
      block_.compute_frontier();
      lap(step::compute1);
      if (order == step_order::one_after_the_other) {
        block_.compute_interior();
        lap(step::compute2);
      }
      post();
      lap(step::isend);
      if (order == step_order::overlapped) {
        block_.compute_interior();
        lap(step::compute2);
      }
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
  [[nodiscard]] const block_grid& grid() const noexcept { return grid_; }

 private:
  struct edge {
    std::size_t way;
    decltype(std::declval<Library&>().connect({})) at;
  };
  /// A message is known by the thread that sends it and the direction it goes.
  static int message_of(int thread, std::size_t way) {
    return thread * static_cast<int>(directions.size()) + static_cast<int>(way);
  }
  void post() {
    for (edge& e : edges_) e.at->post_recv();
    for (edge& e : edges_) {
      block_.copy_out(block_.frontier(directions[e.way]), e.at->out());
      e.at->post_send();
    }
  }
  void finish() {
    for (edge& e : edges_) {
      e.at->finish_recv();
      block_.copy_in(e.at->in(), block_.halo(directions[e.way]));
    }
    for (edge& e : edges_) e.at->finish_send();
  }

  const block_grid grid_;
  const int side_;
  const int number_;  // of the block
  const rectangle where_;
  block block_;
  std::vector<edge> edges_;
};

}  // namespace heddle::bench
