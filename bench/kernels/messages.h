// SPDX-License-Identifier: BSD-3-Clause
// messages.h - a window of messages one way, and of one beside computing.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "harness/rounds.h"
#include "kernels/library.h"
#include "kernels/overlap_pass.h"

namespace heddle::bench {

/// Messages that the target answers once, after the last: tagged ones, which it receives, or calls,
/// which are counted.
template <class Path, operation Op>
class message_flood final : public exchange {
 public:
  explicit message_flood(std::unique_ptr<Path> path) : path_(std::move(path)) {}
  void initiate(std::uint64_t count, stopwatch&) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      if constexpr (Op == operation::tag)
        path_->send(message::data);
      else
        path_->call(message::data);
    }
    path_->drain();
    path_->await_notice();
  }
  void prepare() override {
    if constexpr (Op == operation::am) before_ = path_->arrived();
  }
  void respond(std::uint64_t count) override {
    if constexpr (Op == operation::tag) {
      for (std::uint64_t i = 0; i < count; ++i) path_->recv(message::data);
      path_->drain();
    } else {
      path_->await_arrived(before_ + count);
    }
    path_->notify();
  }

 private:
  const std::unique_ptr<Path> path_;
  std::uint64_t before_ = 0;
};

/// One tagged message at a time beside computing; the receive is always posted first.
template <class Path>
class tag_side {
 public:
  tag_side(std::unique_ptr<Path> path, bool sends) : path_(std::move(path)), sends_(sends) {}
  void prepare() {
    if (sends_) path_->await_notice();
  }
  void post() {
    if (sends_) return path_->send(message::data);
    path_->recv(message::data);
    path_->notify();
  }
  void wait() { path_->drain(); }

 private:
  const std::unique_ptr<Path> path_;
  const bool sends_;
};

}  // namespace heddle::bench
