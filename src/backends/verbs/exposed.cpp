// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/exposed.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace heddle::transport::verbs {
namespace {

/// Atomics on words of 4 bytes act on the 8 aligned ones around them.
std::span<std::byte> whole_words(std::span<std::byte> memory) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::size_t before = from % 8, end = (before + memory.size() + 7) / 8 * 8;
  return {memory.data() - before, end};
}

int access_for(rights allowed) noexcept {
  int a = IBV_ACCESS_LOCAL_WRITE;
  if (allows(allowed, rights::read)) a |= IBV_ACCESS_REMOTE_READ;
  if (allows(allowed, rights::write)) a |= IBV_ACCESS_REMOTE_WRITE;
  if (allows(allowed, rights::atomic)) a |= IBV_ACCESS_REMOTE_ATOMIC;
  return a;
}

/// The process's: whoever asks first starts it.
memory::unmap_monitor* monitor_by(const settings& config) {
  return memory::unmap_monitor::start(config.rcache, config.mem_hooks == "on");
}

memory::cache_limits limits_of(const settings& config) {
  return {.page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)),
          .entries = config.rcache_entries,
          .bytes = config.rcache_bytes};
}

}  // namespace

/// Memory that cannot be written is registered to be read from.
memory::registrar::registered exposed_regions::registrar::register_memory(
    std::span<std::byte> pages) noexcept {
  handle<ibv_mr> made = card_.register_memory(pages, access_);
  if (made == nullptr && errno == EFAULT && access_ == IBV_ACCESS_LOCAL_WRITE)
    made = card_.register_memory(pages, 0);
  registered r;
  if (made != nullptr) {
    r.code = answer::done;
    r.handle = reinterpret_cast<std::uint64_t>(made.release());
  } else if (errno == ENOMEM || errno == ENOSPC) {
    r.code = answer::full;
  }
  return r;
}

void exposed_regions::registrar::deregister(std::uint64_t handle) noexcept {
  (void)ibv_dereg_mr(reinterpret_cast<ibv_mr*>(handle));  // NOLINT: from register_memory
}

exposed_regions::exposed_regions(const card& on, const settings& config)
    : card_(on),
      own_(on, IBV_ACCESS_LOCAL_WRITE),
      lent_(on, IBV_ACCESS_REMOTE_READ),
      own_cache_(own_, monitor_by(config), limits_of(config)),
      lent_cache_(lent_, monitor_by(config), limits_of(config)),
      table_memory_("heddle-verbs-regions", region_table_bytes, memory::peers::none) {
  const auto memory = table_memory_.memory();
  table_registered_.reset(ibv_reg_mr(on.domain(), memory.data(), memory.size(),
                                     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
  if (table_registered_ == nullptr)
    fail_errno(errno,
               "{}: {} bytes cannot be registered; raise the limit on locked memory (ulimit -l)",
               on.name(), memory.size());
}

exposed_regions::~exposed_regions() = default;

std::uint64_t exposed_regions::table() const noexcept {
  return reinterpret_cast<std::uint64_t>(table_memory_.memory().data());
}

region_entry exposed_regions::entry_of(memory::region_ref ref) const noexcept {
  region_entry e;
  std::memcpy(&e, table_memory_.memory().data() + ref.slot * sizeof e, sizeof e);
  return e.generation == ref.generation ? e : region_entry{};
}

void exposed_regions::add(const memory::local_region& region) noexcept {
  if (region.ref.slot >= memory::region_table::slots || region.ref.generation == 0) return;
  region_entry e;
  e.generation = region.ref.generation;
  e.allowed = static_cast<std::uint32_t>(region.allowed);
  e.bytes = region.memory.size();
  kept* const k = kept_.make(region.ref.slot);
  if (k != nullptr) k->generation = region.ref.generation;
  if (k == nullptr || !register_region(region, *k, e)) note_refused(region);
  publish(table_memory_.memory(), region.ref, e);
}

void exposed_regions::note_refused(const memory::local_region& region) noexcept {
  if (refused_.next() != 0) return;
  log::warn(log::subsystem::memory,
            "verbs: {}: a region of {} bytes cannot be registered ({}); peers reach it by "
            "messages, which is slower. The limit on locked memory is ulimit -l. Others like it "
            "are only counted, in world::describe()",
            card_.name(), region.memory.size(), std::strerror(errno));
}

bool exposed_regions::register_region(const memory::local_region& region, kept& k,
                                      region_entry& e) noexcept {
  if (region.memory.empty() || region.allowed == rights::none)
    return true;  // every op on it is refused before it is posted
  if (region.allowed == rights::read) {
    k.read = lent_cache_.acquire(region.memory);
    if (!k.read) return false;
    e.note = registration_of(k.read).rkey;
  } else {
    const auto memory =
        allows(region.allowed, rights::atomic) ? whole_words(region.memory) : region.memory;
    k.written = card_.register_memory(memory, access_for(region.allowed));
    if (k.written == nullptr) return false;
    e.note = k.written->rkey;
  }
  e.address = reinterpret_cast<std::uint64_t>(region.memory.data());
  return true;
}

bool exposed_regions::remove(memory::region_ref ref) noexcept {
  kept* const k = kept_.find(ref.slot);
  if (k != nullptr && k->generation != ref.generation) return false;
  publish(table_memory_.memory(), ref, {});
  if (k == nullptr) return false;
  return static_cast<bool>(std::exchange(*k, {}).read);
}

void exposed_regions::revoke(const memory::local_region& region) noexcept {
  if (remove(region.ref)) lent_cache_.invalidate(region.memory);
}

std::uint64_t exposed_regions::refused() const noexcept {
  return refused_.get();
}

}  // namespace heddle::transport::verbs
