// SPDX-License-Identifier: BSD-3-Clause
// target.cpp - see target.h.
#include "target.h"

#include <unistd.h>
#include <utofu.h>

#include <map>
#include <mutex>

namespace tofu {

namespace {

/// What this process has mapped of others, each file once however many CQs use it.
struct mapped_files {
  std::mutex mutex;
  std::map<std::pair<host::file_identity, bool>, std::weak_ptr<host::mapping>> by_file;
  std::size_t forget_at = 64;  // now and then, so that what was unmapped does not pile up
  std::shared_ptr<host::mapping> own_cqs[tnis_per_node][cqs_per_tni];
  mapped_files* before = nullptr;  // the parent's, kept after fork
};

mapped_files*& current() {
  static auto* one = new mapped_files;  // never destroyed: used until the process ends
  return one;
}
mapped_files& files() {
  return *current();
}

std::shared_ptr<host::mapping> map_file(int fd, const host::file_identity& file,
                                        std::uint64_t bytes, bool writable) {
  mapped_files& all = files();
  const std::lock_guard held(all.mutex);
  std::weak_ptr<host::mapping>& known = all.by_file[{file, writable}];
  if (auto map = known.lock(); map && map->size() == bytes) return map;
  auto map = std::make_shared<host::mapping>(fd, bytes, writable);
  if (!*map) return nullptr;
  known = map;
  if (all.by_file.size() >= all.forget_at) {
    std::erase_if(all.by_file, [](const auto& entry) { return entry.second.expired(); });
    all.forget_at = 64 + 2 * all.by_file.size();
  }
  return map;
}

std::shared_ptr<host::mapping> own_cq(unsigned tni, unsigned cq) {
  const std::lock_guard held(files().mutex);
  return files().own_cqs[tni][cq];
}

/// The shared CQ that is descriptor `fd` of process `pid`, if it is one.
std::shared_ptr<host::mapping> map_cq(pid_t pid, int fd, std::size_t bytes) {
  const host::owned_fd file = host::open_of_process(pid, fd, true);
  host::file_identity which;
  std::uint64_t size = 0;
  if (!file || !host::is_sealed_memory(file.get(), bytes) ||
      !host::identify(file.get(), which, size)) {
    return nullptr;
  }
  return map_file(file.get(), which, bytes, true);
}

}  // namespace

void announce_own_cq(unsigned tni, unsigned cq, std::shared_ptr<host::mapping> map) {
  const std::lock_guard held(files().mutex);
  files().own_cqs[tni][cq] = std::move(map);
}

void forget_mappings() {
  // Not emptied: its lock may be held by a thread that does not exist here.
  auto* const fresh = new mapped_files;
  fresh->before = current();
  current() = fresh;
}

std::unique_ptr<target> target::resolve(const machine& m, std::uint64_t vcq_id) {
  const place p = place_of_vcq(vcq_id);
  const auto node = m.node_at(p.at);
  if (!node) return nullptr;
  const cq_entry& entry = m.entry(*node, p.tni, p.number);
  for (;;) {
    std::unique_ptr<target> t(new target);
    t->id_ = vcq_id;
    t->node_ = *node;
    t->cq_number_ = p.number;
    t->entry_ = &entry;
    t->claim_ = entry.claim.load(std::memory_order_acquire);  // A1 pairs with R1
    if ((t->claim_ & 1u << p.cmp) == 0 || (t->claim_ & claim_used) == 0) return nullptr;
    if (t->open(m)) return t;
    // A VCQ that came or went on the same CQ has changed the claim meanwhile: look again.
    if (entry.claim.load(std::memory_order_acquire) == t->claim_) return nullptr;  // A1, too
  }
}

bool target::open(const machine& m) {
  // Relaxed, both: made visible by A1.
  const unsigned slot = entry_->process.load(std::memory_order_relaxed);
  const int fd = entry_->fd.load(std::memory_order_relaxed);
  const process_entry& owner = m.process(slot);
  life_ = &owner.life;
  life_value_ = life_->load(std::memory_order_relaxed);  // relaxed: see lives()
  if (life_value_ == 0 || (life_value_ & host::life_ended) != 0) return false;
  ours_ = slot == m.slot();
  pid_ = owner.pid;
  const settings& set = m.file().set;
  const place p = place_of_vcq(id_);
  map_ = ours_ ? own_cq(p.tni, p.number) : map_cq(pid_, fd, shared_cq_bytes(set));
  if (!map_ || !is_valid()) return false;
  cq_ = reinterpret_cast<shared_cq*>(map_->data());
  if (cq_->magic != shared_cq_magic) return false;
  mrq_ = {cq_->mrq, mrq_slots(*cq_, set), set[knob::mrq], m.stamp()};
  tags_ = static_cast<unsigned>(stags_of(set));
  regions_.resize((tags_ >> chunk_bits) + 1);
  return true;
}

target::known_region& target::region_of(unsigned tag) {
  std::unique_ptr<known_region[]>& chunk = regions_[tag >> chunk_bits];
  if (chunk == nullptr) chunk = std::make_unique<known_region[]>(1u << chunk_bits);
  return chunk[tag & ((1u << chunk_bits) - 1)];
}

bool target::find(std::uint64_t stadd, std::size_t bytes, bool to_write, remote_place& where,
                  int& error) {
  const unsigned tag = tag_of(stadd);
  error = UTOFU_ERR_MRQ_RMT_STADD;
  if (tag >= tags_ || cq_of(stadd) != cq_number_) return false;
  known_region& region = region_of(tag);
  stag_entry& entry = cq_->stags[tag];
  where.visit.begin(entry);
  const std::uint64_t state = entry.state();
  if (region.state != state && !learn(tag, state, region)) return false;
  if ((state & stag_entry::valid) == 0) return false;
  const std::uint64_t offset = offset_of(stadd);
  error = UTOFU_ERR_MRQ_RMT_LENGTH;
  if (offset < region.begin || offset > region.end || bytes > region.end - offset) return false;
  error = UTOFU_ERR_MRQ_RMT_MEMORY;
  if (to_write && (state & stag_entry::read_only) != 0) return false;
  // NOLINTNEXTLINE: an address inside the mapping
  where.here = region.here == 0 ? nullptr : reinterpret_cast<std::byte*>(region.here + offset);
  where.there = region.there + offset;
  return true;
}

bool target::learn(unsigned tag, std::uint64_t state, known_region& region) {
  region_facts facts;
  if ((state & stag_entry::valid) == 0 || !cq_->stags[tag].read(state, facts)) return false;
  const bool was_mapped = region.file != nullptr;
  region = {state, facts.begin, facts.end, facts.origin, 0, nullptr};
  if (ours_) {
    region.here = facts.origin;
  } else if (facts.fd >= 0 && locate(facts, (state & stag_entry::read_only) == 0, region)) {
    if (!was_mapped) mapped_.push_back(tag);
    if (mapped_.size() >= forget_at_) forget_withdrawn();
  }
  return region.state == state;  // it may just have been withdrawn, and forgotten
}

/// Maps the file the region lies in. False: it is reached like private memory.
bool target::locate(const region_facts& facts, bool writable, known_region& region) {
  const host::owned_fd fd = host::open_of_process(pid_, facts.fd, writable);
  host::file_identity which;
  std::uint64_t bytes = 0;
  if (!fd || !host::identify(fd.get(), which, bytes)) return false;
  if (which != host::file_identity{facts.device, facts.inode}) return false;
  // The last page of a file is mapped whole.
  const std::uint64_t mapped = (bytes + 4095) & ~std::uint64_t{4095};
  const std::uint64_t first = facts.file_origin + facts.begin;
  if (first > mapped || facts.end - facts.begin > mapped - first) return false;
  auto map = map_file(fd.get(), which, bytes, writable);
  if (!map) return false;
  region.here = reinterpret_cast<std::uintptr_t>(map->data()) + facts.file_origin;
  region.file = std::move(map);
  return true;
}

/// Now and then, so that mappings of what was deregistered do not pile up.
void target::forget_withdrawn() {
  std::erase_if(mapped_, [&](unsigned tag) {
    known_region& region = region_of(tag);
    if (region.file != nullptr && cq_->stags[tag].state() == region.state) return false;
    region = {};
    return true;
  });
  forget_at_ = 16 + 2 * mapped_.size();
}

target* target_cache::look_up(std::uint64_t id) {
  recent& r = recent_[slot_of(id)];
  const auto known = all_.find(id);
  if (known != all_.end() && known->second->is_valid()) {
    r = {id, known->second.get()};
    return r.found;
  }
  if (r.id == id) r = {};
  if (known != all_.end()) all_.erase(known);
  auto fresh = target::resolve(machine_, id);
  if (!fresh) return nullptr;
  r = {id, fresh.get()};
  all_.emplace(id, std::move(fresh));
  return r.found;
}

}  // namespace tofu
