// spec.cpp - names, units and cores.
#include "bench/spec.h"

#include <algorithm>
#include <stdexcept>

namespace heddle::bench {
namespace {

template <class E>
std::string name_in(const std::map<std::string, E>& names, E wanted) {
  for (const auto& [name, value] : names) {
    if (value == wanted) return name;
  }
  throw std::logic_error("a name is missing in spec.cpp");
}

}  // namespace

const std::map<std::string, kind>& kind_names() {
  static const std::map<std::string, kind> names{
      {"latency", kind::latency}, {"bandwidth", kind::bandwidth}, {"rate", kind::rate}};
  return names;
}

const std::map<std::string, operation>& operation_names() {
  static const std::map<std::string, operation> names{{"put", operation::put},
                                                      {"get", operation::get},
                                                      {"fetch-add", operation::fetch_add},
                                                      {"am", operation::am},
                                                      {"tag", operation::tag}};
  return names;
}

const std::map<std::string, target_mode>& target_names() {
  static const std::map<std::string, target_mode> names{{"waiting", target_mode::waiting},
                                                        {"computing", target_mode::computing}};
  return names;
}

const std::map<std::string, buffer_kind>& buffer_names() {
  static const std::map<std::string, buffer_kind> names{{"plain", buffer_kind::plain},
                                                        {"exposed", buffer_kind::exposed}};
  return names;
}

const std::map<std::string, rival>& rival_names() {
  static const std::map<std::string, rival> names{
      {"ucx", rival::ucx},     {"openmpi", rival::openmpi}, {"mpich", rival::mpich},
      {"utofu", rival::utofu}, {"lock", rival::lock},       {"uncached", rival::uncached},
      {"bare", rival::bare},   {"pair", rival::pair}};
  return names;
}

std::string name_of(kind k) {
  return name_in(kind_names(), k);
}
std::string name_of(operation op) {
  return name_in(operation_names(), op);
}
std::string name_of(rival who) {
  return name_in(rival_names(), who);
}

std::string name_of(target_mode target) {
  return name_in(target_names(), target);
}
std::string name_of(buffer_kind buffers) {
  return name_in(buffer_names(), buffers);
}

bool is_round_trip(operation op) {
  return op == operation::get || op == operation::fetch_add;
}

int lane_index(const spec& s, int thread) {
  return s.lanes == 0 || s.lanes >= s.threads ? thread : thread * s.lanes / s.threads;
}

metric metric_of(const spec& s) {
  switch (s.what) {
    case kind::latency:
      return {is_round_trip(s.op) ? "round-trip" : "one-way", "us"};
    case kind::rate:
      return {"rate", "M/s"};
    case kind::bandwidth:
      return {"bandwidth", "GB/s"};
  }
  throw std::logic_error("a kind is missing in metric_of");
}

double figure(const spec& s, double seconds) {
  switch (s.what) {
    case kind::latency:
      return seconds * 1e6;
    case kind::rate:
      return 1e-6 / seconds;
    case kind::bandwidth:
      return static_cast<double>(s.bytes) / seconds * 1e-9;
  }
  throw std::logic_error("a kind is missing in figure");
}

double seconds_of(const spec& s, double figure) {
  if (s.what == kind::latency) return figure * 1e-6;
  return s.what == kind::rate ? 1e-6 / figure : static_cast<double>(s.bytes) / figure * 1e-9;
}

int most_threads(const options& o) {
  return *std::max_element(o.thread_counts.begin(), o.thread_counts.end());
}

std::vector<int> cores_of_rank(const std::vector<int>& allowed, int rank, int ranks, int threads) {
  const auto total = allowed.size(), share = total / static_cast<std::size_t>(ranks);
  const auto count = std::clamp(static_cast<std::size_t>(threads), std::size_t{1},
                                std::max(share, std::size_t{1}));
  std::vector<int> cores;
  for (std::size_t i = 0; i < count; ++i)
    cores.push_back(allowed[(static_cast<std::size_t>(rank) * count + i) % total]);
  return cores;
}

}  // namespace heddle::bench
