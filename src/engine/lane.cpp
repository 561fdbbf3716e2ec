// SPDX-License-Identifier: BSD-3-Clause
// lane.cpp - heddle::lane: the handle on lane_core, and the blocking forms.
#include <heddle/lane.h>
#include <heddle/world.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "engine/lane_checks.h"
#include "engine/lane_core.h"
#include "engine/world_core.h"
#include "protocols/delivery.h"
#include "sync/cache_line.h"
#include "sync/fork.h"
#include "sync/misuse.h"
#include "tracing/operation.h"

namespace heddle {
namespace {

using engine::may_block;
using engine::may_use;
using engine::may_wait;
using protocols::command;
using protocols::command_kind;
using protocols::only_read;

/// Every target an application can hold is a remote_memory: the engine made it.
inline const memory::remote_memory* target_of(remote_address at) noexcept {
  return static_cast<const memory::remote_memory*>(at.target);
}

inline command access_command(command_kind kind, remote_address at, std::span<std::byte> memory,
                              const completion& c) noexcept {
  return protocols::access_command(kind, target_of(at), at.offset, memory, c);
}

command signal_command(std::span<const std::byte> from, remote_address to, atomic_op how,
                       remote_address word, std::uint64_t value, const completion& c) noexcept {
  command made = access_command(command_kind::put_signal, to, only_read(from), c);
  made.atomic = how;
  made.operand = value;
  made.signal = {target_of(word), word.offset};
  return made;
}

/// False: one of the two is not plain memory of this process, or cannot be right.
bool put_and_signal_directly(const command& c) noexcept {
  const auto [word, at] = c.signal;
  const bool known = c.atomic == atomic_op::add || c.atomic == atomic_op::swap;
  if (!known || c.target == nullptr || word == nullptr || word->owner != c.peer ||
      at % sizeof(std::uint64_t) != 0 ||
      !detail::reachable(*c.target, c.offset, c.memory.size(), rights::write) ||
      !detail::reachable(*word, at, sizeof(std::uint64_t), rights::atomic))
    return false;
  detail::put_direct(c.target->direct + c.offset, c.memory.data(), c.memory.size());
  detail::apply_atomic(c.atomic, *reinterpret_cast<std::uint64_t*>(word->direct + at), c.operand,
                       std::uint64_t{0});
  return true;
}

command message_command(command_kind kind, rank peer, const completion& c) noexcept {
  command made;
  made.kind = kind;
  made.peer = peer;
  made.done = c;
  return made;
}

static_assert(static_cast<int>(operation_kind::when_ready) ==
              static_cast<int>(command_kind::when_ready));

/// What tools know it as: to them a receive is one, whoever has matched it.
operation_kind kind_of(command_kind kind) noexcept {
  return kind > command_kind::when_ready ? operation_kind::recv : static_cast<operation_kind>(kind);
}

operation_info info_of(const engine::lane_core& core, command_kind kind, rank peer, tag t,
                       std::size_t bytes) noexcept {
  return {kind_of(kind), core.self(), core.number(), peer, t, bytes};
}

status submit_watched(engine::lane_core& core, const command& made) noexcept {
  trace::operation watched(
      info_of(core, made.kind, made.peer, made.match.value, made.memory.size()));
  command ours = made;
  ours.done = watched.instead_of(made.done);
  return watched.answered(core.submitter().submit(ours));
}

/// Past all checks; somebody may watch.
status submit_plainly(engine::lane_core& core, const command& made) noexcept {
  return trace::is_watched() && trace::wants_next() ? submit_watched(core, made)
                                                    : core.submitter().submit(made);
}

/// The completion is free for one more operation, and counts it.
status submit_checked(engine::lane_core& core, const command& made) noexcept {
  core.user().check_use();
  const detail::expected_ending ending(made.done);
  if (ending.is_taken())
    sync::end_for_misuse(core.user().place(),
                         "an operation gets a flag that another one has, or had",
                         "wait for the first and reset() the flag, or use a counter");
  const status s = submit_plainly(core, made);
  if (s != status::posted) ending.take_back();
  return s;
}

/// In the child of a fork a lane is still its parent's: nothing is posted, nothing is touched.
[[gnu::noinline]] status submit_specially(engine::lane_core& core, const command& made) noexcept {
  if (sync::is_only(sync::special::watched)) return submit_watched(core, made);
  if (sync::forked()) return status::closed;
  return sync::looks_for_misuse() ? submit_checked(core, made) : submit_plainly(core, made);
}

/// Nothing is special, or only that somebody watches who does not want this operation. Costs one
/// test where nothing is.
[[gnu::always_inline]] inline bool goes_ahead() noexcept {
  return !sync::is_special() || trace::passes_by();
}

[[gnu::always_inline]] inline status submit(engine::lane_core& core, const command& made) noexcept {
  if (goes_ahead()) [[likely]]
    return core.submitter().submit(made);
  return submit_specially(core, made);
}

/// Within who calls it: a call would take as long as the command.
[[gnu::always_inline]] inline status submit_put(engine::lane_core& core,
                                                std::span<const std::byte> from, remote_address to,
                                                const completion& c) noexcept {
  if (goes_ahead()) [[likely]]
    return core.submitter().put(only_read(from), target_of(to), to.offset, c);
  return submit_specially(core, access_command(command_kind::put, to, only_read(from), c));
}

[[gnu::always_inline]] inline status submit_get(engine::lane_core& core, std::span<std::byte> into,
                                                remote_address from, const completion& c) noexcept {
  if (goes_ahead()) [[likely]]
    return core.submitter().get(into, target_of(from), from.offset, c);
  return submit_specially(core, access_command(command_kind::get, from, into, c));
}

/// A message that goes the short way also while somebody watches it, and nothing else is special:
/// `at_once(held)`, and where that was not the moment `rest(completion, held)`.
template <class AtOnce, class Rest>
status post_watched(const operation_info& what, const completion& c, AtOnce&& at_once,
                    Rest&& rest) noexcept {
  trace::operation watched(what);
  bool held = false;
  return watched.answered(at_once(held) ? status::done : rest(watched.instead_of(c), held));
}

/// A tag that no message of the program may have.
constexpr bool is_reserved(tag t) noexcept {
  return (t & reserved_tag_bit) != 0;
}

/// What is posted goes the short way, unless somebody looks at it or this is a fork's child.
[[gnu::noinline]] status send_specially(engine::lane_core& core, destination to, tag t,
                                        std::span<const std::byte> data,
                                        const completion& c) noexcept {
  if (sync::is_only(sync::special::watched))
    return post_watched(
        info_of(core, command_kind::send, to.to, t, data.size()), c,
        [&](bool& held) { return core.submitter().sends_at_once(to, t, data, held); },
        [&](const completion& ours, bool held) {
          return core.submitter().send_rest(to, t, data, ours, held);
        });
  return submit_specially(core, protocols::send_command(to, t, data, c));
}

status send_any(engine::lane_core& core, destination to, tag t, std::span<const std::byte> data,
                const completion& c) noexcept {
  if (goes_ahead()) [[likely]]
    return core.submitter().send(to, t, data, c);
  return send_specially(core, to, t, data, c);
}

[[gnu::noinline]] status receive_specially(engine::lane_core& core, rank from, const tag_match& t,
                                           std::span<std::byte> into,
                                           const completion& c) noexcept {
  if (sync::is_only(sync::special::watched)) {
    trace::operation watched(info_of(core, command_kind::recv, from, t.value, into.size()));
    return watched.answered(core.submitter().receive(from, t, into, watched.instead_of(c)));
  }
  return submit_specially(core, protocols::receive_command(from, t, into, c));
}

status recv_any(engine::lane_core& core, rank from, const tag_match& t, std::span<std::byte> into,
                const completion& c) noexcept {
  if (goes_ahead()) [[likely]]
    return core.submitter().receive(from, t, into, c);
  return receive_specially(core, from, t, into, c);
}

[[gnu::noinline]] status call_specially(engine::lane_core& core, destination to, handler_id h,
                                        std::span<const std::byte> header,
                                        std::span<const std::byte> payload,
                                        const completion& c) noexcept {
  if (sync::is_only(sync::special::watched))
    return post_watched(
        info_of(core, command_kind::call, to.to, 0, payload.size()), c,
        [&](bool& held) { return core.submitter().calls_at_once(to, h, header, payload, held); },
        [&](const completion& ours, bool held) {
          return core.submitter().call_rest(to, h, header, payload, ours, held);
        });
  return submit_specially(core, protocols::call_command(to, h, header, payload, c));
}

[[gnu::noinline]] std::size_t poll_checked(engine::lane_core& core) noexcept {
  return may_use(core) ? core.questions().poll() : 0;
}

/// Of a blocking form that goes by plain stores or loads, if it can: checks that it may wait, and
/// lets those who watch see it.
class direct_access {
 public:
  direct_access(const engine::lane_core& core, command_kind kind, remote_address at,
                std::size_t bytes, rights needed) noexcept {
    may_block(core);
    if (trace::is_watched() && at.target != nullptr &&
        detail::reachable(*at.target, at.offset, bytes, needed) && trace::wants_next())
      seen_.emplace(info_of(core, kind, at.target->owner, 0, bytes));
  }
  ~direct_access() {
    if (seen_) (void)seen_->answered(status::done);
  }
  direct_access(const direct_access&) = delete;
  direct_access& operator=(const direct_access&) = delete;

