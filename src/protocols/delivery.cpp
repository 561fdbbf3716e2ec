#include "protocols/delivery.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checks.h"
#include "sync/holds.h"

namespace heddle::protocols {

thread_local constinit delivery_batch* delivery_batch::of_thread = nullptr;

void delivery_batch::make_mine() noexcept {
  static thread_local delivery_batch batch;
  of_thread = &batch;
}

std::byte* delivery_batch::page::keep(std::size_t bytes) {
  if (blocks.empty() || bytes > block_bytes - used) {
    blocks.push_back(std::make_unique_for_overwrite<std::byte[]>(std::max(bytes, block_bytes)));
    used = 0;
  }
  std::byte* at = blocks.back().get() + used;
  used = std::min(block_bytes, used + bytes);
  return at;
}

void delivery_batch::page::clear() {
  ended.clear();
  calls.clear();
  if (blocks.size() > 1) blocks.resize(1);
  used = blocks.empty() ? block_bytes : 0;  // the block that stays has at least block_bytes
}

void delivery_batch::add_call(engine::lane_core& lane, const handler_entry& handler, rank source,
                              std::span<const std::byte> header,
                              std::span<const std::byte> payload) {
  std::byte* copy = filling_->keep(header.size() + payload.size());
  if (!header.empty()) std::memcpy(copy, header.data(), header.size());
  if (!payload.empty()) std::memcpy(copy + header.size(), payload.data(), payload.size());
  filling_->calls.push_back({&lane, handler, source, static_cast<std::uint32_t>(header.size()),
                             copy, payload.size(), nullptr});
}

void delivery_batch::add_call(engine::lane_core& lane, const handler_entry& handler, rank source,
                              std::span<const std::byte> header, std::unique_ptr<std::byte[]> owned,
                              std::size_t bytes) {
  add_call(lane, handler, source, header, {});
  filling_->calls.back().owned = std::move(owned);
  filling_->calls.back().payload_bytes = bytes;
}

void delivery_batch::run(const call& c) noexcept {
  heddle::lane here(*c.lane);
  const std::byte* payload = c.owned ? c.owned.get() : c.header + c.header_bytes;
  c.handler.function(c.handler.context, here,
                     {c.source, {c.header, c.header_bytes}, {payload, c.payload_bytes}});
}

/// Runs the first of several endings that go to one place, or counts all of them at once: one
/// release for many, where it is a counter. Returns the first one left.
const delivery_batch::end* delivery_batch::run_alike(const end* first, const end* last) noexcept {
  if (!detail::many_endings::possible(first->done)) {
    first->done(first->what);
    return first + 1;
  }
  status failure = status::done;
  const end* e = first;
  for (; e != last && e->done == first->done; ++e)
    if (failure == status::done) failure = e->what.code;
  detail::many_endings::deliver(first->done, static_cast<std::uint64_t>(e - first), failure);
  return e;
}

std::size_t delivery_batch::run_all() noexcept {
  check(sync::holds::count() == 0, "a completion is about to run while its thread holds a lane");
  running_ = true;
  std::size_t count = 0;
  while (!filling_->empty()) {
    std::swap(filling_, draining_);
    const end* const last = draining_->ended.data() + draining_->ended.size();
    for (const end* e = draining_->ended.data(); e != last;) {
      const bool alone = e + 1 == last || e[1].done.owner != e->done.owner;
      if (!alone && e[1].done == e->done) [[unlikely]] {
        e = run_alike(e, last);
      } else {
        e->done(e->what);
        ++e;
      }
    }
    for (const call& c : draining_->calls) run(c);
    count += draining_->size();
    draining_->clear();
  }
  running_ = false;
  return count;
}

}  // namespace heddle::protocols
