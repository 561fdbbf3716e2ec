// SPDX-License-Identifier: BSD-3-Clause
#include "memory/remote_memory.h"

#include <utility>

namespace heddle::memory {

void imported_memory::add(remote_memory& made) {
  const std::lock_guard lock(mutex_);
  all_.insert(&made);
}

void imported_memory::remove(remote_memory& gone) noexcept {
  const std::lock_guard lock(mutex_);
  all_.erase(&gone);
}

void imported_memory::unmap_all() noexcept {
  const std::lock_guard lock(mutex_);
  for (remote_memory* each : all_) each->mapped = rights::none;
}

remote_memory::remote_memory(std::shared_ptr<imported_memory> of) : among_(std::move(of)) {
  among_->add(*this);
}

remote_memory::~remote_memory() {
  among_->remove(*this);
}

}  // namespace heddle::memory
