// SPDX-License-Identifier: BSD-3-Clause
// steering.cpp - see steering.h.
#include "steering.h"

#include <utofu.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace tofu {

steering_table::steering_table(shared_cq& shared, unsigned cq, unsigned first, const settings& set)
    : shared_(shared),
      cq_(cq),
      tags_(static_cast<unsigned>(stags_of(set))),
      page_(set[knob::page]),
      counted_(set.on(knob::dereg)),
      next_{first_automatic_tag + 2 * first + 1, first_automatic_tag + 2 * first} {}

steering_table::~steering_table() {
  for (const auto& [tag, unused] : registered_) shared_.stags[tag].withdraw();
}

steering_table::page_range steering_table::round_out(std::uint64_t address, std::size_t bytes,
                                                     bool writable) const noexcept {
  return {address & ~(page_ - 1), (address + bytes + page_ - 1) & ~(page_ - 1), writable};
}

/// All of `facts` but the origin, which is given. Protection is by page, but never more than what
/// is mapped: a page here may be smaller than one of the device.
bool steering_table::describe(std::uint64_t address, std::size_t bytes, bool writable,
                              region_facts& facts) {
  const auto [first, last, unused] = round_out(address, bytes, writable);
  const auto around = look_up_memory({address, address + bytes}, {first, last}, writable);
  if (!around) return false;
  facts.begin = std::max({first, around->begin, facts.origin}) - facts.origin;
  facts.end = std::min(last, around->end) - facts.origin;
  if (!around->in_file) return true;
  facts.fd = files_.find(around->file, writable);
  facts.file_origin = around->file_offset - around->begin + facts.origin;
  facts.device = around->file.device;
  facts.inode = around->file.inode;
  return true;
}

/// The next free automatic tag, so that one just freed is not given out again at once. 0: none.
unsigned steering_table::free_tag(bool writable) noexcept {
  const unsigned first = first_automatic_tag + (writable ? 0 : 1);
  unsigned& next = next_[writable ? 1 : 0];
  for (unsigned tried = first_automatic_tag; tried < tags_; tried += 2) {
    const unsigned tag = next;
    next = next + 2 < tags_ ? next + 2 : first;
    if ((shared_.stags[tag].state() & stag_entry::valid) == 0) return tag;
  }
  return 0;
}

int steering_table::register_any(std::uint64_t address, std::size_t bytes, bool writable,
                                 std::uint64_t& stadd) {
  const std::lock_guard held(mutex_);
  const page_range pages = round_out(address, bytes, writable);
  const std::uint64_t first = std::get<0>(pages);
  const auto known = automatic_.find(pages);
  if (known != automatic_.end()) {
    ++registered_.at(known->second).users;
    stadd = stadd_of(cq_, known->second, address - first);
    return UTOFU_SUCCESS;
  }
  region_facts facts;
  facts.origin = first;
  if (!describe(address, bytes, writable, facts)) return UTOFU_ERR_INVALID_ADDRESS;
  const unsigned tag = free_tag(writable);
  if (tag == 0) return UTOFU_ERR_FULL;
  registered_.emplace(tag, registration{pages, {facts.device, facts.inode}, 1});
  automatic_.emplace(pages, tag);
  shared_.stags[tag].publish(facts, writable);
  stadd = stadd_of(cq_, tag, address - first);
  return UTOFU_SUCCESS;
}

int steering_table::register_as(unsigned tag, std::uint64_t address, std::size_t bytes,
                                bool writable, std::uint64_t& stadd) {
  const std::lock_guard held(mutex_);
  if (registered_.contains(tag)) return UTOFU_ERR_USED;
  region_facts facts;
  facts.origin = address & ~std::uint64_t{255};
  if (!describe(address, bytes, writable, facts)) return UTOFU_ERR_INVALID_ADDRESS;
  registered_.emplace(
      tag, registration{round_out(address, bytes, writable), {facts.device, facts.inode}, 1});
  shared_.stags[tag].publish(facts, writable);
  stadd = stadd_of(cq_, tag, address & 255);
  return UTOFU_SUCCESS;
}

/// Who is at the memory is waited for, as hardware does that ends a translation; not for ever,
/// since one that was killed there never leaves.
void steering_table::withdraw(unsigned tag) noexcept {
  shared_.stags[tag].withdraw();
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!shared_.stags[tag].is_left() && std::chrono::steady_clock::now() < give_up)
    std::this_thread::yield();
  if (!shared_.stags[tag].is_left()) shared_.stags[tag].give_up_users();
  const auto found = registered_.find(tag);
  const auto& [pages, file, users] = found->second;
  if (tag >= first_automatic_tag) automatic_.erase(pages);
  if (file.inode != 0) files_.release(file, std::get<2>(pages));
  registered_.erase(found);
}

int steering_table::deregister(std::uint64_t stadd) {
  const std::lock_guard held(mutex_);
  const unsigned tag = tag_of(stadd);
  const auto found = registered_.find(tag);
  if (cq_of(stadd) != cq_ || found == registered_.end()) return UTOFU_ERR_INVALID_STADD;
  if (counted_ && --found->second.users > 0) return UTOFU_SUCCESS;
  withdraw(tag);
  return UTOFU_SUCCESS;
}

void steering_table::deregister_reserved(unsigned cmp) {
  const std::lock_guard held(mutex_);
  for (unsigned stag = 0; stag < reserved_tags; ++stag) {
    const unsigned tag = reserved_tag(cmp, stag);
    if (registered_.contains(tag)) withdraw(tag);
  }
}

std::byte* steering_table::find(std::uint64_t stadd, std::size_t bytes, bool to_write,
                                stag_visit& visit, int& error) const noexcept {
  const unsigned tag = tag_of(stadd);
  error = UTOFU_ERR_TCQ_STADD;
  if (tag >= tags_ || cq_of(stadd) != cq_) return nullptr;
  stag_entry& entry = shared_.stags[tag];
  visit.begin(entry);
  const std::uint64_t state = entry.state();
  region_facts facts;
  if ((state & stag_entry::valid) == 0 || !entry.read(state, facts)) return nullptr;
  error = UTOFU_ERR_TCQ_MEMORY;
  const std::uint64_t offset = offset_of(stadd);
  if (offset < facts.begin || offset > facts.end || bytes > facts.end - offset) return nullptr;
  if (to_write && (state & stag_entry::read_only) != 0) return nullptr;
  // NOLINTNEXTLINE: an address that the program registered
  return reinterpret_cast<std::byte*>(facts.origin + offset);
}

}  // namespace tofu
