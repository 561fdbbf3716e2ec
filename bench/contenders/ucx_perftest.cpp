// SPDX-License-Identifier: BSD-3-Clause
// ucx_perftest.cpp - a pair of ucx_perftest processes on a free port, and what they print.
#include "contenders/ucx_perftest.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace heddle::bench {
namespace {

using clock = std::chrono::steady_clock;

/// The numbers of the last line of results, by the names of their columns: earlier ones are of a
/// run in progress.
std::map<std::string, double> last_results(const std::string& output) {
  std::vector<std::string> names;
  std::map<std::string, double> results;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
    if (line.starts_with("iterations,")) names = fields;
    if (fields.size() != names.size() || !(std::atof(line.c_str()) > 0)) continue;
    for (std::size_t i = 0; i < names.size(); ++i) results[names[i]] = std::atof(fields[i].c_str());
  }
  if (results.empty()) throw std::runtime_error("there is no line of results");
  return results;
}

/// The number under the heading `name`, which must be there and positive.
double column(const std::map<std::string, double>& results, const std::string& name) {
  const auto found = results.find(name);
  if (found == results.end()) throw std::runtime_error("there is no column '" + name + "'");
  if (found->second > 0) return found->second;
  throw std::runtime_error(fmt::format("column '{}' is {}", name, found->second));
}

/// A TCP port that nobody uses now.
int free_port() {
  const bare::unique_fd probe(
      bare::checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "open a TCP socket"));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  bare::checked(bind(probe.get(), generic, size), "bind to a free port");
  bare::checked(getsockname(probe.get(), generic, &size), "learn the free port");
  return ntohs(address.sin_port);
}

std::string test_for(const spec& s) {
  if (s.op == operation::get) return "ucp_get";
  if (s.op == operation::fetch_add) return "ucp_fadd";
  return fmt::format("{}{}{}", s.op == operation::tag ? "" : "ucp_", name_of(s.op),
                     s.what == kind::latency ? "_lat" : "_bw");
}

/// `server`: where it is; empty: the server itself.
command ucx_command(const task& t, std::uint64_t iterations, int port, const std::string& server) {
  command c{.program = find_ucx()};
  if (!server.empty()) c.arguments.push_back(server);
  const auto add = [&c](const char* option, auto value) {
    c.arguments.insert(c.arguments.end(), {option, fmt::format("{}", value)});
  };
  add("-t", test_for(t.what));
  add("-p", port);
  add("-s", t.what.bytes);
  add("-O", t.what.what == kind::latency ? 1 : t.what.window);
  add("-n", iterations);
  add("-w", std::clamp<std::uint64_t>(iterations / 10, 10, 10'000));
  if (!t.cores.empty()) add("-c", server.empty() ? t.cores.back() : t.cores.front());
  c.arguments.insert(c.arguments.end(), {"-f", "-v"});
  c.without = {"UCX_"};
  c.settings = ucx_settings(t.backend);
  c.settings.emplace_back("LC_ALL=C");
  return c;
}

/// Server and client to their end.
double run_pair(const task& t, std::uint64_t iterations) {
  const clock::time_point deadline = clock::now() + t.patience();
  const int port = free_port();
  child server(ucx_command(t, iterations, port, ""));
  for (;;) {
    child client(ucx_command(t, iterations, port, "127.0.0.1"));
    const bool ended = client.wait_until(deadline);
    if (ended && client.exit_status() == 0) {
      (void)server.wait_until(std::min(deadline, clock::now() + std::chrono::seconds(2)));
      return parse_ucx_output(client.output());
    }
    // A client fails also when the server does not listen yet.
    if (ended && !server.wait_until(clock::now() + std::chrono::milliseconds(10))) continue;
    throw std::runtime_error(
        fmt::format("ucx_perftest -t {} {}\nclient: {}\nserver: {}", test_for(t.what),
                    ended ? fmt::format("failed with status {}", client.exit_status())
                          : "took too long and was killed",
                    client.output(), server.output()));
  }
}

}  // namespace

double parse_ucx_output(const std::string& output) try {
  const auto results = last_results(output);
  const double us = column(results, "overall_lat");
  // Both say the same; the time has three decimals, the rate none.
  return us >= 1 ? us * 1e-6 : 1 / column(results, "overall_mr");
} catch (const std::runtime_error& why) {
  throw std::runtime_error(std::string("ucx_perftest printed something unexpected: ") + why.what() +
                           "; all of it:\n" + output);
}

std::string find_ucx() {
  std::string path = find_program("ucx_perftest");
  if (path.empty()) {
    throw std::runtime_error(
        "comparing with UCX needs its program ucx_perftest, which is not in PATH; on Debian: "
        "apt install ucx-utils");
  }
  return path;
}

double ucx_round(const task& t, std::uint64_t& iterations) {
  constexpr double most = 1e9;
  const std::chrono::duration<double> wanted = t.what.time;
  for (;;) {
    const double each = run_pair(t, iterations);
    const double took = static_cast<double>(iterations) * each;
    iterations = static_cast<std::uint64_t>(std::clamp(wanted.count() / each, 100.0, most));
    if (took > wanted.count() / 4) return each;
  }
}

}  // namespace heddle::bench
