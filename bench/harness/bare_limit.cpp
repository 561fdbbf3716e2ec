// SPDX-License-Identifier: BSD-3-Clause
// bare_limit.cpp - picks a function of bench/parts and its unit.
#include "harness/bare_limit.h"

#include <algorithm>

#include "parts/bare.h"

namespace heddle::bench {
namespace {

using measure = std::function<double()>;

constexpr std::size_t table_bytes = 1 << 20;  // as the table that Heddle's floods hit

measure memory_latency(const spec& s, bare::core_pair cores) {
  if (is_round_trip(s.op)) return {};
  return [s, cores] { return bare::cache_line_one_way(cores, s.time); };
}

measure socket_latency(const spec& s, bare::core_pair cores) {
  return [s, cores] {
    const auto bytes = std::max<std::size_t>(static_cast<std::size_t>(s.bytes), 1);
    if (s.target == target_mode::computing) {
      return bare::sleeping_target_round_trip(cores, bytes, s.time);
    }
    const double round_trip = bare::socket_round_trip(cores, bytes, s.time);
    return is_round_trip(s.op) ? round_trip : round_trip / 2;
  };
}

measure memory_rate(const spec& s, bare::core_pair cores) {
  if (s.bytes != sizeof(std::uint64_t)) return {};
  const auto with = [&](auto per_second) {
    return [s, cores, per_second] { return 1 / per_second(cores.first, table_bytes, s.time); };
  };
  if (s.op == operation::put) return with(bare::random_stores);
  if (s.op == operation::fetch_add) return with(bare::random_atomics);
  return {};
}

measure memory_bandwidth(const spec& s, bare::core_pair cores) {
  return [s, cores] {
    const auto bytes = static_cast<std::size_t>(s.bytes);
    const double per_second = s.buffers == buffer_kind::exposed
                                  ? bare::copy_into_mapping(cores.first, bytes, s.time)
                                  : bare::read_other_process(cores.first, bytes, s.time);
    return static_cast<double>(bytes) / per_second;
  };
}

measure socket_bandwidth(const spec& s, bare::core_pair cores) {
  return [s, cores] {
    const auto bytes = static_cast<std::size_t>(s.bytes);
    const double per_second = bare::socket_stream(cores, bytes, s.time);
    return static_cast<double>(bytes) / per_second;
  };
}

/// Of messages: a put or an atomic is answered, and nothing bare is.
measure socket_rate(const spec& s, bare::core_pair cores) {
  if (s.bytes == 0 || (s.op != operation::am && s.op != operation::tag)) return {};
  return [s, cores] {
    return 1 / bare::socket_messages(cores, static_cast<std::size_t>(s.bytes), s.time);
  };
}

}  // namespace

std::function<double()> bare_limit(const spec& s, const std::string& backend,
                                   bare::core_pair cores) {
  const bool tcp = backend == "tcp";
  switch (s.what) {
    case kind::latency:
      return tcp ? socket_latency(s, cores) : memory_latency(s, cores);
    case kind::rate:
      return tcp ? socket_rate(s, cores) : memory_rate(s, cores);
    case kind::bandwidth:
      if (s.bytes == 0) return {};
      return tcp ? socket_bandwidth(s, cores) : memory_bandwidth(s, cores);
    default:
      return {};
  }
}

}  // namespace heddle::bench
