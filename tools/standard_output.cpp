// SPDX-License-Identifier: BSD-3-Clause
#include "standard_output.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "exit_status.h"

namespace heddle::tools {
namespace {

int first_problem = 0;  ///< errno of the first write to standard output that failed

void remember(bool arrived) noexcept {
  if (!arrived && first_problem == 0) first_problem = errno;
}

}  // namespace

void print(std::string_view text) noexcept {
  remember(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
  remember(std::fflush(stdout) == 0);
}

void complain(std::string_view text) noexcept {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

void outlive_readers() noexcept {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int finish_output(int status) noexcept {
  remember(std::fflush(stdout) == 0);
  if (first_problem == 0) return status;
  if (first_problem == EPIPE) return status == success ? 128 + SIGPIPE : status;
  std::fprintf(stderr, "heddle: not all output could be written: %s\n",
               std::strerror(first_problem));
  return status == success ? failed : status;
}

}  // namespace heddle::tools
