// SPDX-License-Identifier: BSD-3-Clause
// bare_limit.cpp - picks a function of bench/parts and its unit.
#include "harness/bare_limit.h"

#include <algorithm>

#include "parts/bare.h"

namespace heddle::bench {
namespace {

using limit = std::function<double()>;

constexpr std::size_t table_bytes = 1 << 20;  // as the table that Heddle's floods hit

limit latency_limit(const spec& s, bool tcp, bare::core_pair cores) {
  const std::size_t bytes = std::max<std::size_t>(s.bytes, 1);
  const double share = is_round_trip(s.op) ? 1 : 0.5;
  if (tcp && s.target == target_mode::computing)
    return [=] { return bare::sleeping_target_round_trip(cores, bytes, s.time); };
  if (tcp) return [=] { return share * bare::socket_round_trip(cores, bytes, s.time); };
  if (is_round_trip(s.op)) return {};
  return [=] { return bare::cache_line_one_way(cores, s.time); };
}

/// Over tcp of messages: a put or an atomic is answered, and nothing bare is.
limit rate_limit(const spec& s, bool tcp, bare::core_pair cores) {
  const bool message = s.op == operation::am || s.op == operation::tag;
  if (tcp && message && s.bytes > 0)
    return [s, cores] { return 1 / bare::socket_messages(cores, s.bytes, s.time); };
  if (tcp || s.bytes != sizeof(std::uint64_t)) return {};
  if (s.op == operation::put)
    return [s, cores] { return 1 / bare::random_stores(cores.first, table_bytes, s.time); };
  if (s.op == operation::fetch_add)
    return [s, cores] { return 1 / bare::random_atomics(cores.first, table_bytes, s.time); };
  return {};
}

limit bandwidth_limit(const spec& s, bool tcp, bare::core_pair cores) {
  if (s.bytes == 0) return {};
  const auto bytes = static_cast<double>(s.bytes);
  if (tcp) return [=] { return bytes / bare::socket_stream(cores, s.bytes, s.time); };
  const auto copy =
      s.buffers == buffer_kind::exposed ? bare::copy_into_mapping : bare::read_other_process;
  return [=] { return bytes / copy(cores.first, s.bytes, s.time); };
}

}  // namespace

std::function<double()> bare_limit(const spec& s, const std::string& backend,
                                   bare::core_pair cores) {
  const bool tcp = backend == "tcp";
  if (s.what == kind::latency) return latency_limit(s, tcp, cores);
  if (s.what == kind::rate) return rate_limit(s, tcp, cores);
  return s.what == kind::bandwidth ? bandwidth_limit(s, tcp, cores) : limit();
}

}  // namespace heddle::bench
