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
  for (std::uint32_t slot = 0; slot != memory::region_table::slots; ++slot)
    if (kept* const k = kept_.find(slot); k != nullptr && k->generation != 0)
      forget({slot, k->generation}, *k);
  (void)utofu_dereg_mem(queues_[0]->on.handle(), table_address_, 0);
}

memory::registration_cache& exposed_regions::cache_of(int lane) noexcept {
  return queues_[queue_of_lane_[static_cast<std::size_t>(lane)]]->cache;
}

/// What peers may only read, as what is lent for a large send, needs none.
std::unique_lock<std::mutex> exposed_regions::lock_for(memory::region_ref ref,
                                                       rights allowed) const {
  const bool shared = ref.slot < tagged_arrays || writable(allowed);
  return shared ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
}

void exposed_regions::add(const memory::local_region& region) noexcept {
  if (region.ref.slot >= memory::region_table::slots || region.ref.generation == 0) return;
  region_entry e;
  e.generation = region.ref.generation;
  e.allowed = static_cast<std::uint32_t>(region.allowed);
  e.bytes = region.memory.size();
  kept* const k = kept_.make(region.ref.slot);
  const auto lock = lock_for(region.ref, region.allowed);
  if (k == nullptr || !register_region(region, *k)) note_refused(region);
  if (k != nullptr) {
    e.address = k->address;
    e.note = static_cast<std::uint32_t>(queues_[k->queue]->lane);
  }
  publish(table_memory_.memory(), region.ref, e);
}

bool exposed_regions::register_region(const memory::local_region& region, kept& k) noexcept {
  k.generation = region.ref.generation;
  k.facts = {region.memory.size(), region.allowed};
  k.queue = region.ref.slot % queues_.size();
  if (region.memory.empty() || region.allowed == rights::none)
    return true;  // every op on it is refused before it is posted
  if (const unsigned tag = common_tag(region.ref); tag != 0)
    return register_everywhere(region, tag, k);
  return writable(region.allowed) ? register_writable(region, k) : register_readable(region, k);
}

/// Programs may expose thousands: one line about the first, and a number in world::describe().
void exposed_regions::note_refused(const memory::local_region& region) noexcept {
  if (refused_.next() != 0) return;
  log::warn(
      log::subsystem::memory,
      "utofu: a region of {} bytes cannot be registered: either {} writable ones are alive, or its "
      "memory is not mapped as its rights need; peers reach it by messages, which is slower. "
      "Others like it are only counted, in world::describe()",
      region.memory.size(), queues_.size() * (tag_end - tag_writable));
}

std::uint64_t exposed_regions::refused() const noexcept {
  return refused_.get();
}

bool exposed_regions::register_everywhere(const memory::local_region& region, unsigned tag,
                                          kept& k) noexcept {
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
  kept* const k = kept_.find(ref.slot);
  if (k == nullptr) publish(table_memory_.memory(), ref, {});
  if (k == nullptr || k->generation != ref.generation) return false;
  const auto lock = lock_for(ref, k->facts.allowed);
  forget(ref, *k);
  return static_cast<bool>(std::exchange(*k, {}).read_lease);
}

bool exposed_regions::is_on_every_queue(unsigned tag) const noexcept {
  if (tag < tag_symmetric || tag >= tag_writable) return false;
  const std::scoped_lock lock(mutex_);
  const kept* const k = kept_.find(tag - tag_symmetric);
  return k != nullptr && k->tag == tag && k->address != 0;
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
  const kept* const k = kept_.find(ref.slot);
  if (k == nullptr || k->generation != ref.generation) return false;
  out = k->facts;
  return true;
}

}  // namespace heddle::transport::utofu
