// SPDX-License-Identifier: BSD-3-Clause
// cq_events.h - the completion events of a queue that the program got, and has to acknowledge
// before it destroys the queue.
#pragma once
#include <infiniband/verbs.h>
#include <pthread.h>

#include <cstdint>

namespace hca {

/// Counts with what libibverbs' header lays out for this in a queue. Any thread.
class cq_events {
 public:
  /// `api` outlives this.
  explicit cq_events(ibv_cq_ex& api) noexcept : api_(api) {
    pthread_mutex_init(&api.mutex, nullptr);
    pthread_cond_init(&api.cond, nullptr);
  }
  ~cq_events() {
    pthread_cond_destroy(&api_.cond);
    pthread_mutex_destroy(&api_.mutex);
  }
  cq_events(const cq_events&) = delete;
  cq_events& operator=(const cq_events&) = delete;

  /// The program got one.
  void count() noexcept {
    pthread_mutex_lock(&api_.mutex);
    ++got_;
    pthread_mutex_unlock(&api_.mutex);
  }
  void acknowledge(unsigned events) noexcept {
    pthread_mutex_lock(&api_.mutex);
    api_.comp_events_completed += events;
    pthread_cond_signal(&api_.cond);
    pthread_mutex_unlock(&api_.mutex);
  }
  void wait_for_acknowledgements() noexcept {
    pthread_mutex_lock(&api_.mutex);
    while (got_ != api_.comp_events_completed) pthread_cond_wait(&api_.cond, &api_.mutex);
    pthread_mutex_unlock(&api_.mutex);
  }

 private:
  ibv_cq_ex& api_;
  std::uint32_t got_ = 0;  // guarded by api_.mutex
};

}  // namespace hca
