// SPDX-License-Identifier: BSD-3-Clause
#include "memory/unmap_monitor.h"

#include <malloc.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/own_thread.h"
#include "memory/redirected_calls.h"
#include "memory/unmap_hooks.h"
#include "sync/fork.h"

namespace heddle::memory {
namespace {

constinit sync::release_acquire<unmap_monitor*> the_monitor{nullptr};

struct choice {
  unmap_report report;
  userfault events;
};

/// What `mode` comes to.
choice choose(const std::string& mode, bool hooked) {
  if (mode == "off") return {{unmap_method::none, "switched off"}, {}};
  if (sync::forked()) return {{unmap_method::none, "this is the child of a fork"}, {}};
  if (mode == "hooks" && !hooked)
    return {{unmap_method::none, "HEDDLE_RCACHE=hooks, and HEDDLE_MEM_HOOKS=off"}, {}};
  if (mode == "hooks")
    return {{unmap_method::calls, "calls of munmap and the like, by others than libc"}, {}};
  std::string why_not;
  userfault events = userfault::open(why_not);
  if (!events.is_open()) return {{unmap_method::none, why_not}, {}};
  return {{unmap_method::kernel, hooked ? "userfaultfd, and calls of munmap and the like"
                                        : "userfaultfd alone: HEDDLE_MEM_HOOKS=off"},
          std::move(events)};
}

/// What is freed then stays mapped. Arenas of threads may still shrink: see docs/design.
void keep_libc_from_unmapping() noexcept {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace

unmap_report unmap_monitor::probe(const std::string& mode, bool hooked) {
  if (mode != "off")
    if (const unmap_monitor* started = running()) return started->report();
  return choose(mode, hooked).report;
}

unmap_monitor* unmap_monitor::running() noexcept {
  return sync::forked() ? nullptr : the_monitor.get();
}

unmap_monitor* unmap_monitor::start(const std::string& mode, bool hooked) {
  static std::mutex starting;
  const std::scoped_lock lock(starting);
  if (mode == "off" || sync::forked()) return nullptr;
  if (the_monitor.get() == nullptr) the_monitor.set(make(mode, hooked));
  return the_monitor.get();
}

unmap_monitor* unmap_monitor::make(const std::string& mode, bool hooked) {
  auto [report, events] = choose(mode, hooked);
  if (report.method == unmap_method::none) return nullptr;
  unique_fd bell(eventfd(0, EFD_CLOEXEC));
  if (!bell) fail_errno(errno, "watch mappings: eventfd");
  sync::watch_forks();
  if (report.method == unmap_method::calls) keep_libc_from_unmapping();
  // Never destroyed: its threads, and calls of munmap(), go on until the process has ended.
  auto* made = new unmap_monitor(std::move(report), std::move(events), std::move(bell), hooked);
  made->hook_new_objects();
  made->start_threads();
  return made;
}

unmap_monitor::unmap_monitor(unmap_report report, userfault events, unique_fd bell, bool hooked)
    : report_(std::move(report)),
      events_(std::move(events)),
      bell_(std::move(bell)),
      hooked_(hooked) {}

void unmap_monitor::start_threads() {
  in_context("watch mappings", [this] {
    start_thread("heddle-collect", [this] { collect_for_ever(); }).detach();
    if (events_.is_open()) start_thread("heddle-unmap", [this] { read_events(); }).detach();
  });
}

bool unmap_monitor::has_new_objects() const noexcept {
  return hooked_ && objects_ever_loaded() != hooked_objects_.get();
}

void unmap_monitor::hook_new_objects() {
  if (!hooked_) return;
  const std::size_t loaded = objects_ever_loaded();  // before: what comes meanwhile is new again
  hook_memory_calls();
  hooked_objects_.set(loaded);
}

// --- who listens -----------------------------------------------------------------------

bool unmap_monitor::attach(unmap_listener& listener) noexcept {
  const std::scoped_lock lock(attaching_);
  for (std::size_t i = 0; i < most_listeners; ++i) {
    place& p = places_[i];
    if (p.listener != nullptr) continue;
    p.listener = &listener;
    p.users.open();
    if (i == used_places_.get()) used_places_.set(i + 1);
    return true;
  }
  return false;
}

void unmap_monitor::detach(unmap_listener& listener) noexcept {
  const std::scoped_lock lock(attaching_);
  for (place& p : places_) {
    if (p.listener != &listener) continue;
    p.users.close();
    while (!p.users.empty()) std::this_thread::yield();
    p.listener = nullptr;
  }
}

template <class F>
void unmap_monitor::each_listener(F&& use) noexcept {
  const std::size_t used = used_places_.get();
  for (std::size_t i = 0; i < used; ++i) {
    if (!places_[i].users.try_enter()) continue;
    const sync::pin pin(places_[i].users);
    use(*places_[i].listener);
  }
}

// --- who tells -------------------------------------------------------------------------

bool unmap_monitor::watch(std::uintptr_t from, std::uintptr_t to) const noexcept {
  if (has_new_objects()) ring();
  return !events_.is_open() || events_.watch(from, to);
}

void unmap_monitor::unwatch(std::uintptr_t from, std::uintptr_t to) const noexcept {
  if (events_.is_open()) events_.unwatch(from, to);
}

bool unmap_monitor::tell(std::uintptr_t from, std::uintptr_t to) noexcept {
  bool any = false;
  each_listener([&](unmap_listener& listener) { any |= listener.forget(from, to); });
  return any;
}

void unmap_monitor::ring() const noexcept {
  const std::uint64_t one = 1;
  // Fails only when it has rung so often already that the counter is full.
  static_cast<void>(!write(bell_.get(), &one, sizeof(one)));
}

bool unmap_monitor::begin(std::uintptr_t from, std::uintptr_t to) noexcept {
  changes_.begin(from, to);
  const bool any = tell(from, to);
  if (any) ring();
  return any;
}

// --- the two threads -------------------------------------------------------------------

/// Takes no lock and allocates nothing: threads that wait in munmap() for it may hold any lock.
void unmap_monitor::read_events() noexcept {
  std::array<changed_range, 16> news;
  for (;;) {
    events_.wait();
    changes_.fall_behind();
    const int count = events_.take(news);
    for (int i = 0; i < count; ++i) {
      const changed_range& range = news[static_cast<std::size_t>(i)];
      begin(range.from, range.to);
      end();
    }
    if (count < 0) break;
    changes_.catch_up();
  }
  // Blind from now on: nothing that is there is given out again, and nothing is kept.
  begin(0, std::numeric_limits<std::uintptr_t>::max());
  changes_.catch_up();
}

void unmap_monitor::collect_for_ever() noexcept {
  for (std::uint64_t rung = 0;;) {
    if (read(bell_.get(), &rung, sizeof(rung)) < 0 && errno != EINTR) return;
    if (has_new_objects()) hook_new_objects();
    each_listener([](unmap_listener& listener) { listener.collect(); });
  }
}

}  // namespace heddle::memory
