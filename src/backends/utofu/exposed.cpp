// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/exposed.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "backends/utofu/names.h"
#include "base/error.h"
#include "base/log.h"

namespace heddle::transport::utofu {
namespace {

/// Registers for a cache, on one CQ. Constant data can be registered for reading only.
class cq_registrar final : public memory::registrar {
 public:
  cq_registrar(const vcq& on, unsigned long flags) : on_(on), flags_(flags) {}
  registered register_memory(std::span<std::byte> pages) noexcept override {
    registered made;
    const int code = on_.register_memory(pages, flags_, made.handle);
    if (code == UTOFU_SUCCESS) made.code = answer::done;
    if (code == UTOFU_ERR_FULL || code == UTOFU_ERR_OUT_OF_RESOURCE) made.code = answer::full;
    return made;
  }
  void deregister(std::uint64_t handle) noexcept override { on_.deregister(handle); }

 private:
  const vcq& on_;
  const unsigned long flags_;
};

bool writable(rights allowed) noexcept {
  return allows(allowed, rights::write) || allows(allowed, rights::atomic);
}

}  // namespace

/// The memory side of one CQ.
struct exposed_regions::queue_memory {
  queue_memory(const vcq& first, int first_lane, memory::unmap_monitor* monitor,
               const settings& config)
      : on(first),
        lane(first_lane),
        own(first, 0),
        lent(first, UTOFU_REG_MEM_FLAG_READ_ONLY),
        cache(own, monitor, {.entries = config.rcache_entries, .bytes = config.rcache_bytes}),
        readable(lent, monitor, {.entries = config.rcache_entries, .bytes = config.rcache_bytes}) {
    for (unsigned t = tag_writable; t < tag_end; ++t) free_tags.push_back(t);
  }
  const vcq& on;
  const int lane;
  cq_registrar own, lent;
  // Own work requests read and write: nobody knows what comes next. Peers only read what is lent.
  memory::registration_cache cache, readable;
  std::deque<unsigned> free_tags;  // the one freed longest ago is used next
};

/// What an exposed region holds.
struct exposed_regions::kept {
  std::uint32_t generation = 0;
  region_facts facts;
  std::size_t queue = 0;
  unsigned tag = 0;           // writable, or common
  utofu_stadd_t address = 0;  // 0: not registered
  memory::registration_cache::lease read_lease;
  std::vector<std::pair<const vcq*, utofu_stadd_t>> everywhere;  // common
};

exposed_regions::exposed_regions(std::span<const std::unique_ptr<vcq>> vcqs, const settings& config)
    : table_memory_("heddle-utofu-regions", region_table_bytes) {
  memory::unmap_monitor* const monitor =
      memory::unmap_monitor::start(config.rcache, config.mem_hooks == "on");
  std::map<std::pair<utofu_tni_id_t, utofu_cq_id_t>, std::size_t> known;
  for (std::size_t lane = 0; lane < vcqs.size(); ++lane) {
    const place& at = vcqs[lane]->where();
    const auto [found, is_new] = known.try_emplace({at.tni, at.cq}, queues_.size());
    if (is_new) {
      queues_.push_back(
          std::make_unique<queue_memory>(*vcqs[lane], static_cast<int>(lane), monitor, config));
      first_lanes_.push_back(static_cast<int>(lane));
    }
    queue_of_lane_.push_back(found->second);
  }
  const auto memory = table_memory_.memory();
  check(utofu_reg_mem_with_stag(vcqs[0]->handle(), memory.data(), memory.size(), tag_regions, 0,
                                &table_address_),
        "register the table of regions");
}

exposed_regions::~exposed_regions() {
  for (auto& [slot, k] : kept_) forget({slot, k.generation}, k);
  kept_.clear();
  (void)utofu_dereg_mem(queues_[0]->on.handle(), table_address_, 0);
}

memory::registration_cache& exposed_regions::cache_of(int lane) noexcept {
  return queues_[queue_of_lane_[static_cast<std::size_t>(lane)]]->cache;
}

void exposed_regions::add(const memory::local_region& region) noexcept {
  if (region.ref.slot >= memory::region_table::slots || region.ref.generation == 0) return;
  kept k;
  k.generation = region.ref.generation;
  k.facts = {region.memory.size(), region.allowed};
  k.queue = region.ref.slot % queues_.size();
  const std::scoped_lock lock(mutex_);
  kept& place = kept_[region.ref.slot] = std::move(k);
  if (!register_region(region, place)) note_refused(region);
  publish(table_memory_.memory(), region.ref,
          {region.ref.generation, static_cast<std::uint32_t>(region.allowed), region.memory.size(),
           place.address, static_cast<std::uint32_t>(queues_[place.queue]->lane), 0});
}

bool exposed_regions::register_region(const memory::local_region& region, kept& k) noexcept {
  if (region.memory.empty() || region.allowed == rights::none)
    return true;  // every op on it is refused before it is posted
  if (const unsigned tag = common_tag(region.ref); tag != 0)
    return register_everywhere(region, tag);
  return writable(region.allowed) ? register_writable(region, k) : register_readable(region, k);
}

/// Programs may expose thousands: one line about the first, and a number in world::describe().
void exposed_regions::note_refused(const memory::local_region& region) noexcept {
  if (refused_++ != 0) return;
  log::warn(
      log::subsystem::memory,
      "utofu: a region of {} bytes cannot be registered: either {} writable ones are alive, or its "
      "memory is not mapped as its rights need; peers reach it by messages, which is slower. "
      "Others like it are only counted, in world::describe()",
      region.memory.size(), queues_.size() * (tag_end - tag_writable));
}

std::uint64_t exposed_regions::refused() const noexcept {
  const std::scoped_lock lock(mutex_);
  return refused_;
}

bool exposed_regions::register_everywhere(const memory::local_region& region,
                                          unsigned tag) noexcept {
  kept& k = kept_[region.ref.slot];
  k.tag = tag;
  const unsigned long flags = writable(region.allowed) ? 0 : UTOFU_REG_MEM_FLAG_READ_ONLY;
  for (const auto& q : queues_) {
    utofu_stadd_t address = 0;
    if (utofu_reg_mem_with_stag(q->on.handle(), region.memory.data(), region.memory.size(), tag,
                                flags, &address) != UTOFU_SUCCESS)
      return false;
    k.everywhere.emplace_back(&q->on, address);
  }
  k.address = k.everywhere[k.queue].second;
  return true;
}

/// On its CQ, or the next that has a tag left.
bool exposed_regions::register_writable(const memory::local_region& region, kept& k) noexcept {
  for (std::size_t i = 0; i < queues_.size(); ++i, k.queue = (k.queue + 1) % queues_.size()) {
    queue_memory& q = *queues_[k.queue];
    if (q.free_tags.empty()) continue;
    const unsigned tag = q.free_tags.front();
    if (utofu_reg_mem_with_stag(q.on.handle(), region.memory.data(), region.memory.size(), tag, 0,
                                &k.address) != UTOFU_SUCCESS)
      return false;
    q.free_tags.pop_front();
    k.tag = tag;
    return true;
  }
  return false;
}

bool exposed_regions::register_readable(const memory::local_region& region, kept& k) noexcept {
  k.read_lease = queues_[k.queue]->readable.acquire(region.memory);
  if (!k.read_lease) return false;
  k.address = k.read_lease.handle() + k.read_lease.offset();
  return true;
}

bool exposed_regions::remove(memory::region_ref ref) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = kept_.find(ref.slot);
  if (found == kept_.end() || found->second.generation != ref.generation) return false;
  const bool leased = static_cast<bool>(found->second.read_lease);
  forget(ref, found->second);
  kept_.erase(found);
  return leased;
}

void exposed_regions::revoke(const memory::local_region& region) noexcept {
  if (!remove(region.ref)) return;
  for (const auto& q : queues_) q->readable.invalidate(region.memory);
}

void exposed_regions::forget(memory::region_ref ref, kept& k) noexcept {
  publish(table_memory_.memory(), ref, {});
  for (const auto& [on, address] : k.everywhere) (void)utofu_dereg_mem(on->handle(), address, 0);
  if (k.tag >= tag_writable) {
    (void)utofu_dereg_mem(queues_[k.queue]->on.handle(), k.address, 0);
    queues_[k.queue]->free_tags.push_back(k.tag);
  }
}

bool exposed_regions::find_common(memory::region_ref ref, region_facts& out) const noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = kept_.find(ref.slot);
  if (found == kept_.end() || found->second.generation != ref.generation) return false;
  out = found->second.facts;
  return true;
}

}  // namespace heddle::transport::utofu
