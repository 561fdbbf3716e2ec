// SPDX-License-Identifier: BSD-3-Clause
// background.h - ping-pongs whose threads begin, and then only look at a flag of their own.
#pragma once
#include <sched.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "harness/exchange.h"
#include "kernels/library.h"

namespace heddle::bench {

/// Tagged messages there and back.
template <class Path>
class background_tag final : public exchange {
 public:
  explicit background_tag(std::unique_ptr<Path> path) : path_(std::move(path)) {}
  void initiate(std::uint64_t count, stopwatch& watch) override {
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      path_->recv_aside(message::answer);
      path_->send_aside(message::data);
      path_->finish_aside();
      watch.lap();
    }
  }
  void prepare() override { path_->recv_aside(message::data); }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 1; i <= count; ++i) {
      path_->finish_aside();
      if (i < count) path_->recv_aside(message::data);
      path_->send_aside(message::answer);
    }
    path_->finish_aside();
  }

 private:
  const std::unique_ptr<Path> path_;
};

/// Calls: the handlers on both sides count, the threads answer.
template <class Path>
class background_call final : public exchange {
 public:
  explicit background_call(std::unique_ptr<Path> path) : path_(std::move(path)) {}
  void initiate(std::uint64_t count, stopwatch& watch) override {
    std::uint64_t arrived = path_->arrived();
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      path_->call_aside();
      await(++arrived);
      path_->finish_aside();
      watch.lap();
    }
  }
  void prepare() override { before_ = path_->arrived(); }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 1; i <= count; ++i) {
      await(before_ + i);
      path_->call_aside();
      path_->finish_aside();
    }
  }

 private:
  void await(std::uint64_t arrived) {
    while (path_->arrived() < arrived) sched_yield();
  }

  const std::unique_ptr<Path> path_;
  std::uint64_t before_ = 0;
};

}  // namespace heddle::bench
