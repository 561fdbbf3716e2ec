// convolution_worker.h - one thread of the convolution: its block, its neighbours, its steps.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "bench/convolution_block.h"
#include "bench/station.h"

namespace heddle::bench {

/// Seconds of one or of many steps.
struct step_times {
  double compute1 = 0;  ///< the frontier
  double isend = 0;     ///< posting receives and sends
  double compute2 = 0;  ///< the interior
  double wait = 0;      ///< until all is there
  double total = 0;
};

enum class step_order { overlapped, one_after_the_other };

class convolution_worker {
 public:
  /// `s` has the threads and lanes; blocks are `side` x `side`.
  convolution_worker(station& at, const spec& s, int side, int thread);
  convolution_worker(const convolution_worker&) = delete;
  convolution_worker& operator=(const convolution_worker&) = delete;

  /// The matrix before the first step. Then a barrier is needed before anybody steps.
  void reset();
  /// Each step adds to the sums that are returned.
  [[nodiscard]] step_times run(std::uint64_t steps, step_order order);
  /// The own items, row by row.
  void copy_to(std::span<double> out) const;
  [[nodiscard]] const block_grid& grid() const noexcept { return grid_; }

 private:
  /// A neighbour and the messages that go there and come from there.
  struct edge {
    std::size_t way;
    rank peer;
    lane* out;  // this thread's, and the other one's: messages come on the lane they were sent on
    lane* in;
    tag sent_tag, received_tag;
    std::vector<double> sent, received;
    status sending = status::done, receiving = status::done;
  };
  void post();
  void finish();
  void add_edge(station& at, const spec& s, std::size_t way, int neighbor);

  const block_grid grid_;
  const int side_;
  const int number_;  // of the block
  int thread_;
  block block_;
  std::vector<edge> edges_;
  std::array<flag, directions.size()> sent_, received_;  // by direction
};

}  // namespace heddle::bench