 private:
  std::optional<trace::operation> seen_;
};

engine::lane_core& open(world& owner, lane_options options) {
  sync::refuse_in_child("open a lane");
  return owner.core().lanes().open(options.number, options.exclusive);
}

/// As lane_waiter::wait; false as well in the child of a fork, where nobody drives the lane.
[[gnu::always_inline]] inline bool wait_on(engine::lane_core& core, detail::signal& s,
                                           std::uint64_t target,
                                           std::uint64_t deadline_ns) noexcept {
  return may_wait(core) ? core.waiter().wait(s, target, deadline_ns) : s.count() >= target;
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
  if (opened_by_ != nullptr && !sync::forked()) opened_by_->lanes().close(core_->number());
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

status lane::post_put(std::span<const std::byte> from, remote_address to,
                      const completion& c) noexcept {
  return submit_put(*core_, from, to, c);
}

status lane::post_get(std::span<std::byte> into, remote_address from,
                      const completion& c) noexcept {
  return submit_get(*core_, into, from, c);
}

status lane::post_atomic(atomic_op op, remote_address at, std::size_t width, std::uint64_t operand,
                         std::uint64_t compare, void* old, const completion& c) noexcept {
  const auto word = static_cast<std::byte*>(old);
  command made = access_command(command_kind::atomic, at, {word, word != nullptr ? width : 0}, c);
  made.atomic = op;
  made.width = static_cast<std::uint8_t>(width);
  made.operand = operand;
  made.compare = compare;
  return submit(*core_, made);
}

status lane::try_put_notify(std::span<const std::byte> from, remote_address to, handler_id notify,
                            std::uint64_t value, const completion& c) noexcept {
  if (notify >= max_handlers) return status::invalid;
  command made = access_command(command_kind::put_notify, to, only_read(from), c);
  made.handler = notify;
  made.operand = value;
  return submit(*core_, made);
}

status lane::try_put_signal(std::span<const std::byte> from, remote_address to, atomic_op how,
                            remote_ptr<std::uint64_t> word, std::uint64_t value,
                            const completion& c) noexcept {
  const command made = signal_command(from, to, how, word, value, c);
  return put_and_signal_directly(made) ? status::done : submit(*core_, made);
}

// Flat, these three: send_specially() and its like call the same, which would otherwise be out of
// line for all.
[[gnu::flatten]] status lane::try_send(destination to, tag t, std::span<const std::byte> data,
                                       const completion& c) noexcept {
  return is_reserved(t) ? status::invalid : send_any(*core_, to, t, data, c);
}

[[gnu::flatten]] status lane::try_recv(rank from, tag_match t, std::span<std::byte> into,
                                       const completion& c) noexcept {
  return is_reserved(t.value) ? status::invalid : recv_any(*core_, from, t, into, c);
}

status lane::try_send_collective(rank to, tag t, std::span<const std::byte> data,
                                 const completion& c) noexcept {
  return send_any(*core_, to, t | reserved_tag_bit, data, c);
}

status lane::try_recv_collective(rank from, tag t, std::span<std::byte> into,
                                 const completion& c) noexcept {
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

status lane::try_match(rank from, tag_match t, matched_message& into,
                       const completion& c) noexcept {
  if (is_reserved(t.value) || into.holds()) return status::invalid;
  into.core_ = core_;
  return submit(*core_, protocols::match_command(from, t, into.taken_, c));
}

status lane::try_recv(matched_message& m, std::span<std::byte> into, const completion& c) noexcept {
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

[[gnu::flatten]] status lane::try_call(destination to, handler_id h,
                                       std::span<const std::byte> header,
                                       std::span<const std::byte> payload,
                                       const completion& c) noexcept {
  if (goes_ahead()) [[likely]]
    return core_->submitter().call(to, h, header, payload, c);
  return call_specially(*core_, to, h, header, payload, c);
}

status lane::try_flush(rank peer, const completion& c) noexcept {
  return submit(*core_, message_command(command_kind::flush, peer, c));
}

status lane::try_flush(const completion& c) noexcept {
  return try_flush(any_source, c);
}

void lane::when_ready(completion c) noexcept {
  const command made = message_command(command_kind::when_ready, any_source, c);
  status s = submit(*core_, made);
  for (; is_busy(s); s = submit(*core_, made)) core_->make_room();
  if (s != status::posted) c({.code = s});  // a fork's child: the next answer is the same
}

/// Where the lane has ended, what holds its matched messages frees this one. Whoever has the
/// message may drop it, from any thread and after the program's own lane has ended: so past checks
/// of use.
void lane::drop(engine::lane_core& core, protocols::unexpected& message) noexcept {
  if (sync::forked()) return;
  const command made = protocols::receive_taken_command(message, {}, {});
  while (is_busy(submit_plainly(core, made))) core.make_room();
}

// --- blocking forms --------------------------------------------------------------------

status lane::put(std::span<const std::byte> from, remote_address to) noexcept {
  if (sync::is_special()) [[unlikely]] {
    // Out of line, and by value, so that the others do not pay for it.
    const auto be_seen = [ this, from, to ]() __attribute__((noinline)) {
      const direct_access seen(*core_, command_kind::put, to, from.size(), rights::write);
      if (put_directly(from, to)) return status::done;
      return blocking([&](completion c) { return post_put(from, to, c); });
    };
    return be_seen();
  }
  if (put_directly(from, to)) return status::done;
  const auto posted =
      [](lane & on, std::span<const std::byte> data, remote_address at) __attribute__((noinline)) {
    return on.blocking([&](const completion& c) { return submit_put(*on.core_, data, at, c); });
  };
  return posted(*this, from, to);
}

status lane::get(std::span<std::byte> into, remote_address from) noexcept {
  if (sync::is_special()) [[unlikely]] {
    // Out of line, and by value, so that the others do not pay for it.
    const auto be_seen = [ this, into, from ]() __attribute__((noinline)) {
      const direct_access seen(*core_, command_kind::get, from, into.size(), rights::read);
      if (get_directly(into, from)) return status::done;
      return blocking([&](completion c) { return post_get(into, from, c); });
    };
    return be_seen();
  }
  if (get_directly(into, from)) return status::done;
  const auto posted =
      [](lane & on, std::span<std::byte> room, remote_address at) __attribute__((noinline)) {
    return on.blocking([&](const completion& c) { return submit_get(*on.core_, room, at, c); });
  };
  return posted(*this, into, from);
}

status lane::send(destination to, tag t, std::span<const std::byte> data) noexcept {
  may_block(*core_);
  return blocking([&](completion c) { return try_send(to, t, data, c); });
}

template <class F>
inline outcome lane::receiving(rank from, F&& attempt) noexcept {
  may_block(*core_);
  flag f;
  const completion c = detail::awaited::by(f);
  status s = attempt(c);
  for (; is_busy(s); s = attempt(c)) wait_for_room();
  if (s != status::posted) return {.code = s, .peer = from};
  wait(f.signal_, 1, 0);
  return f.result();
}

outcome lane::recv(rank from, tag_match t, std::span<std::byte> into) noexcept {
  return receiving(from, [&](const completion& c) { return try_recv(from, t, into, c); });
}
outcome lane::match(rank from, tag_match t, matched_message& into) noexcept {
  return receiving(from, [&](const completion& c) { return try_match(from, t, into, c); });
}
outcome lane::recv(matched_message& m, std::span<std::byte> into) noexcept {
  return receiving(m.what().peer, [&](const completion& c) { return try_recv(m, into, c); });
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

status lane::put_signal(std::span<const std::byte> from, remote_address to, atomic_op how,
                        remote_ptr<std::uint64_t> word, std::uint64_t value) noexcept {
  may_block(*core_);
  return blocking([&](completion c) {
    if (!sync::is_special()) return try_put_signal(from, to, how, word, value, c);
    return submit(*core_, signal_command(from, to, how, word, value, c));  // to be seen
  });
}

status lane::flush(rank peer) noexcept {
  if (may_wait(*core_) && core_->submitter().flushed(peer)) return status::done;
  // Out of line, so that what is done at once does not pay for it.
  const auto wait_for_it = [ this, peer ]() __attribute__((noinline)) {
    return blocking([this, peer](completion c) { return try_flush(peer, c); });
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

bool lane::wait(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept {
  return wait_on(*core_, s, target, deadline_ns);
}

status lane::wait(flag& f) noexcept {
  return wait_on(*core_, f.signal_, 1, 0) ? f.result().code : status::closed;
}

status lane::wait(counter& ended, std::uint64_t target) noexcept {
  return wait_on(*core_, ended.signal_, target, 0) ? ended.first_failure() : status::closed;
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

bool lane::wait_for(completion_queue& queue, std::uint64_t target,
                    std::chrono::nanoseconds limit) noexcept {
  return wait(queue.signal_, target, deadline(limit));
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
