// SPDX-License-Identifier: BSD-3-Clause
#include "engine/inline_round.h"

#include <thread>

#include "engine/executor.h"

namespace heddle::engine {

class inline_round::turn {
 public:
  explicit turn(sync::sequential_flag& free) noexcept : free_(free) {
    while (!free_.take()) std::this_thread::yield();  // it is for a moment
  }
  ~turn() { free_.set(true); }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

 private:
  sync::sequential_flag& free_;
};

void inline_round::add(executor& e) {
  const turn mine(free_);
  executors_.push_back(&e);
  members_.set(executors_.size());
}

void inline_round::remove(executor& e) noexcept {
  const turn mine(free_);
  std::erase(executors_, &e);
  members_.set(executors_.size());
}

void inline_round::serve_others(const executor& own) noexcept {
  if (!has_several() || !free_.take()) return;
  for (executor* e : executors_)
    if (e != &own) e->serve_own();
  free_.set(true);
}

}  // namespace heddle::engine
