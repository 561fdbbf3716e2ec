// SPDX-License-Identifier: BSD-3-Clause
// host_token_test.cpp - ranks that can reach each other in one kernel and network namespace, and no
// others, get the same token.
#include "bootstrap/host_token.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <heddle/status.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "support/refusal.h"

namespace heddle::bootstrap {
namespace {

constexpr std::uint64_t late_ms = 60'000;

TEST(HostToken, IsOneForAllRanksOfAJobAndAnotherForEachJob) {
  const secret_bytes secret = random_secret();
  std::vector<std::unique_ptr<host_token>> ranks;
  for (int i = 0; i < 100; ++i) ranks.push_back(std::make_unique<host_token>(secret, late_ms));
  EXPECT_FALSE(ranks[0]->text().empty());
  EXPECT_TRUE(ranks[0]->leads());
  for (const auto& r : ranks) EXPECT_EQ(r->text(), ranks[0]->text());
  const host_token other(random_secret(), late_ms);
  EXPECT_NE(other.text(), ranks[0]->text());
}

TEST(HostToken, OfTheNextJobOfTheSameSecretIsAnother) {
  const secret_bytes secret = random_secret();
  const std::string before = host_token(secret, late_ms).text();
  EXPECT_NE(host_token(secret, late_ms).text(), before);
}

TEST(HostToken, IsOneForRanksThatComeAllAtOnce) {
  for (int round = 0; round < 20; ++round) {
    const secret_bytes secret = random_secret();
    std::vector<std::unique_ptr<host_token>> ranks(8);
    std::vector<std::thread> threads;
    for (auto& r : ranks)
      threads.emplace_back([&] { r = std::make_unique<host_token>(secret, late_ms); });
    for (auto& t : threads) t.join();
    std::set<std::string> found;
    for (const auto& r : ranks) found.insert(r->text());
    EXPECT_EQ(found.size(), 1u);
  }
}

/// A rank in a process of its own, which has its token and goes on giving it to others. To be made
/// before this process has threads.
class other_rank {
 public:
  other_rank(const secret_bytes& secret, bool on_another_network) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    from_.reset(ends[0]);
    const unique_fd to(ends[1]);
    child_ = fork();
    if (child_ == 0) be(secret, on_another_network, to.get());
  }
  ~other_rank() {
    kill(SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  other_rank(const other_rank&) = delete;
  other_rank& operator=(const other_rank&) = delete;

  /// Its token; empty: it may not make a network namespace.
  [[nodiscard]] std::string token() const {
    std::array<char, 100> text{};
    const ssize_t got = read(from_.get(), text.data(), text.size());
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }
  void kill(int signal) const { ::kill(child_, signal); }
  /// And waits until it has.
  void stop() const {
    kill(SIGSTOP);
    EXPECT_EQ(waitpid(child_, nullptr, WUNTRACED), child_);
  }

 private:
  [[noreturn]] static void be(const secret_bytes& secret, bool on_another_network, int to) {
    if (on_another_network && unshare(CLONE_NEWNET) != 0) _exit(77);
    const host_token mine(secret, late_ms);
    (void)!write(to, mine.text().data(), mine.text().size());
    for (;;) pause();
  }

  pid_t child_ = -1;
  unique_fd from_;
};

TEST(HostTokenOfProcesses, IsTheSame) {
  const secret_bytes secret = random_secret();
  const other_rank first(secret, false);
  const std::string theirs = first.token();
  EXPECT_FALSE(theirs.empty());
  EXPECT_EQ(host_token(secret, late_ms).text(), theirs);
}

// As for clones of a machine, whatever they say of themselves.
TEST(HostTokenOfProcesses, IsAnotherWhereRanksCannotReachEachOther) {
  const secret_bytes secret = random_secret();
  const other_rank there(secret, true);
  const std::string theirs = there.token();
  if (theirs.empty()) GTEST_SKIP() << "not permitted to make a network namespace";
  const host_token here(secret, late_ms);
  EXPECT_TRUE(here.leads());
  EXPECT_NE(here.text(), theirs);
}

TEST(HostTokenOfProcesses, GoesOnWithoutAFirstRankThatDiesBeforeItHasGivenIt) {
  const secret_bytes secret = random_secret();
  const other_rank first(secret, false);
  EXPECT_FALSE(first.token().empty());
  first.stop();
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    first.kill(SIGKILL);
  });
  const host_token next(secret, late_ms);
  EXPECT_TRUE(next.leads());
  killer.join();
}

TEST(HostTokenOfProcesses, WhoseFirstIsStoppedIsWaitedForUpToTheLimitAndThenMissed) {
  const secret_bytes secret = random_secret();
  const other_rank first(secret, false);
  EXPECT_FALSE(first.token().empty());
  first.stop();
  const std::string why = test::refusal([&] { (void)host_token(secret, 200); });
  EXPECT_NE(why.find("first rank of the job on this host"), std::string::npos) << why;
}

}  // namespace
}  // namespace heddle::bootstrap
