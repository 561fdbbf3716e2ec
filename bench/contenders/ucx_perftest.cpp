// SPDX-License-Identifier: BSD-3-Clause
// ucx_perftest.cpp - a pair of ucx_perftest processes on a free port, and what they print.
#include "contenders/ucx_perftest.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "contenders/peer_command.h"

namespace heddle::bench {
namespace {

using clock = std::chrono::steady_clock;
using strings = std::vector<std::string>;

strings split(const std::string& line) {
  strings fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

std::optional<double> number(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The number under the heading `name`, which must be there and positive.
double column(const strings& heading, const strings& row, const std::string& name) {
  const auto found = std::ranges::find(heading, name);
  if (found == heading.end()) throw std::runtime_error("there is no column '" + name + "'");
  const std::string& text = row[static_cast<std::size_t>(found - heading.begin())];
  if (const auto value = number(text); value && *value > 0) return *value;
  throw std::runtime_error("column '" + name + "' is '" + text + "'");
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

/// `server`: where it is; empty: the server itself.
command ucx_command(const ucx_run& run, const std::string& server, int port, int core) {
  command c{.program = find_ucx()};
  if (!server.empty()) c.arguments.push_back(server);
  const auto add = [&c](const char* option, auto value) {
    c.arguments.insert(c.arguments.end(), {option, fmt::format("{}", value)});
  };
  add("-t", run.test);
  add("-p", port);
  add("-s", run.bytes);
  add("-O", run.outstanding);
  add("-n", run.iterations);
  add("-w", std::clamp<std::uint64_t>(run.iterations / 10, 10, 10'000));
  if (core != bare::any_core) add("-c", core);
  c.arguments.insert(c.arguments.end(), {"-f", "-v"});
  c.without = {"UCX_"};
  c.settings = ucx_settings(run.backend);
  c.settings.emplace_back("LC_ALL=C");
  return c;
}

}  // namespace

ucx_result parse_ucx_output(const std::string& output) try {
  strings heading, row;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    const strings fields = split(line);
    if (fields.empty()) continue;
    if (fields.front() == "iterations") heading = fields;
    // The last one counts: earlier ones are of a run in progress.
    if (fields.size() == heading.size() && number(fields.front())) row = fields;
  }
  if (row.empty()) throw std::runtime_error("there is no line of results");
  const double us = column(heading, row, "overall_lat");
  // Both say the same; the time has three decimals, the rate none.
  return {static_cast<std::uint64_t>(column(heading, row, "iterations")),
          us >= 1 ? us * 1e-6 : 1 / column(heading, row, "overall_mr")};
} catch (const std::runtime_error& why) {
  throw std::runtime_error(std::string("ucx_perftest printed something unexpected: ") + why.what() +
                           "; all of it:\n" + output);
}

std::string ucx_test_for(kind what, operation op) {
  const bool latency = what == kind::latency;
  switch (op) {
    case operation::put:
      return latency ? "ucp_put_lat" : "ucp_put_bw";
    case operation::get:
      return "ucp_get";
    case operation::fetch_add:
      return "ucp_fadd";
    case operation::am:
      return latency ? "ucp_am_lat" : "ucp_am_bw";
    case operation::tag:
      return latency ? "tag_lat" : "tag_bw";
  }
  throw std::logic_error("an operation is missing in ucx_test_for");
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

ucx_result run_ucx(const ucx_run& run, std::chrono::seconds limit) {
  const clock::time_point deadline = clock::now() + limit;
  const int port = free_port();
  child server(ucx_command(run, "", port, run.cores.second));
  for (;;) {
    child client(ucx_command(run, "127.0.0.1", port, run.cores.first));
    const bool ended = client.wait_until(deadline);
    if (ended && client.exit_status() == 0) {
      (void)server.wait_until(std::min(deadline, clock::now() + std::chrono::seconds(2)));
      return parse_ucx_output(client.output());
    }
    // A client fails also when the server does not listen yet.
    if (ended && !server.wait_until(clock::now() + std::chrono::milliseconds(10))) continue;
    throw std::runtime_error(
        fmt::format("ucx_perftest -t {} {}\nclient: {}\nserver: {}", run.test,
                    ended ? fmt::format("failed with status {}", client.exit_status())
                          : "took too long and was killed",
                    client.output(), server.output()));
  }
}

ucx_result run_ucx_for(ucx_run& run, std::chrono::milliseconds time, std::chrono::seconds limit) {
  constexpr double most = 1e9;
  const std::chrono::duration<double> wanted = time;
  for (;;) {
    const ucx_result result = run_ucx(run, limit);
    const double took = static_cast<double>(run.iterations) * result.seconds_per_op;
    const double fitting = wanted.count() / result.seconds_per_op;
    run.iterations = static_cast<std::uint64_t>(std::clamp(fitting, 100.0, most));
    if (took > wanted.count() / 4) return result;
  }
}

}  // namespace heddle::bench
