// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/delivery.h"

#include <algorithm>
#include <utility>

#include "base/checks.h"
#include "base/of_this_thread.h"
#include "sync/holds.h"
#include "tracing/operation.h"

namespace heddle::protocols {

thread_local constinit delivery_batch* delivery_batch::of_thread = nullptr;

delivery_batch::~delivery_batch() {
  if (of_thread == this) of_thread = nullptr;
}

void delivery_batch::make_mine() noexcept {
  of_thread = &of_this_thread<delivery_batch>();
}

void delivery_batch::page::add_block(std::size_t bytes) {
  const std::size_t size = std::max(bytes, block_bytes);
  blocks.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
  room = blocks.back().get();
  room_end = room + size;
}

void delivery_batch::page::clear_calls() {
  calls.clear();
  owned.clear();
  if (blocks.size() > 1) blocks.resize(1);
  room = blocks.empty() ? nullptr : blocks.front().get();
  room_end = room == nullptr ? nullptr : room + block_bytes;  // it has at least so many
}

void delivery_batch::add_call(engine::lane_core& lane, const handler_entry& handler,
                              destination source, std::span<const std::byte> header,
                              payload_memory owned, std::size_t bytes) {
  add_call(lane, handler, source, header, header.size());
  page& p = *filling_;
  p.owned.push_back(std::make_unique<owned_payload>(owned_payload{std::move(owned), bytes}));
  p.calls.last().large = p.owned.back().get();
}

/// The handlers of calls in a row that came on one lane. Returns the first one left.
const delivery_batch::call* delivery_batch::run_of_one_lane(const call* first,
                                                            const call* last) noexcept {
  heddle::lane here(*first->lane);
  const call* c = first;
  for (; c != last && c->lane == first->lane; ++c) {
    const std::span<const std::byte> body(c->body, c->body_bytes);
    const std::span<const std::byte> payload =
        c->large == nullptr ? body.subspan(c->header_bytes)
                            : std::span<const std::byte>(c->large->data.get(), c->large->bytes);
    c->handler.function(c->handler.context, here,
                        {c->source.to, c->source.lane, body.first(c->header_bytes), payload,
                         c->large == nullptr ? nullptr : &c->large->data});
  }
  return c;
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

/// Before any of them runs: then those of one counter are alike also where they are watched.
[[gnu::noinline]] void delivery_batch::tell_watchers(growing_list<end>& ended) noexcept {
  trace::ends_together together;
  for (end& e : ended) together.tell(e.done, e.what);
}

/// Endings whose owners are fetched before their turn: other cores have looked at them last.
constexpr std::ptrdiff_t ahead = 4;

inline std::size_t delivery_batch::run_ended(page& of) noexcept {
  const end* const last = of.ended.end();
  for (const end* e = of.ended.begin(); e != last;) {
    const bool alone = e + 1 == last || e[1].done.owner != e->done.owner;
    if (last - e > ahead) __builtin_prefetch(e[ahead].done.owner, 1);
    if (!alone && e[1].done == e->done) [[unlikely]] {
      e = run_alike(e, last);
    } else {
      e->done(e->what);
      ++e;
    }
  }
  const std::size_t count = of.ended.size();
  of.ended.clear();
  return count;
}

std::size_t delivery_batch::run_calls(page& of) noexcept {
  for (const call* c = of.calls.begin(); c != of.calls.end();)
    c = run_of_one_lane(c, of.calls.end());
  for (const auto& large : of.owned) payloads_.give_back(std::move(large->data), large->bytes);
  const std::size_t count = of.calls.size();
  of.clear_calls();
  return count;
}

void delivery_batch::run_raises() noexcept {
  page& p = *filling_;
  const auto raises = [](const end& e) { return detail::raises_only(e.done); };
  if (!p.ended.empty() && p.calls.empty() && !running_ && !trace::is_watched() &&
      std::ranges::all_of(p.ended, raises))
    (void)run_ended(p);
}

std::size_t delivery_batch::run_all() noexcept {
  check(sync::holds::count() == 0, "a completion is about to run while its thread holds a lane");
  running_ = true;
  std::size_t count = 0;
  do {
    page& full = *filling_;
    std::swap(filling_, draining_);
    if (trace::is_watched()) [[unlikely]]
      tell_watchers(full.ended);
    if (!full.ended.empty()) count += run_ended(full);
    if (!full.calls.empty()) count += run_calls(full);
  } while (!filling_->empty());
  running_ = false;
  return count;
}

}  // namespace heddle::protocols

namespace heddle {

payload_memory call_message::keep() const noexcept {
  if (owned != nullptr) return std::move(*owned);
  payload_memory copy = protocols::memory_for(payload.size());
  if (copy != nullptr) copy_few(copy.get(), payload);
  return copy;
}

}  // namespace heddle
