// SPDX-License-Identifier: BSD-3-Clause
// bare_limit.h - which bare limit of the machine belongs to which benchmark.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "harness/spec.h"
#include "parts/bare.h"

namespace heddle::bench {

/// Seconds per operation; empty: nothing bare corresponds.
using bare_timing = std::function<double()>;

[[nodiscard]] inline bare_timing latency_limit(const spec& s, bool tcp, bare::core_pair cores) {
  const std::size_t bytes = std::max<std::size_t>(s.bytes, 1);
  const double share = is_round_trip(s.op) ? 1 : 0.5;
  if (tcp && s.target == target_mode::computing)
    return [=] { return bare::sleeping_target_round_trip(cores, bytes, s.time); };
  if (tcp) return [=] { return share * bare::socket_round_trip(cores, bytes, s.time); };
  if (is_round_trip(s.op)) return {};
  return [=] { return bare::cache_line_one_way(cores, s.time); };
}

inline constexpr std::size_t bare_table_bytes = 1 << 20;  ///< as the table that Heddle's floods hit

/// Over tcp of messages: a put or an atomic is answered, and nothing bare is.
[[nodiscard]] inline bare_timing rate_limit(const spec& s, bool tcp, bare::core_pair cores) {
  const bool message = s.op == operation::am || s.op == operation::tag;
  if (tcp && message && s.bytes > 0)
    return [s, cores] { return 1 / bare::socket_messages(cores, s.bytes, s.time); };
  if (tcp || s.bytes != sizeof(std::uint64_t)) return {};
  if (s.op == operation::put)
    return [s, cores] { return 1 / bare::random_stores(cores.first, bare_table_bytes, s.time); };
  if (s.op == operation::fetch_add)
    return [s, cores] { return 1 / bare::random_atomics(cores.first, bare_table_bytes, s.time); };
  return {};
}

[[nodiscard]] inline bare_timing bandwidth_limit(const spec& s, bool tcp, bare::core_pair cores) {
  if (s.bytes == 0) return {};
  const auto bytes = static_cast<double>(s.bytes);
  if (tcp) return [=] { return bytes / bare::socket_stream(cores, s.bytes, s.time); };
  const auto copy =
      s.buffers == buffer_kind::exposed ? bare::copy_into_mapping : bare::read_other_process;
  return [=] { return bytes / copy(cores.first, s.bytes, s.time); };
}

/// Measures the limit once, for about the spec's time: seconds per operation, as figure() takes
/// them. Empty when nothing bare corresponds. `backend` is shm or tcp.
[[nodiscard]] inline bare_timing bare_limit(const spec& s, const std::string& backend,
                                            bare::core_pair cores) {
  const bool tcp = backend == "tcp";
  if (s.what == kind::latency) return latency_limit(s, tcp, cores);
  if (s.what == kind::rate) return rate_limit(s, tcp, cores);
  return s.what == kind::bandwidth ? bandwidth_limit(s, tcp, cores) : bare_timing();
}

}  // namespace heddle::bench
