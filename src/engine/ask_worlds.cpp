// SPDX-License-Identifier: BSD-3-Clause
// ask_worlds.cpp - the asking side of inspector.h: finds the worlds of a process and of what it
// started.
#include <heddle/info.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/fd.h"
#include "engine/inspector_socket.h"

namespace heddle {
namespace {

using json = nlohmann::ordered_json;

constexpr int patience_ms = 5000;

/// Whom a socket's name belongs to.
struct address_of_world {
  int pid = 0, rank = 0, size = 0, number = 0;
  friend bool operator==(const address_of_world&, const address_of_world&) = default;
};

std::optional<address_of_world> parse(const std::string& name) {
  address_of_world w;
  int end = 0;
  if (std::sscanf(name.c_str(), "@heddle-%d-%d-%d-%d%n", &w.pid, &w.rank, &w.size, &w.number,
                  &end) != 4 ||
      static_cast<std::size_t>(end) != name.size())
    return {};
  return w;
}

struct process {
  int parent = 0;
  char state = '?';
};

/// Of /proc/PID/stat: the name in the middle may hold anything.
process look_up(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const std::size_t behind_name = text.rfind(')');
  process found;
  if (behind_name == std::string::npos) return found;
  std::istringstream rest(text.substr(behind_name + 1));
  rest >> found.state >> found.parent;
  return found;
}

bool belongs_to(int pid, int ancestor) {
  while (pid > 1 && pid != ancestor) pid = look_up(pid).parent;
  return pid == ancestor;
}

std::vector<address_of_world> worlds_of(int pid) {
  std::ifstream file("/proc/net/unix");
  std::vector<address_of_world> found;
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.rfind(' ');
    const auto world = at == std::string::npos ? std::nullopt : parse(line.substr(at + 1));
    // Once for the world, once for each connection that has not ended.
    if (world && belongs_to(world->pid, pid) && std::ranges::find(found, *world) == found.end())
      found.push_back(*world);
  }
  std::ranges::sort(found, {},
                    [](const address_of_world& w) { return std::pair(w.rank, w.number); });
  return found;
}

/// What stands in for a report.
std::string problem(const address_of_world& w, const std::string& what) {
  return json{{"pid", w.pid}, {"rank", w.rank}, {"size", w.size}, {"problem", what}}.dump();
}

bool is_stopped(int pid) {
  const char state = look_up(pid).state;
  return state == 'T' || state == 't';
}

/// Nobody else has taken the name.
bool genuine(int connection, const address_of_world& w) {
  ucred who{};
  socklen_t bytes = sizeof who;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 && who.pid == w.pid &&
         (who.uid == geteuid() || geteuid() == 0);
}

std::string stopped(const address_of_world& w) {
  return problem(w, "the process is stopped (SIGSTOP, or a debugger)");
}

std::string read_all(int connection, const address_of_world& w) {
  std::string text;
  std::array<char, 65536> part;
  for (;;) {
    pollfd readable{.fd = connection, .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, patience_ms) <= 0)
      return is_stopped(w.pid)  // it takes a moment, on a busy host
                 ? stopped(w)
                 : problem(w, fmt::format("it did not answer within {} s", patience_ms / 1000));
    const ssize_t n = read(connection, part.data(), part.size());
    if (n <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(n));
  }
  return json::accept(text) ? text : problem(w, "the process ended, or is another user's");
}

std::string ask(const address_of_world& w) {
  if (is_stopped(w.pid)) return stopped(w);
  const unique_fd connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const abstract_address where = engine::inspector_address(w.pid, w.rank, w.size, w.number);
  const timeval patience{.tv_sec = patience_ms / 1000, .tv_usec = 0};
  setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &patience,
             sizeof patience);  // of connect()
  if (!connection || connect(connection.get(), where.get(), where.length()) != 0)
    return problem(w, fmt::format("it cannot be asked: {}", std::strerror(errno)));
  if (!genuine(connection.get(), w)) return problem(w, "the process is another user's");
  return read_all(connection.get(), w);
}

}  // namespace

std::vector<std::string> ask_worlds(int pid) {
  const std::vector<address_of_world> found = worlds_of(pid);
  if (found.empty()) {
    if (access(fmt::format("/proc/{}", pid).c_str(), F_OK) != 0)
      fail("there is no process {}", pid);
    fail(
        "process {} and what it has started have no world of Heddle: give the process id of a rank "
        "or of its `heddle run`, on the host where it runs",
        pid);
  }
  std::vector<std::string> reports;
  for (const address_of_world& w : found) reports.push_back(ask(w));
  return reports;
}

}  // namespace heddle
