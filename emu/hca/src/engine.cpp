// SPDX-License-Identifier: BSD-3-Clause
// engine.cpp - see engine.h.
#include "engine.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "qp.h"

namespace hca {

void engine::start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the program's
  std::thread([this] { run(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  running_ = true;
}

void engine::add(const std::shared_ptr<qp>& one) {
  const std::lock_guard held(mutex_);
  if (std::find(waiting_.begin(), waiting_.end(), one) != waiting_.end()) return;
  waiting_.push_back(one);
  count_.store(waiting_.size(), std::memory_order_relaxed);  // relaxed: a hint
  if (!running_) start();
  work_.notify_one();
}

void engine::serve() {
  const std::unique_lock held(serving_, std::try_to_lock);
  if (held) serve_held();
}

/// Whether anything moved.
bool engine::serve_held() {
  std::vector<std::shared_ptr<qp>> all;
  {
    const std::lock_guard held(mutex_);
    all.swap(waiting_);  // who posts meanwhile adds itself again
  }
  bool moved = false;
  for (const auto& one : all) {
    const progress made = one->drive();
    moved = moved || made.moved;
    if (made.waits) add(one);
  }
  const std::lock_guard held(mutex_);
  count_.store(waiting_.size(), std::memory_order_relaxed);  // relaxed: a hint
  return moved;
}

void engine::run() {
  constexpr auto pause = std::chrono::microseconds(50);
  for (;;) {
    {
      std::unique_lock held(mutex_);
      work_.wait(held, [this] { return !waiting_.empty(); });
    }
    bool moved = false;
    {
      const std::lock_guard held(serving_);
      moved = serve_held();
    }
    if (!moved && is_busy()) std::this_thread::sleep_for(pause);
  }
}

}  // namespace hca
