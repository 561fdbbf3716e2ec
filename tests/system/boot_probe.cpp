// SPDX-License-Identifier: BSD-3-Clause
// boot_probe.cpp - a rank that does what its arguments say, for tests of the launcher.
//
// Each argument is a step, for all ranks or, as "RANK:STEP", for one. Exit status 3 when a step
// throws, with its text on stderr.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "bootstrap/bootstrap.h"

namespace {

using heddle::bootstrap::blob;

std::unique_ptr<heddle::bootstrap::session> session;

heddle::bootstrap::session& here() {
  if (session == nullptr) session = heddle::bootstrap::join();
  return *session;
}

int own_rank() {
  const char* text = std::getenv("HEDDLE_RANK");
  return text == nullptr ? 0 : std::atoi(text);
}

/// What rank `rank` gives: as many bytes as it likes, told from the others' by their value.
blob gift_of(int rank, std::size_t bytes) {
  return blob(bytes + static_cast<std::size_t>(rank) % 7, static_cast<std::byte>(rank + 1));
}

void exchange(std::size_t bytes) {
  const auto& job = here().info();
  const auto all = here().exchange(gift_of(job.rank, bytes));
  if (all.size() != static_cast<std::size_t>(job.size)) throw std::runtime_error("not one each");
  for (int r = 0; r < job.size; ++r)
    if (!std::ranges::equal(all[static_cast<std::size_t>(r)], gift_of(r, bytes)))
      throw std::runtime_error("rank " + std::to_string(r) + "'s gift is wrong");
}

void say_who() {
  const auto& job = here().info();
  std::printf("rank %d of %d, %d here\n", job.rank, job.size, job.local_ranks);
}

void compare_secrets() {
  const auto mine = here().info().secret;
  const auto all = here().exchange(mine);
  for (std::size_t r = 0; r < all.size(); ++r)
    if (!std::ranges::equal(all[r], mine)) throw std::runtime_error("secrets differ");
  if (std::all_of(mine.begin(), mine.end(), [](std::byte b) { return b == std::byte{}; }))
    throw std::runtime_error("the secret is empty");
}

void tell_secret() {
  for (const std::byte b : here().info().secret) std::printf("%02x", std::to_integer<unsigned>(b));
  std::puts("");
}

void join_twice() {
  here();
  (void)heddle::bootstrap::join();
}

const std::map<std::string, std::function<void()>> steps{
    {"join", [] { here(); }},
    {"join-impatiently", [] { session = heddle::bootstrap::join(1000); }},
    {"join-within-5s", [] { session = heddle::bootstrap::join(5000); }},
    {"joined", [] { here().joined(); }},
    {"who", say_who},
    {"exchange", [] { exchange(100); }},
    {"exchange-most", [] { exchange(4090); }},
    {"secrets", compare_secrets},
    {"tell-secret", tell_secret},
    {"barrier", [] { here().barrier(); }},
    {"leave", [] { session.reset(); }},
    {"join-twice", join_twice},
    {"kill", [] { raise(SIGKILL); }},
    {"fail", [] { std::exit(7); }},
    {"abort", [] { here().abort(42, "as it should"), ::sleep(20); }},
    {"abort-and-end", [] { here().abort(42, ""), std::_Exit(9); }},
    {"end", [] { std::exit(0); }},
    {"ready", [] { std::puts("ready"); }},
    {"deaf", [] { signal(SIGTERM, SIG_IGN), signal(SIGINT, SIG_IGN); }},
    {"nap", [] { ::sleep(3); }},
    {"sleep",
     [] {
       for (;;) pause();
     }},
};

void take(std::string argument) {
  if (const auto colon = argument.find(':'); colon != std::string::npos) {
    if (std::stoi(argument) != own_rank()) return;
    argument.erase(0, colon + 1);
  }
  const auto found = steps.find(argument);
  if (found == steps.end()) throw std::runtime_error("no step " + argument);
  found->second();
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) take(argv[i]);
    session.reset();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "probe %d: %s\n", own_rank(), e.what());
    return 3;
  }
  return 0;
}
