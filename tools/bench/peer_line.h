// peer_line.h - the line of JSON by which a peer program (bench/peers) tells one measured round.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "bench/overlap_pass.h"

namespace heddle::bench {

/// Exactly one of the two is there.
struct peer_line {
  std::optional<double> seconds_per_op;            ///< of a latency, rate or bandwidth
  std::optional<std::array<side_round, 2>> sides;  ///< of overlap: the sender's, the receiver's
};

/// One line without its end.
[[nodiscard]] std::string to_line(const peer_line& round);

/// All such lines in what a program printed; other lines (a launcher's warnings) may stand
/// anywhere. Throws std::runtime_error quoting a line that begins like one and is not, or holds a
/// time that is not positive.
[[nodiscard]] std::vector<peer_line> parse_peer_lines(const std::string& output);

}  // namespace heddle::bench
