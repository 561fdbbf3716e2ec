// SPDX-License-Identifier: BSD-3-Clause
#include "engine/inline_round.h"

#include <algorithm>
#include <thread>

#include "engine/executor.h"

namespace heddle::engine {

void inline_round::take() noexcept {
  while (!free_.take()) std::this_thread::yield();  // it is for a moment
}

void inline_round::add(executor& e) {
  take();
  executors_.push_back(&e);
  members_.set(executors_.size());
  free_.set(true);
}

void inline_round::remove(executor& e) noexcept {
  take();
  std::erase(executors_, &e);
  members_.set(executors_.size());
  free_.set(true);
}

void inline_round::serve_others(const executor& own) noexcept {
  if (!has_several() || !free_.take()) return;
  for (executor* e : executors_)
    if (e != &own) e->serve_own();
  free_.set(true);
}

}  // namespace heddle::engine
