// SPDX-License-Identifier: BSD-3-Clause
// bare_limit.cpp - picks a function of bench/parts and its unit.
#include "harness/bare_limit.h"

#include <algorithm>

#include "parts/bare.h"

namespace heddle::bench {
namespace {

/// Seconds per operation.
using limit = double (*)(const spec& s, bare::core_pair cores);

constexpr std::size_t table_bytes = 1 << 20;  // as the table that Heddle's floods hit

std::size_t bytes_of(const spec& s) {
  return static_cast<std::size_t>(s.bytes);
}

double line_latency(const spec& s, bare::core_pair cores) {
  return bare::cache_line_one_way(cores, s.time);
}

double socket_latency(const spec& s, bare::core_pair cores) {
  const std::size_t bytes = std::max<std::size_t>(bytes_of(s), 1);
  if (s.target == target_mode::computing)
    return bare::sleeping_target_round_trip(cores, bytes, s.time);
  const double round_trip = bare::socket_round_trip(cores, bytes, s.time);
  return is_round_trip(s.op) ? round_trip : round_trip / 2;
}

double store_time(const spec& s, bare::core_pair cores) {
  return 1 / bare::random_stores(cores.first, table_bytes, s.time);
}

double atomic_time(const spec& s, bare::core_pair cores) {
  return 1 / bare::random_atomics(cores.first, table_bytes, s.time);
}

double socket_message_time(const spec& s, bare::core_pair cores) {
  return 1 / bare::socket_messages(cores, bytes_of(s), s.time);
}

double copy_time(const spec& s, bare::core_pair cores) {
  const auto copy =
      s.buffers == buffer_kind::exposed ? bare::copy_into_mapping : bare::read_other_process;
  return static_cast<double>(s.bytes) / copy(cores.first, bytes_of(s), s.time);
}

double stream_time(const spec& s, bare::core_pair cores) {
  return static_cast<double>(s.bytes) / bare::socket_stream(cores, bytes_of(s), s.time);
}

/// Null: nothing bare corresponds.
limit limit_for(const spec& s, bool tcp) {
  const bool message = s.op == operation::am || s.op == operation::tag;
  switch (s.what) {
    case kind::latency:
      if (tcp) return socket_latency;
      return is_round_trip(s.op) ? nullptr : line_latency;
    case kind::rate:  // over tcp of messages: a put or an atomic is answered, and nothing bare is
      if (tcp) return message && s.bytes > 0 ? socket_message_time : nullptr;
      if (s.bytes != sizeof(std::uint64_t)) return nullptr;
      return s.op == operation::put         ? store_time
             : s.op == operation::fetch_add ? atomic_time
                                            : nullptr;
    case kind::bandwidth:
      if (s.bytes == 0) return nullptr;
      return tcp ? stream_time : copy_time;
    default:
      return nullptr;
  }
}

}  // namespace

std::function<double()> bare_limit(const spec& s, const std::string& backend,
                                   bare::core_pair cores) {
  const limit measure = limit_for(s, backend == "tcp");
  if (measure == nullptr) return {};
  return [measure, s, cores] { return measure(s, cores); };
}

}  // namespace heddle::bench
