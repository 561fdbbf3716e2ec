// SPDX-License-Identifier: BSD-3-Clause
// ucx_runner.cpp - a pair of ucx_perftest processes on a free port.
#include "contenders/ucx_runner.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "harness/child.h"

namespace heddle::bench {
namespace {

using clock = std::chrono::steady_clock;

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

/// Whether somebody listens on the port, from the kernel's table: ucx_perftest accepts only one
/// connection, so trying one would spoil the run.
bool somebody_listens(int port) {
  for (const char* const table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream in(table);
    for (std::string line; std::getline(in, line);) {
      std::istringstream fields(line);
      std::string number, local, remote, state;
      fields >> number >> local >> remote >> state;
      const auto colon = local.find(':');
      if (state == "0A" && colon != std::string::npos &&
          std::stoi(local.substr(colon + 1), nullptr, 16) == port) {
        return true;
      }
    }
  }
  return false;
}

command ucx_command(const ucx_run& run, int port, int core) {
  command c;
  c.program = find_ucx();
  const auto add = [&c](const char* option, const std::string& value) {
    c.arguments.insert(c.arguments.end(), {option, value});
  };
  add("-t", run.test);
  add("-p", std::to_string(port));
  add("-s", std::to_string(run.bytes));
  add("-O", std::to_string(run.outstanding));
  add("-n", std::to_string(run.iterations));
  add("-w", std::to_string(std::clamp<std::uint64_t>(run.iterations / 10, 10, 10'000)));
  if (core != bare::any_core) add("-c", std::to_string(core));
  c.arguments.insert(c.arguments.end(), {"-f", "-v"});
  c.without = {"UCX_"};
  c.settings = {ucx_transports(run.backend), "LC_ALL=C"};
  if (run.backend == "tcp") c.settings.emplace_back("UCX_NET_DEVICES=lo");
  return c;
}

/// False: the server ended instead, most likely because somebody else took the port.
bool wait_for_server(child& server, int port, clock::time_point deadline) {
  while (!somebody_listens(port)) {
    if (server.wait_until(clock::now() + std::chrono::milliseconds(2))) return false;
    if (clock::now() > deadline) {
      throw std::runtime_error("ucx_perftest does not listen: " + server.output());
    }
  }
  return true;
}

std::string report(const std::string& problem, const child& server, const child& client) {
  return problem + "\nclient: " + client.output() + "\nserver: " + server.output();
}

ucx_result run_client(const ucx_run& run, int port, child& server, clock::time_point deadline) {
  command c = ucx_command(run, port, run.cores.first);
  c.arguments.insert(c.arguments.begin(), "127.0.0.1");
  child client(c);
  if (!client.wait_until(deadline)) {
    throw std::runtime_error(
        report("ucx_perftest -t " + run.test + " took too long and was killed", server, client));
  }
  if (client.exit_status() != 0) {
    throw std::runtime_error(report("ucx_perftest -t " + run.test + " failed with status " +
                                        std::to_string(client.exit_status()),
                                    server, client));
  }
  const ucx_result result = parse_ucx_output(client.output());
  (void)server.wait_until(std::min(deadline, clock::now() + std::chrono::seconds(2)));
  return result;
}

}  // namespace

/// Verbs are plain libibverbs, as Heddle's are; datagrams are what UCX connects by.
std::string ucx_transports(const std::string& backend) {
  return "UCX_TLS=" + (backend == "verbs" ? "rc_v,ud_v" : backend) + ",self";
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

std::uint64_t first_iterations(const std::string& backend, std::uint64_t bytes) {
  return backend == "shm" && bytes <= 4096 ? 20'000 : 200;
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
  std::string printed;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const int port = free_port();
    child server(ucx_command(run, port, run.cores.second));
    if (wait_for_server(server, port, deadline)) return run_client(run, port, server, deadline);
    printed = server.output();
  }
  throw std::runtime_error("ucx_perftest -t " + run.test +
                           " ended at once: " + printed.substr(0, printed.find('\n')));
}

ucx_rounds::ucx_rounds(ucx_run first, std::chrono::milliseconds time, std::chrono::seconds limit)
    : run_(std::move(first)), time_(time), limit_(limit) {
  run_.iterations = first_iterations(run_.backend, run_.bytes);
}

ucx_result ucx_rounds::run_and_adapt() {
  constexpr double most = 1e9;
  const ucx_result result = run_ucx(run_, limit_);
  const double wanted = time_.count() / result.seconds_per_op;
  run_.iterations = static_cast<std::uint64_t>(std::clamp(wanted, 100.0, most));
  return result;
}

ucx_result ucx_rounds::next() {
  if (!calibrated_) {  // twice: the first is mostly set-up
    (void)run_and_adapt();
    calibrated_ = true;
  }
  return run_and_adapt();
}

}  // namespace heddle::bench
