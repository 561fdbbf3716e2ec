// SPDX-License-Identifier: BSD-3-Clause
// simulated_network.cpp - times from formulas and hashed noise.
#include "linktest/simulate/simulated_network.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <regex>

#include "exit_status.h"
#include "linktest/plan/permutation.h"

namespace heddle::linktest {
namespace {

constexpr double latency_s = 1e-6, per_cable_s = 0.1e-6, bytes_per_s = 12e9;
constexpr double share_of_collision = 0.1;  // of another message's time, on the busiest cable
constexpr double of_hosts = 0.01, of_pairs = 0.02, of_measurements = 0.04;  // normal, on logs
constexpr double tail_share = 0.02, tail_power = 1.5;

/// 0 < u <= 1 from a hash.
double uniform(std::uint64_t word) {
  return static_cast<double>((mix(word) >> 11) + 1) * 0x1.0p-53;
}
double normal(std::uint64_t word) {
  return std::sqrt(-2 * std::log(uniform(word))) *
         std::cos(2 * std::numbers::pi * uniform(word ^ 0x5851f42d4c957f2d));
}
std::uint64_t word_of(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  return mix(mix(seed + a) + b);
}

[[noreturn]] void refuse(const std::string& item) {
  throw error(fmt::format(
      "'{}' is not accepted; give node=HOST:FACTOR, node_tx=HOST:FACTOR, "
      "node_rx=HOST:FACTOR, rail=HOST/RAIL:FACTOR, link=FROM-TO:FACTOR, link=cableN:FACTOR or "
      "contention=FROM-TO:FACTOR, several with commas between; FACTOR > 1",
      item));
}

simulated_fault parse_fault(const std::string& item) {
  static const std::regex form(
      R"((node|node_tx|node_rx|rail|link|contention)=(?:cable(\d{1,9})|(\d{1,9})(?:([-/])(\d{1,9}))?):(\d+(?:\.\d+)?))");
  std::smatch part;
  if (!std::regex_match(item, part, form)) refuse(item);
  simulated_fault out;
  for (const culprit c : {culprit::node_tx, culprit::node_rx, culprit::node, culprit::rail,
                          culprit::link, culprit::contention})
    if (name_of(c) == part[1].str()) out.what = c;
  out.factor = std::stod(part[6]);
  const bool pair = out.what == culprit::link || out.what == culprit::contention;
  const std::string separator = part[4];
  const std::string wanted = pair ? "-" : out.what == culprit::rail ? "/" : "";
  const bool cable = part[2].matched;
  if (!(out.factor > 1) || (cable ? out.what != culprit::link : separator != wanted)) refuse(item);
  if (cable) {
    out.cable = std::stol(part[2]);
    return out;
  }
  out.node = std::stoi(part[3]);
  if (separator == "-") out.peer = std::stoi(part[5]);
  if (separator == "/") out.rail = std::stoi(part[5]);
  return out;
}

}  // namespace

std::vector<simulated_fault> parse_simulated_faults(const std::string& text) {
  std::vector<simulated_fault> out;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    out.push_back(parse_fault(text.substr(from, comma - from)));
    from = comma + 1;
  }
  return out;
}

simulated_network::simulated_network(fabric where, how settings,
                                     std::vector<simulated_fault> faults, partners_in partners)
    : fabric_(where),
      settings_(settings),
      faults_(std::move(faults)),
      partners_(std::move(partners)) {
  for (const simulated_fault& f : faults_)
    if (f.node >= fabric_.hosts() || f.peer >= fabric_.hosts() || f.rail >= settings_.rails ||
        f.cable >= static_cast<std::int64_t>(fabric_.cables()) || (f.peer >= 0 && f.peer == f.node))
      throw tools::usage_error(fmt::format(
          "--faults: {} names a host, rail or cable that is not there: hosts are 0 to {}, rails 0 "
          "to {}, cables 0 to {}, and a link has two ends",
          name_of(f.what), fabric_.hosts() - 1, settings_.rails - 1, fabric_.cables() - 1));
}

