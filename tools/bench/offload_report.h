// offload_report.h - what leaving a get to an executor costs, round by round.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bench/record.h"

namespace heddle::bench {

/// Of single gets, medians of a round, in seconds.
struct get_times {
  double overhead = 0;  ///< of the call, without reading the clock
  double latency = 0;
};

struct offload_round {
  get_times inline_get, offloaded;
  double cache_line = 0;  ///< beside them, in seconds
};

[[nodiscard]] std::string offload_heading();
[[nodiscard]] std::string offload_line(int round, const offload_round& r);
/// Medians; a ratio's is that of the rounds' ratios: the cache line changes from one to the next.
[[nodiscard]] std::string offload_summary(const std::vector<offload_round>& rounds);

/// Times of both modes, both ratios, and the cache line.
[[nodiscard]] std::vector<record> offload_records(std::uint64_t bytes,
                                                  const std::vector<offload_round>& rounds);

}  // namespace heddle::bench
