// lane.cpp - heddle::lane: the handle on lane_core, and the blocking forms.
#include <heddle/lane.h>
#include <heddle/world.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "engine/lane_core.h"
#include "engine/world_core.h"
#include "protocols/delivery.h"
#include "sync/cache_line.h"
#include "sync/fork.h"
#include "sync/misuse.h"

namespace heddle {
namespace {

using protocols::command;
using protocols::command_kind;
using protocols::only_read;

command access_command(command_kind kind, remote_address at, completion c) noexcept {
  command made;
  made.kind = kind;
  // Every target an application can hold is a remote_memory: the engine made it.
  made.target = static_cast<const memory::remote_memory*>(at.target);
  made.peer = at.target != nullptr ? at.target->owner : any_source;
  made.offset = at.offset;
  made.done = c;
  return made;
}

command message_command(command_kind kind, rank peer, completion c) noexcept {
  command made;
  made.kind = kind;
  made.peer = peer;
  made.done = c;
  return made;
}

/// The completion is free for one more operation, and counts it.
status submit_checked(engine::lane_core& core, const command& made) noexcept {
  core.user().check_use();
  const detail::expected_ending ending(made.done);
  if (ending.is_taken())
    sync::end_for_misuse(core.user().place(),
                         "an operation gets a flag that another one has, or had",
                         "wait for the first and reset() the flag, or use a counter");
  const status s = core.submitter().submit(made);
  if (s != status::posted) ending.take_back();
  return s;
}

/// In the child of a fork a lane is still its parent's: nothing is posted, nothing is touched.
status submit(engine::lane_core& core, const command& made) noexcept {
  if (!sync::is_special()) [[likely]]
    return core.submitter().submit(made);
  return sync::forked() ? status::closed : submit_checked(core, made);
}

/// A tag that no message of the program may have.
constexpr bool is_reserved(tag t) noexcept {
  return (t & reserved_tag_bit) != 0;
}

/// What is posted goes the short way, unless somebody looks at it or this is a fork's child.
status send_any(engine::lane_core& core, destination to, tag t, std::span<const std::byte> data,
                const completion& c) noexcept {
  if (!sync::is_special()) [[likely]]
    return core.submitter().send(to, t, data, c);
  return submit(core, protocols::send_command(to, t, data, c));
}

status recv_any(engine::lane_core& core, rank from, const tag_match& t, std::span<std::byte> into,
                const completion& c) noexcept {
  if (!sync::is_special()) [[likely]]
    return core.submitter().receive(from, t, into, c);
  return submit(core, protocols::receive_command(from, t, into, c));
}

/// False in the child of a fork.
bool may_use(const engine::lane_core& core) noexcept {
  if (!sync::is_special()) [[likely]]
    return true;
  if (sync::forked()) return false;
  core.user().check_use();
  return true;
}

[[gnu::noinline]] std::size_t poll_checked(engine::lane_core& core) noexcept {
  return may_use(core) ? core.questions().poll() : 0;
}

/// The same, for what waits.
bool may_wait(const engine::lane_core& core) noexcept {
  if (!sync::is_special()) [[likely]]
    return true;
  if (sync::forked()) return false;
  core.user().check_wait();
  return true;
}

/// For what may turn out not to wait.
void may_block(const engine::lane_core& core) noexcept {
  (void)may_wait(core);
}

engine::lane_core& open(world& owner, lane_options options) {
  sync::refuse_in_child("open a lane");
  return owner.core().open_lane(options.number, options.exclusive);
}

std::uint64_t deadline(std::chrono::nanoseconds limit) noexcept {
  return limit.count() > 0 ? now_ns() + static_cast<std::uint64_t>(limit.count()) : now_ns();
}

}  // namespace

lane::lane(world& owner, lane_options options)
    : core_(&open(owner, options)), opened_by_(owner.core().shared_from_this()) {}

lane::lane(engine::lane_core& core) noexcept : core_(&core) {}

lane::lane(lane&& other) noexcept = default;

lane::~lane() {
  if (opened_by_ != nullptr && !sync::forked()) opened_by_->close_lane(core_->number());
}

int lane::number() const noexcept {
  return core_->number();
}
rank lane::self() const noexcept {
  return core_->self();
}
int lane::ranks() const noexcept {
  return core_->ranks();
}
std::string lane::why(rank peer) const {
  return core_->why(peer);
}
void lane::read_counters(lane_counters& into) const noexcept {
  lane_counters all;
  core_->count(all);
  all.size = std::min(into.size, sizeof all);
  std::memcpy(&into, &all, all.size);
}
status lane::read_counters(std::vector<peer_counters>& into) {
  if (!may_use(*core_) || core_->has_ended()) return status::closed;
  return core_->questions().count(into) ? status::done : status::busy_lane;
}
std::uint64_t lane::next_collective() noexcept {
  return core_->next_collective();
}
std::uint64_t lane::next_group() noexcept {
  return core_->next_group();
}

// --- operations ------------------------------------------------------------------------

status lane::post_put(std::span<const std::byte> from, remote_address to, completion c) noexcept {
  command made = access_command(command_kind::put, to, c);
  made.memory = only_read(from);
  return submit(*core_, made);
}

status lane::post_get(std::span<std::byte> into, remote_address from, completion c) noexcept {
  command made = access_command(command_kind::get, from, c);
  made.memory = into;
  return submit(*core_, made);
}

status lane::post_atomic(atomic_op op, remote_address at, std::size_t width, std::uint64_t operand,
                         std::uint64_t compare, void* old, completion c) noexcept {
  command made = access_command(command_kind::atomic, at, c);
  made.atomic = op;
  made.width = static_cast<std::uint8_t>(width);
  made.operand = operand;
  made.compare = compare;
  if (old != nullptr) made.memory = {static_cast<std::byte*>(old), width};
  return submit(*core_, made);
}

status lane::try_put_notify(std::span<const std::byte> from, remote_address to, handler_id notify,
                            std::uint64_t value, completion c) noexcept {
  if (notify >= max_handlers) return status::invalid;
  command made = access_command(command_kind::put_notify, to, c);
  made.memory = only_read(from);
  made.handler = notify;
  made.operand = value;
  return submit(*core_, made);
}

status lane::try_send(destination to, tag t, std::span<const std::byte> data,
                      completion c) noexcept {
  return is_reserved(t) ? status::invalid : send_any(*core_, to, t, data, c);
}

status lane::try_recv(rank from, tag_match t, std::span<std::byte> into, completion c) noexcept {
  return is_reserved(t.value) ? status::invalid : recv_any(*core_, from, t, into, c);
}

status lane::try_send_collective(rank to, tag t, std::span<const std::byte> data,
                                 completion c) noexcept {
  return send_any(*core_, to, t | reserved_tag_bit, data, c);
}

status lane::try_recv_collective(rank from, tag t, std::span<std::byte> into,
                                 completion c) noexcept {
  return recv_any(*core_, from, t | reserved_tag_bit, into, c);
}

status lane::try_probe(rank from, tag_match t, outcome& out) noexcept {
  if (is_reserved(t.value)) return status::invalid;
  return may_use(*core_) ? core_->questions().probe(from, t, out) : status::closed;
}

status lane::try_probe(rank from, tag_match t, matched_message& out) noexcept {
  if (is_reserved(t.value)) return status::invalid;
  if (!may_use(*core_)) return status::closed;
  matched_message found;
  found.core_ = core_;
  const status s = core_->questions().take(from, t, found.taken_);
  if (s == status::done) out = std::move(found);
  return s;
}

status lane::try_match(rank from, tag_match t, matched_message& into, completion c) noexcept {
  if (is_reserved(t.value) || into.holds()) return status::invalid;
  into.core_ = core_;
  return submit(*core_, protocols::match_command(from, t, into.taken_, c));
}

status lane::try_recv(matched_message& m, std::span<std::byte> into, completion c) noexcept {
  if (!m.holds() || m.core_ != core_) return status::invalid;
  // Nobody but the completion may look at `m` once it is posted.
  protocols::unexpected* const message = std::exchange(m.taken_.message, nullptr);
  const status s = submit(*core_, protocols::receive_taken_command(*message, into, c));
  if (is_busy(s)) m.taken_.message = message;
  return s;
}

status lane::try_cancel(const completion& which) noexcept {
  return may_use(*core_) ? core_->questions().cancel(which) : status::closed;
}

status lane::try_call(destination to, handler_id h, std::span<const std::byte> header,
                      std::span<const std::byte> payload, completion c) noexcept {
  if (!sync::is_special()) [[likely]]
    return core_->submitter().call(to, h, header, payload, c);
  return submit(*core_, protocols::call_command(to, h, header, payload, c));
}

void lane::when_ready(completion c) noexcept {
  const command made = message_command(command_kind::when_ready, any_source, c);
  status s = submit(*core_, made);
  for (; is_busy(s); s = submit(*core_, made)) core_->make_room();
  if (s != status::posted) c({.code = s});  // a fork's child: the next answer is the same
}

/// Where the lane has ended, its matcher frees the message.
void lane::drop(engine::lane_core& core, protocols::unexpected& message) noexcept {
  const command made = protocols::receive_taken_command(message, {}, {});
  while (is_busy(submit(core, made))) core.make_room();
}

// --- blocking forms --------------------------------------------------------------------

status lane::put(std::span<const std::byte> from, remote_address to) noexcept {
  may_block(*core_);
  if (put_directly(from, to)) return status::done;
  return blocking([&](completion c) { return post_put(from, to, c); });
}

status lane::get(std::span<std::byte> into, remote_address from) noexcept {
  may_block(*core_);
  if (get_directly(into, from)) return status::done;
  return blocking([&](completion c) { return post_get(into, from, c); });
}

status lane::send(destination to, tag t, std::span<const std::byte> data) noexcept {
  may_block(*core_);
  return blocking([&](completion c) { return try_send(to, t, data, c); });
}

template <class F>
inline outcome lane::receiving(rank from, F&& attempt) noexcept {
  may_block(*core_);
  flag f;
  status s = attempt(f);
  while (is_busy(s)) {
    wait_for_room();
    s = attempt(f);
  }
  if (s != status::posted) return {.code = s, .peer = from};
  wait(f.signal_, 1, 0);
  return f.result();
}

outcome lane::recv(rank from, tag_match t, std::span<std::byte> into) noexcept {
  return receiving(from, [&](flag& f) { return try_recv(from, t, into, f); });
}
outcome lane::match(rank from, tag_match t, matched_message& into) noexcept {
  return receiving(from, [&](flag& f) { return try_match(from, t, into, f); });
}
outcome lane::recv(matched_message& m, std::span<std::byte> into) noexcept {
  return receiving(m.what().peer, [&](flag& f) { return try_recv(m, into, f); });
}

status lane::call(destination to, handler_id h, std::span<const std::byte> header,
                  std::span<const std::byte> payload) noexcept {
  may_block(*core_);
  return blocking([&](completion c) { return try_call(to, h, header, payload, c); });
}

status lane::put_notify(std::span<const std::byte> from, remote_address to, handler_id notify,
                        std::uint64_t value) noexcept {
  may_block(*core_);
  return blocking([&](completion c) { return try_put_notify(from, to, notify, value, c); });
}

status lane::flush(rank peer) noexcept {
  if (may_wait(*core_) && core_->submitter().flushed(peer)) return status::done;
  // Out of line, so that what is done at once does not pay for it.
  const auto wait_for_it = [ this, peer ]() __attribute__((noinline)) {
    return blocking([this, peer](completion c) {
      return submit(*core_, message_command(command_kind::flush, peer, c));
    });
  };
  return wait_for_it();
}

status lane::flush() noexcept {
  return flush(any_source);
}

// --- waiting ---------------------------------------------------------------------------

std::size_t lane::poll() noexcept {
  if (sync::is_special()) [[unlikely]]
    return poll_checked(*core_);
  return core_->questions().poll();
}

/// As lane_waiter::wait; false as well in the child of a fork, where nobody drives the lane.
bool lane::wait(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept {
  return may_wait(*core_) ? core_->waiter().wait(s, target, deadline_ns) : s.count() >= target;
}

status lane::wait(flag& f) noexcept {
  return wait(f.signal_, 1, 0) ? f.result().code : status::closed;
}

status lane::wait(counter& ended, std::uint64_t target) noexcept {
  return wait(ended.signal_, target, 0) ? ended.first_failure() : status::closed;
}

void lane::wait(completion_queue& queue, std::uint64_t target) noexcept {
  wait(queue.signal_, target, 0);
}

bool lane::wait_for(flag& f, std::chrono::nanoseconds limit) noexcept {
  return wait(f.signal_, 1, deadline(limit));
}

bool lane::wait_for(counter& ended, std::uint64_t target, std::chrono::nanoseconds limit) noexcept {
  return wait(ended.signal_, target, deadline(limit));
}

/// Nobody raises a signal for a store: it looks all the time at first, for a peer that is about to
/// store, and then after pauses that grow, so that a long wait leaves the core to others.
bool lane::wait_for_memory(question answered, std::chrono::nanoseconds limit) noexcept {
  constexpr std::uint64_t first_pause_ns = 20'000, longest_pause_ns = 1'000'000;
  constexpr int looks = 64;  // between two polls
  if (!may_wait(*core_)) return answered();
  const bool for_ever = limit == std::chrono::nanoseconds::max();
  const std::uint64_t begin = now_ns(), end = for_ever ? UINT64_MAX : deadline(limit);
  const std::uint64_t awake_until = std::min(begin + core_->driver().help().spin_ns, end);
  for (std::uint64_t now = begin; now < awake_until; now = now_ns()) {
    for (int i = 0; i < looks; ++i, sync::relax())
      if (answered()) return true;
    core_->questions().poll();
    std::this_thread::yield();
  }
  detail::signal nothing;
  std::uint64_t pause_ns = first_pause_ns;
  for (std::uint64_t now = now_ns(); now < end && !core_->has_ended(); now = now_ns()) {
    core_->waiter().wait(nothing, 1, std::min(now + pause_ns, end));
    if (answered()) return true;
    pause_ns = std::min(2 * pause_ns, longest_pause_ns);
  }
  return answered();
}

void lane::wait_for_room() noexcept {
  may_block(*core_);
  core_->make_room();
}

}  // namespace heddle
