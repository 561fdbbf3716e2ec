// SPDX-License-Identifier: BSD-3-Clause
// pmi1_test.cpp - launchers that speak PMI-1 badly, or stop to: what a rank says of them.
#include "bootstrap/pmi1.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "base/fd.h"
#include "bootstrap/send_all.h"

namespace heddle::bootstrap {
namespace {

using testing::ContainsRegex;

constexpr int failed = 3;
constexpr const char* hang_up = "";
constexpr const char* say_nothing = "\n";

/// By command what is answered: a line, or one of the above.
using answers = std::map<std::string, std::string>;

answers usual_but(const answers& odd) {
  answers all{{"init", "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1"},
              {"get_maxes", "cmd=maxes rc=0 kvsname_max=64 keylen_max=64 vallen_max=1024"},
              {"get_my_kvsname", "cmd=my_kvsname rc=0 kvsname=kvs_7"},
              {"barrier_in", "cmd=barrier_out rc=0"},
              {"mapping", "cmd=get_result rc=0 value=(vector,(0,2,1))"},
              {"get", "cmd=get_result rc=-1 msg=key_not_found"}};
  for (const auto& [command, answer] : odd) all[command] = answer;
  return all;
}

std::string command_in(const std::string& request) {
  if (request.find("PMI_process_mapping") != std::string::npos) return "mapping";
  return request.substr(4, request.find_first_of(" \n") - 4);  // behind "cmd="
}

void serve(unique_fd socket, const answers& all) {
  for (std::string request;;) {
    std::array<char, 1024> some{};
    const ssize_t got = recv(socket.get(), some.data(), some.size(), 0);
    if (got <= 0) return;
    request.append(some.data(), static_cast<std::size_t>(got));
    if (!request.ends_with('\n')) continue;
    std::string answer = all.at(command_in(request));
    request.clear();
    if (answer == hang_up) return;
    if (answer == say_nothing) continue;
    answer += '\n';
    (void)send_all(socket.get(), std::as_bytes(std::span(answer)));
  }
}

/// Joins as rank 1 of 2, on a host of its own, and ends with what it has been told. In a process of
/// its own: PMI-1 lets each join once.
[[noreturn]] void join_where(const answers& odd, std::uint64_t limit_ms = 60'000,
                             const char* size = "2") {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::_Exit(1);
  setenv("PMI_FD", std::to_string(ends[0]).c_str(), 1);
  setenv("PMI_RANK", "1", 1);
  setenv("PMI_SIZE", size, 1);
  std::thread(serve, unique_fd(ends[1]), usual_but(odd)).detach();
  try {
    (void)join_pmi1(limit_ms);
  } catch (const error& why) {
    std::fprintf(stderr, "%s\n", why.what());
    std::_Exit(failed);
  }
  std::_Exit(0);
}

void expect_told(const answers& odd, const std::string& why) {
  EXPECT_EXIT(join_where(odd), testing::ExitedWithCode(failed), ContainsRegex(why))
      << (odd.empty() ? "" : odd.begin()->first + ": " + odd.begin()->second.substr(0, 60));
}

TEST(Pmi1Launcher, ThatHangsUpHasGoneAway) {
  for (const char* command : {"init", "get_maxes", "get_my_kvsname", "barrier_in", "get"})
    expect_told({{command, hang_up}}, "the launcher \\(PMI\\) went away");
}

TEST(Pmi1Launcher, ThatSaysNothingIsWaitedForUpToTheLimit) {
  EXPECT_EXIT(join_where({{"barrier_in", say_nothing}}, 1), testing::ExitedWithCode(failed),
              ContainsRegex("in vain \\(HEDDLE_JOIN_TIMEOUT_MS\\)"));
}

TEST(Pmi1Launcher, OfMoreRanksThanAJobHasIsRefused) {
  EXPECT_EXIT(join_where({}, 60'000, "2147483647"), testing::ExitedWithCode(failed),
              ContainsRegex("PMI_SIZE=2147483647: a job has 1000000 ranks at most"));
}

TEST(Pmi1Launcher, ThatRefusesIsQuoted) {
  expect_told({{"init", "cmd=response_to_init rc=-1 msg=version"}},
              "refused 'cmd=init [^']*': version");
  expect_told({{"barrier_in", "cmd=barrier_out rc=1"}}, "refused 'cmd=barrier_in': without");
}

TEST(Pmi1Launcher, ThatAnswersSomethingElseIsRefused) {
  expect_told({{"init", "cmd=barrier_out rc=0"}}, "answered out of turn");
  expect_told({{"init", "HTTP/1.1 400 Bad Request"}}, "is not PMI-1: HTTP/1.1 400");
  expect_told({{"get_maxes", "cmd=maxes rc=0 rc=0"}}, "is not PMI-1: cmd=maxes");
  expect_told({{"get", std::string(100'000, 'x')}}, "is not PMI-1: ");
}

TEST(Pmi1Launcher, WhoseLimitsMakeNoSenseIsRefused) {
  expect_told({{"get_maxes", "cmd=maxes rc=0 keylen_max=64"}}, "does not say how long");
  expect_told({{"get_maxes", "cmd=maxes rc=0 vallen_max=16"}}, "takes values of 16 bytes only");
  for (const char* bad : {"-1", "", "1k", "99999999999"})
    expect_told({{"get_maxes", "cmd=maxes rc=0 vallen_max=" + std::string(bad)}}, "is no number");
  expect_told({{"get_my_kvsname", "cmd=my_kvsname rc=0"}}, "names no store");
}

TEST(Pmi1Launcher, WhoseStoreLacksOrSpoilsAValueIsTold) {
  expect_told({}, "refused 'cmd=get [^']*': key_not_found");
  for (const char* bad : {"", "abc", "1:***", "1:QUI=", "2:QUI"})
    expect_told({{"get", "cmd=get_result rc=0 value=" + std::string(bad)}}, "rank 0");
  expect_told({{"get", "cmd=get_result rc=0 value=-1:QUI"}}, "is no number");
  expect_told({{"get", "cmd=get_result rc=0"}}, "rank 0 has given a malformed value");
}

TEST(Pmi1Launcher, WhoseStoreHasMorePiecesThanAnyValueIsNotReadToTheirEnd) {
  expect_told({{"get", "cmd=get_result rc=0 value=2147483647:QUJD"}},
              "rank 0 has given has 2147483647 pieces by the launcher.*HEDDLE_RENDEZVOUS");
}

}  // namespace
}  // namespace heddle::bootstrap
