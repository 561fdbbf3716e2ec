// SPDX-License-Identifier: BSD-3-Clause
// side.cpp - see side.h.
#include "side.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace conformance {

void side::exchange(const void* mine, void* theirs, std::size_t bytes) {
  const bool sent = write(wire_, mine, bytes) == static_cast<ssize_t>(bytes);
  const bool got = sent && recv(wire_, theirs, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
  if (got) return;
  failed_ = true;  // the other side has said why
  throw test_over{};
}

namespace {

void print(int rank, const char* format, va_list arguments) {
  std::array<char, 400> line{};
  std::vsnprintf(line.data(), line.size(), format, arguments);
  std::printf("    side %d: %s\n", rank, line.data());
}

}  // namespace

void side::expect(bool holds, const char* format, ...) {
  if (holds) return;
  failed_ = true;
  va_list arguments;
  va_start(arguments, format);
  print(rank_, format, arguments);
  va_end(arguments);
}

void side::require(bool holds, const char* format, ...) {
  if (holds) return;
  failed_ = true;
  va_list arguments;
  va_start(arguments, format);
  print(rank_, format, arguments);
  va_end(arguments);
  throw test_over{};
}

void side::skip(const char* format, ...) {
  skipped_ = true;
  va_list arguments;
  va_start(arguments, format);
  print(rank_, format, arguments);
  va_end(arguments);
  throw test_over{};
}

namespace {

pid_t start(const test_case& what, const settings& how, int rank, const std::array<int, 2>& wire) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child != 0) return child;
  close(wire[static_cast<std::size_t>(1 - rank)]);
  std::signal(SIGPIPE, SIG_IGN);
  alarm(static_cast<unsigned>(how.seconds));
  side me(rank, wire[static_cast<std::size_t>(rank)], how);
  try {
    what.body(me);
  } catch (const test_over&) {
  }
  std::exit(me.exit_code());
}

/// 0, 1, 77, or minus the signal.
int outcome(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

verdict run(const test_case& what, const settings& how) {
  std::array<int, 2> wire{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wire.data()) != 0) return verdict::failed;
  std::array<pid_t, 2> sides{};
  for (int rank = 0; rank < 2; ++rank)
    sides[static_cast<std::size_t>(rank)] = start(what, how, rank, wire);
  for (const int end : wire) close(end);
  verdict all = verdict::ok;
  for (const pid_t one : sides) {
    int code = outcome(one);
    if (what.second_ends_by != 0 && one == sides[1]) code = code == -what.second_ends_by ? 0 : 1;
    if (code == -SIGALRM) std::printf("    a side was not ready after %g s\n", how.seconds);
    if (code < 0 && code != -SIGALRM) std::printf("    a side was ended by signal %d\n", -code);
    if (code == 77 && all == verdict::ok) all = verdict::skipped;
    if (code != 0 && code != 77) all = verdict::failed;
  }
  return all;
}

}  // namespace conformance
