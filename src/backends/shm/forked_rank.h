// SPDX-License-Identifier: BSD-3-Clause
// forked_rank.h - for the shm tests: a rank in a process of its own, and what it takes to meet
// it.
#pragma once
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "backends/shm/test_rank.h"

namespace heddle::transport::shm {

inline address_blob blob_of(test_rank& of) {
  address_blob blob;
  const auto bytes = of.dev->address();
  EXPECT_EQ(bytes.size(), sizeof blob);
  std::memcpy(&blob, bytes.data(), sizeof blob);
  return blob;
}

inline std::string add(test_rank& to, rank number, const address_blob& blob,
                       bool same_host = true) {
  return to.dev->add_peer(number, std::as_bytes(std::span(&blob, 1)), same_host);
}

/// Runs `child` in a process that this one kills; the pipes carry the addresses and "go on".
class forked_rank {
 public:
  forked_rank(test_rank& here, const std::function<void(test_rank&, int)>& child, rank number = 1) {
    int up[2], down[2];
    if (pipe(up) != 0 || pipe(down) != 0) std::abort();
    const auto mine = here.dev->address();
    pid_ = fork();
    if (pid_ == 0) {
      test_rank there(number);
      const auto theirs = there.dev->address();
      if (write(up[1], theirs.data(), theirs.size()) < 0) _exit(1);
      if (!there.dev->add_peer(0, mine, true).empty()) _exit(2);
      there.open_lane();
      child(there, down[0]);
      if (write(up[1], "!", 1) < 0) _exit(3);
      for (;;) pause();
    }
    EXPECT_EQ(read(up[0], &address, sizeof address), static_cast<ssize_t>(sizeof address));
    EXPECT_EQ(add(here, number, address), "");
    ready_ = owned_fd(up[0]);
    go_ = owned_fd(down[1]);
    close(up[1]);
    close(down[0]);
  }
  ~forked_rank() { kill_it(); }
  address_blob address;
  void go_on() { EXPECT_EQ(write(go_.get(), "!", 1), 1); }
  /// Waits until the child has done its part.
  void join() {
    char done = 0;
    EXPECT_EQ(read(ready_.get(), &done, 1), 1);
  }
  void kill_it() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  owned_fd ready_, go_;
};

inline void must_send(test_rank& from, std::string_view text) {
  if (from.send(0, text) != status::done) _exit(5);
}

/// Rank 0 of this process, which has reached rank 1 of another one, and so believes the like of it.
struct believer {
  believer() {
    first.join();
    here.open_lane();
    EXPECT_EQ(here.dev->add_peer(0, here.dev->address(), true), "");
  }
  test_rank here{0};
  forked_rank first{here, [](test_rank&, int) {}};
};

}  // namespace heddle::transport::shm
