// SPDX-License-Identifier: BSD-3-Clause
// domain.h - protection domains, parent domains and thread domains.
#pragma once
#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>

#include "handle.h"

namespace hca {

/// A promise that one thread at a time uses what was made under it. Here it is checked.
struct thread_domain {
  handle<ibv_td, thread_domain> api;
  std::atomic<int> inside{0};  ///< the thread that is in a call; 0: none
  std::atomic<unsigned> users{0};
};

struct domain {
  handle<ibv_pd, domain> api;
  std::uint32_t number = 0;  ///< of the protection domain; a parent domain has its parent's
  domain* parent = nullptr;
  thread_domain* td = nullptr;
  std::atomic<unsigned> users{0};  ///< registrations, queues and parent domains made under it

  static domain& of(ibv_pd* pd) noexcept { return object_of<domain, ibv_pd>(pd); }
};

/// A call on an object under a thread domain, or under none (nullptr). Two threads at once end the
/// program: hardware would spoil the queue instead.
class td_call {
 public:
  td_call(thread_domain* td, const char* what) noexcept : td_(td) {
    if (td != nullptr) enter(what);
  }
  td_call(const td_call&) = delete;
  td_call& operator=(const td_call&) = delete;
  ~td_call() {
    if (td_ != nullptr) td_->inside.store(0, std::memory_order_release);  // R1 pairs with A1
  }

 private:
  void enter(const char* what) noexcept;

  thread_domain* const td_;
};

}  // namespace hca
