// unmap_monitor.h - notices when this process's memory goes away or gets other pages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "sync/mapping_changes.h"

namespace heddle::memory {

/// Somebody who keeps knowledge of mappings.
class unmap_listener {
 public:
  /// [from, to) has other pages now, or will have soon. Called from inside munmap() and the like, or
  /// while a thread waits in them: must not allocate, block, or take a lock. True: call collect().
  virtual bool forget(std::uintptr_t from, std::uintptr_t to) noexcept = 0;
  /// Called soon after, from a thread on which nobody waits: may block.
  virtual void collect() noexcept = 0;

 protected:
  ~unmap_listener() = default;
};

/// How changes are noticed.
enum class unmap_method : std::uint8_t {
  none,    ///< not at all
  calls,   ///< calls of munmap() and the like by programs and libraries, but not by libc itself
  kernel,  ///< events of userfaultfd(2), and calls
};

struct unmap_report {
  unmap_method method = unmap_method::none;
  std::string why;  ///< in words: what is used, or why nothing is
};

/// One per process, made on first use and never destroyed. Any thread may call anything.
class unmap_monitor {
 public:
  /// What HEDDLE_RCACHE=`mode` (auto | hooks | off) comes to here. Starts nothing.
  [[nodiscard]] static unmap_report probe(const std::string& mode);
  /// The process's monitor, started if it was not; null: none, as probe() says, or in the child of a
  /// fork. The first mode that starts it is the one for good.
  [[nodiscard]] static unmap_monitor* start(const std::string& mode);
  [[nodiscard]] const unmap_report& report() const noexcept;

  /// From now on the listener is told. False: too many listeners.
  [[nodiscard]] bool attach(unmap_listener& listener) noexcept;
  /// It is not being told any more when this returns.
  void detach(unmap_listener& listener) noexcept;

  /// Changes of [from, to), whole pages of the system, will be noticed. False: they cannot be.
  [[nodiscard]] bool watch(std::uintptr_t from, std::uintptr_t to) noexcept;

  [[nodiscard]] sync::mapping_changes<>& changes() noexcept;
};

}  // namespace heddle::memory
