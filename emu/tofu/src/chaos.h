// SPDX-License-Identifier: BSD-3-Clause
// chaos.h - executes commands as late and as disorderly as the interface allows.
//
// Commands that go from one VCQ to another over one path are a stream. Streams are picked at random
// and rest for random numbers of calls. Within a stream
//   - notices come in the order of posting, each after its data;
//   - the data of puts without STRONG_ORDER is written in shuffled pieces, mixed with the pieces of
//     the puts behind them;
//   - a put with STRONG_ORDER is written in ascending order and after the earlier ones with it;
//   - everything else waits for all that was posted before.
// The TCQ may hear of a command before anything of it has arrived: then a put's data is kept aside.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "executor.h"

namespace tofu {

/// One thread at a time.
class chaos {
 public:
  chaos(executor& how, std::uint64_t seed) noexcept : executor_(how), random_(seed | 1) {}

  /// A command was posted; `index` is its place in the TCQ.
  void accept(const operation& op, std::uint64_t index);
  /// Does a random amount of work, about `steps`. Calls finish(index, code) for each command that
  /// the TCQ now hears of.
  template <class Finish>
  void run(unsigned steps, const Finish& finish) {
    finished_.clear();
    rest();
    for (std::uint64_t left = random(2 * steps + 1); left > 0 && step(); --left) {
    }
    for (const auto& [index, code] : finished_) finish(index, code);
  }
  [[nodiscard]] bool empty() const noexcept { return streams_.empty(); }
  /// Does all of it.
  template <class Finish>
  void drain(const Finish& finish) {
    while (!streams_.empty()) run(100, finish);
  }

 private:
  struct waiting {
    operation op;
    std::uint64_t index = 0;
    std::vector<piece> pieces;     // still to move, the next one last
    std::vector<std::byte> aside;  // a put's data, when the TCQ has heard of it already
    bool begun = false, told = false, done = false, dropped = false;
    int code = 0;
  };
  using key = std::tuple<std::uint64_t, std::uint8_t, std::uint8_t>;  // to, from, path
  struct stream {
    std::deque<waiting> commands;
    std::uint64_t rests = 0;
  };

  [[nodiscard]] std::uint64_t random(std::uint64_t below) noexcept;
  void rest() noexcept;
  bool step();
  [[nodiscard]] waiting& pick(stream& s) noexcept;
  void advance(waiting& w);
  void begin(waiting& w);
  void cut(waiting& w);
  void move_piece(waiting& w);
  void tell(waiting& w, int code);
  void retire(stream& s);
  void leave_notices(waiting& w);

  executor& executor_;
  std::uint64_t random_;
  std::map<key, stream> streams_;  // never an empty one
  std::vector<std::pair<std::uint64_t, int>> finished_;
};

}  // namespace tofu
