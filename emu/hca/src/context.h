// SPDX-License-Identifier: BSD-3-Clause
// context.h - an open device: what libibverbs calls a context.
#pragma once
#include <infiniband/verbs.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "counters.h"
#include "place.h"
#include "process.h"
#include "shared_pipe.h"
#include "shared_qp.h"

namespace hca {

class context {
 public:
  context(process& us, ibv_device& device, unsigned number);
  ~context();
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  static context& of(ibv_context* api) noexcept {
    return *reinterpret_cast<verbs_handle*>(verbs_get_ctx(api))->object;
  }

  [[nodiscard]] ibv_context* api() noexcept { return &handle_.verbs.context; }
  [[nodiscard]] process& us() noexcept { return us_; }
  [[nodiscard]] unsigned ports() const noexcept;
  [[nodiscard]] place at(unsigned port) const noexcept;
  [[nodiscard]] const shared_pipe& async() const noexcept { return async_; }
  /// What this process has asked of the device, whichever context it used.
  [[nodiscard]] counters& count() noexcept { return counters_; }

  /// Objects that events are of, by their numbers. `Api` is what programs hold.
  template <class Api>
  void know(std::uint32_t number, Api* api) {
    const std::lock_guard held(mutex_);
    known_[number] = api;
  }
  void forget(std::uint32_t number) {
    const std::lock_guard held(mutex_);
    known_.erase(number);
  }
  template <class Api>
  [[nodiscard]] Api* find(std::uint32_t number) {
    const std::lock_guard held(mutex_);
    const auto found = known_.find(number);
    return found == known_.end() ? nullptr : static_cast<Api*>(found->second);
  }

  std::atomic<unsigned> domains{0}, thread_domains{0};

 private:
  struct verbs_handle {
    verbs_context verbs{};
    context* object = nullptr;
  };
  void set_operations() noexcept;

  verbs_handle handle_;
  process& us_;
  const unsigned number_;
  counters& counters_;
  shared_pipe async_;
  std::mutex mutex_;  // guards all below
  std::unordered_map<std::uint32_t, void*> known_;
};

/// What an address handle was made of.
[[nodiscard]] const ibv_ah_attr& address_of(ibv_ah* ah) noexcept;

/// The functions that libibverbs' header calls through the context, by the files that have them.
void set_device_operations(verbs_context& verbs) noexcept;
void set_domain_operations(verbs_context& verbs) noexcept;
void set_cq_operations(verbs_context& verbs) noexcept;
void set_queue_operations(verbs_context& verbs) noexcept;

/// Runs `make`, which gives a pointer; nullptr with errno where it throws.
template <class Make>
auto made(const Make& make) noexcept -> decltype(make()) {
  try {
    return make();
  } catch (...) {
    errno = ENOMEM;
    return nullptr;
  }
}

/// For functions that give nullptr and errno.
inline std::nullptr_t refuse(int problem) noexcept {
  errno = problem;
  return nullptr;
}

}  // namespace hca
