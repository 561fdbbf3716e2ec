// SPDX-License-Identifier: BSD-3-Clause
// unmap_monitor.h - notices when memory of this process goes away or gets other pages.
//
// The kernel tells of what it does to watched memory, whoever asked for it, libc included, by
// userfaultfd(2): after an unmapping, before a removal of pages, and it holds up the call until the
// news is taken. Calls of munmap() and the like by programs and libraries pass through
// unmap_hooks.cpp as well, which speaks before anything happens. docs/design/registration_cache.md
// says why both.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/fd.h"
#include "memory/userfault.h"
#include "sync/mapping_changes.h"
#include "sync/pin.h"
#include "sync/release_acquire.h"

namespace heddle::memory {

/// Somebody who keeps knowledge of mappings.
class unmap_listener {
 public:
  /// [from, to) has other pages now, or will have soon. Called from inside munmap() and the like,
  /// or while a thread waits in them: must not allocate, block, take a lock, or change a mapping.
  /// True: it kept something of that; there may be something to collect().
  virtual bool forget(std::uintptr_t from, std::uintptr_t to) noexcept = 0;
  /// Called soon after, from a thread on which nobody waits: may do all that.
  virtual void collect() noexcept = 0;

 protected:
  ~unmap_listener() = default;
};

/// How changes are noticed.
enum class unmap_method : std::uint8_t {
  none,    ///< not at all
  calls,   ///< calls of munmap() and the like by programs and libraries, not what libc does inside
  kernel,  ///< events of userfaultfd(2), and calls if hooked
};

struct unmap_report {
  unmap_method method = unmap_method::none;
  std::string why;  ///< in words: what is used, or why nothing is
};

/// One per process, made on first use and never destroyed.
class unmap_monitor {
 public:
  /// What HEDDLE_RCACHE=`mode` (auto | hooks | off), with calls hooked or not (HEDDLE_MEM_HOOKS),
  /// comes to here. Starts nothing. Any thread.
  [[nodiscard]] static unmap_report probe(const std::string& mode, bool hooked = true);
  /// The process's monitor, started if it was not. Null: none, as probe() says, or this is the
  /// child of a fork. What first starts it is what it is for good. Any thread.
  [[nodiscard]] static unmap_monitor* start(const std::string& mode, bool hooked = true);
  /// The one that was started. Null: none, or this is the child of a fork. Any thread.
  [[nodiscard]] static unmap_monitor* running() noexcept;

  [[nodiscard]] const unmap_report& report() const noexcept { return report_; }

  /// From now on the listener is told. False: too many listeners. Any thread.
  [[nodiscard]] bool attach(unmap_listener& listener) noexcept;
  /// When this returns, it is told no more. Any thread, but not from inside collect().
  void detach(unmap_listener& listener) noexcept;

  /// Changes of [from, to), whole pages of the system, will be noticed. False: they cannot be, or
  /// nothing is mapped there. Any thread.
  [[nodiscard]] bool watch(std::uintptr_t from, std::uintptr_t to) const noexcept;
  /// Between begin() and end(): the kernel need not tell of what the caller does to [from, to).
  void unwatch(std::uintptr_t from, std::uintptr_t to) const noexcept;

  /// By which listeners tell what they keep from what has changed.
  [[nodiscard]] sync::mapping_changes<>& changes() noexcept { return changes_; }

  /// [from, to) has changed, or will until end(). True: somebody kept something of it. Allocates
  /// nothing and takes no lock.
  bool begin(std::uintptr_t from, std::uintptr_t to) noexcept;
  void end() noexcept { changes_.end(); }

 private:
  unmap_monitor(unmap_report report, userfault events, unique_fd bell, bool hooked);

  struct place {
    sync::pin_count users;  // open while listener is set
    unmap_listener* listener = nullptr;
  };
  static constexpr std::size_t most_listeners = 256;

  static unmap_monitor* make(const std::string& mode, bool hooked);
  void hook_new_objects();
  [[nodiscard]] bool has_new_objects() const noexcept;
  void start_threads();
  void read_events() noexcept;
  void collect_for_ever() noexcept;
  bool tell(std::uintptr_t from, std::uintptr_t to) noexcept;
  void ring() const noexcept;
  template <class F>
  void each_listener(F&& use) noexcept;

  // Constant after construction.
  const unmap_report report_;
  const userfault events_;
  const unique_fd bell_;  // an eventfd: something is to be collected, or there are new objects
  const bool hooked_;     // calls of munmap() and the like

  // Of the thread that collects, once it runs; others only read.
  // Ever loaded, when calls were last hooked.
  sync::release_acquire<std::size_t> hooked_objects_{0};

  sync::mapping_changes<> changes_;
  std::mutex attaching_;                               // guards who is in which place
  std::array<place, most_listeners> places_;           // and their listeners, see place
  sync::release_acquire<std::size_t> used_places_{0};  // places beyond have never been used
};

}  // namespace heddle::memory