double simulated_network::fault_factor(int from, int to, int rail, bool loaded) const {
  double factor = 1;
  std::vector<std::uint32_t> route;
  for (const simulated_fault& f : faults_) {
    bool hit = false;
    switch (f.what) {
      case culprit::node_tx:
        hit = from == f.node;
        break;
      case culprit::node_rx:
        hit = to == f.node;
        break;
      case culprit::node:
        hit = from == f.node || to == f.node;
        break;
      case culprit::rail:
        hit = (from == f.node || to == f.node) && rail == f.rail;
        break;
      case culprit::contention:
        hit = loaded && from == f.node && to == f.peer;
        break;
      case culprit::link:
        if (f.cable < 0) {
          hit = from == f.node && to == f.peer;
        } else {
          route.clear();
          fabric_.route(from, to, route);
          hit = std::find(route.begin(), route.end(), f.cable) != route.end();
        }
    }
    if (hit) factor *= f.factor;
  }
  return factor;
}

/// One message's time without noise and neighbours.
double simulated_network::way(int from, int to, int rail, bool loaded) const {
  std::vector<std::uint32_t> route;
  fabric_.route(from, to, route);
  const auto a = static_cast<std::uint64_t>(from), b = static_cast<std::uint64_t>(to);
  const double luck =
      of_hosts * (normal(word_of(settings_.seed, 1, a)) + normal(word_of(settings_.seed, 2, b))) +
      of_pairs * normal(word_of(settings_.seed ^ 3, a, b));
  const double ideal = latency_s + per_cable_s * static_cast<double>(route.size()) +
                       static_cast<double>(settings_.bytes) / bytes_per_s;
  return ideal * std::exp(luck) * fault_factor(from, to, rail, loaded);
}

const std::vector<std::uint8_t>& simulated_network::load_of(std::int64_t step) {
  const auto [at, fresh] = loads_.try_emplace(step);
  std::vector<std::uint8_t>& load = at->second;
  if (!fresh) return load;
  load.assign(fabric_.cables(), 0);
  std::vector<std::uint32_t> route;
  for (int host = 0; host < fabric_.hosts(); ++host) {
    const std::int64_t met = partners_(host, step);
    if (met <= host) continue;
    route.clear();
    fabric_.route(host, static_cast<int>(met), route);
    for (const std::uint32_t c : route)
      load[c] = static_cast<std::uint8_t>(std::min(load[c] + 1, 255));
  }
  return load;
}

double simulated_network::congestion(const probe& wanted) {
  if (wanted.step < 0) return 1;
  const std::vector<std::uint8_t>& load = load_of(wanted.step);
  std::vector<std::uint32_t> route;
  fabric_.route(wanted.from, wanted.to, route);
  int most = 1;
  for (const std::uint32_t c : route) most = std::max<int>(most, load[c]);
  return 1 + share_of_collision * (most - 1);
}

double simulated_network::seconds(const probe& wanted, std::uint64_t attempt) {
  const bool loaded = wanted.step >= 0;
  const int rail = std::max<int>(wanted.rail, 0);
  double base = way(wanted.from, wanted.to, rail, loaded);
  if (!settings_.one_way) base = (base + way(wanted.to, wanted.from, rail, loaded)) / 2;
  base *= congestion(wanted);
  std::vector<double> times;
  for (int i = 0; i < settings_.repetitions; ++i) {
    const std::uint64_t word =
        word_of(word_of(settings_.seed ^ 4, static_cast<std::uint64_t>(wanted.from),
                        static_cast<std::uint64_t>(wanted.to)),
                static_cast<std::uint64_t>(wanted.step + 1) << 20 | attempt << 4 |
                    static_cast<std::uint64_t>(rail),
                static_cast<std::uint64_t>(i));
    double t = base * std::exp(of_measurements * normal(word));
    if (uniform(word ^ 5) < tail_share) t *= 1 + std::pow(uniform(word ^ 6), -1 / tail_power);
    times.push_back(t);
  }
  const auto middle = times.begin() + settings_.repetitions / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace heddle::linktest
