// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_submitter.h"

#include <sched.h>

#include "base/clock.h"

namespace heddle::engine {
namespace {

using protocols::command;
using protocols::command_kind;
using queue = lane_hold::queue;

/// Larger transfers are worth waking the executor for.
constexpr std::size_t large_bytes = 16 * 1024;

bool moves_data(const command& c) noexcept {
  return c.kind == command_kind::send || c.kind == command_kind::call ||
         c.kind == command_kind::put;
}

}  // namespace

lane_submitter::lane_submitter(lane_driver& of, lane_waiter& waiter, lane_server& server,
                               lane_end& end) noexcept
    : driver_(of),
      waiter_(waiter),
      server_(server),
      end_(end),
      inline_below_(of.help().dedicated() ? 0 : of.model().considered_from()) {}

// --- the short way ---------------------------------------------------------------------

/// Takes the lane when it is free and nothing is queued, does `work(port)`, and lets go. False:
/// there is more to do, or it was not the moment; `held`: the hold is the caller's.
template <class Work>
inline bool lane_submitter::at_once(std::size_t bytes, bool& held, Work&& work) noexcept {
  lane_driver& driver = driver_;
  held = bytes < inline_below_ && driver.hold().enter_free();
  if (!held || !work(driver.port())) [[unlikely]]
    return false;
  driver.release_posted();
  return true;
}

bool lane_submitter::sends_at_once(destination to, tag t, std::span<const std::byte> data,
                                   bool& held) noexcept {
  const auto send_now = [&](protocols::port& port) {
    return port.eager().send_now(to, protocols::head_of_tagged(t), {}, data,
                                 protocols::credit::cost_of(data.size()));
  };
  return at_once(data.size(), held, send_now);
}

bool lane_submitter::calls_at_once(destination to, handler_id h, std::span<const std::byte> header,
                                   std::span<const std::byte> payload, bool& held) noexcept {
  const auto call_now = [&](protocols::port& port) {
    return h < max_handlers && header.size() <= max_call_header &&
           port.eager().send_now(to, protocols::head_of_call(h, header.size()), header, payload, 0);
  };
  return at_once(payload.size(), held, call_now);
}

status lane_submitter::send(destination to, tag t, std::span<const std::byte> data,
                            const completion& done) noexcept {
  bool held = false;
  if (sends_at_once(to, t, data, held)) [[likely]]
    return status::done;
  return send_rest(to, t, data, done, held);
}

status lane_submitter::call(destination to, handler_id h, std::span<const std::byte> header,
                            std::span<const std::byte> payload, const completion& done) noexcept {
  bool held = false;
  if (calls_at_once(to, h, header, payload, held)) [[likely]]
    return status::done;
  return call_rest(to, h, header, payload, done, held);
}

status lane_submitter::receive(rank from, const tag_match& t, std::span<std::byte> into,
                               const completion& done) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  bool held = false;
  status s = status::posted;
  const auto receive_now = [&](protocols::port& port) {
    s = port.dispatch().receive(from, t, into, done, batch);
    return true;
  };
  if (!at_once(into.size(), held, receive_now)) [[unlikely]]
    return receive_rest(from, t, into, done, held);
  if (!batch.empty()) batch.run();
  return s;
}

/// As at_once(), within its caller: a call would be a tenth of it.
template <command_kind Kind>
inline status lane_submitter::access(std::span<std::byte> memory,
                                     const memory::remote_memory* there, std::uint64_t offset,
                                     const completion& done) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  lane_driver& driver = driver_;
  const bool held = there != nullptr && memory.size() < inline_below_ && driver.hold().enter_free();
  if (!held) [[unlikely]]
    return access_rest(Kind, memory, there, offset, done, false);
  const status s = driver.port().dispatch().access_now<Kind>(*there, offset, memory, done, batch);
  if (!accepted(s)) [[unlikely]]
    return access_rest(Kind, memory, there, offset, done, true);
  if (s == status::posted) [[likely]]
    look_after(memory.size(), done, batch);
  driver.release_posted();
  if (!batch.empty()) batch.run();
  return s;
}

status lane_submitter::put(std::span<std::byte> from, const memory::remote_memory* to,
                           std::uint64_t offset, const completion& done) noexcept {
  return access<command_kind::put>(from, to, offset, done);
}

status lane_submitter::get(std::span<std::byte> into, const memory::remote_memory* from,
                           std::uint64_t offset, const completion& done) noexcept {
  return access<command_kind::get>(into, from, offset, done);
}

status lane_submitter::submit(const command& c) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  bool held = false;
  status s = status::done;
  const auto execute_now = [&](protocols::port&) {
    s = execute(c, batch);
    return true;
  };
  if (!at_once(c.memory.size(), held, execute_now)) [[unlikely]]
    return submit_rest(c, held);
  if (!batch.empty()) batch.run();
  return s;
}

bool lane_submitter::flushed(rank peer) noexcept {
  lane_driver& driver = driver_;
  if (driver.help().dedicated() || !driver.hold().enter_free()) return false;
  const protocols::port& port = driver.port();
  const bool nothing = port.in_flight_hint() == 0 && port.counters().lost_peers.get() == 0 &&
                       peer >= any_source && peer < driver.where().size;
  driver.release_unposted();
  return nothing;
}

// --- of what does not go the short way -------------------------------------------------

status lane_submitter::access_rest(command_kind kind, std::span<std::byte> memory,
                                   const memory::remote_memory* there, std::uint64_t offset,
                                   const completion& done, bool held) noexcept {
  return submit_rest(protocols::access_command(kind, there, offset, memory, done), held);
}
status lane_submitter::send_rest(destination to, tag t, std::span<const std::byte> data,
                                 const completion& done, bool held) noexcept {
  return submit_rest(protocols::send_command(to, t, data, done), held);
}
status lane_submitter::call_rest(destination to, handler_id h, std::span<const std::byte> header,
                                 std::span<const std::byte> payload, const completion& done,
                                 bool held) noexcept {
  return submit_rest(protocols::call_command(to, h, header, payload, done), held);
}
status lane_submitter::receive_rest(rank from, const tag_match& t, std::span<std::byte> into,
                                    const completion& done, bool held) noexcept {
  return submit_rest(protocols::receive_command(from, t, into, done), held);
}

status lane_submitter::submit_rest(const command& c, bool held) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (held) return execute_held(c, batch);
  if (driver_.model().considers(c.memory.size())) return choose(c, batch);
  return execute_or_enqueue(c, batch);
}

// --- here ------------------------------------------------------------------------------

inline status lane_submitter::execute(const command& c, delivery_batch& batch) noexcept {
  const status s = driver_.port().dispatch().execute(c, batch);
  if (s == status::posted) look_after(c.memory.size(), c.done, batch);
  return s;
}

/// What was posted: a blocking form goes on to poll in the turn in which it posts; a large transfer
/// is left to the executor, since the program may compute meanwhile.
inline void lane_submitter::look_after(std::size_t bytes, const completion& done,
                                       delivery_batch& batch) noexcept {
  if (bytes > large_bytes) [[unlikely]]
    leave_to_executor();
  else if (const detail::signal* ended = detail::awaited::in(done))
    waiter_.poll_at_once(*ended, batch);
}

/// What was queued goes first, commands of this very thread perhaps.
status lane_submitter::execute_held(const command& c, delivery_batch& batch) noexcept {
  if (driver_.commands().pending() && !driver_.drain(batch)) {
    driver_.hand_over();
    batch.run();  // also when ours is refused
    return enqueue(c, batch);
  }
  const status s = execute(c, batch);
  driver_.release(batch);
  batch.run();
  return s;
}

status lane_submitter::execute_or_enqueue(const command& c, delivery_batch& batch) noexcept {
  return driver_.hold().enter() ? execute_held(c, batch) : enqueue(c, batch);
}

/// A large transfer goes on while the program computes, if it does: then the executor has to look
/// after the lane at once, not at its next tick. A program that waits at once does so itself, and
/// is believed to do it again.
void lane_submitter::leave_to_executor() noexcept {
  waiter_.habit().leave(now_ns());
  if (waiter_.habit().waits_at_once()) return;
  driver_.parking().state().forget_polls();
  driver_.hold().give_back();
  driver_.help().keeper.keep_off(sched_getcpu());
  if (!server_.leave_to_descriptors()) driver_.help().alarm.wake();
}

// --- through the queue -----------------------------------------------------------------

status lane_submitter::enqueue(const command& c, delivery_batch& batch) noexcept {
  if (end_.has_come()) [[unlikely]]
    return status::closed;
  if (driver_.out_of_records()) return status::busy_records;
  const queue::pushed how = driver_.commands().push(c);
  if (how == queue::pushed::full) return status::busy_queue;
  if (how == queue::pushed::held || driver_.hold().enter_lent()) driver_.release_slowly(batch);
  end_.look_after_queue(batch);
  batch.run();
  return status::posted;
}

/// Leaves it to whoever comes first: the executor or a helper, who are told, or a wait.
status lane_submitter::offload(const command& c, delivery_batch& batch) noexcept {
  if (end_.has_come()) [[unlikely]]
    return status::closed;
  if (driver_.out_of_records()) [[unlikely]]  // it may need none
    return server_.enter_with_patience() ? execute_held(c, batch) : status::busy_records;
  const bool dedicated = driver_.help().dedicated();
  const queue::left how = dedicated ? driver_.commands().hand_in(c) : driver_.commands().leave(c);
  if (how == queue::left::full) return status::busy_queue;
  end_.look_after_queue(batch);
  if (!dedicated) driver_.model().counters().left.next();
  if (how == queue::left::unattended || driver_.hold().is_lent()) driver_.help().wake();
  return status::posted;
}

// --- here or through the queue ---------------------------------------------------------

/// In mode adaptive as the model says, which learns from some of them.
status lane_submitter::choose(const command& c, delivery_batch& batch) noexcept {
  if (batch.running()) return execute_or_enqueue(c, batch);
  if (driver_.help().mode != progress_mode::adaptive) return offload(c, batch);
  if (!moves_data(c)) return execute_or_enqueue(c, batch);
  offload_model& model = driver_.model();
  const bool leaves = model.leave(c.memory.size()), sampled = model.samples();
  if (!sampled) return leaves ? offload(c, batch) : execute_or_enqueue(c, batch);
  if (leaves) return leave_stamped(c, batch);
  const std::uint64_t begin = now_ns();
  const status s = execute_or_enqueue(c, batch);
  const std::uint64_t end = now_ns();
  model.submitted(c.memory.size(), end - begin);
  waiter_.habit().leave(end);
  return s;
}

/// The model is told when it was left, and when it is executed.
status lane_submitter::leave_stamped(const command& c, delivery_batch& batch) noexcept {
  const alarm& alarm = driver_.help().alarm;
  command stamped = c;
  stamped.stamped = true;
  const std::uint64_t begin = now_ns(), rings = alarm.rings();
  driver_.model().leaving(begin);  // first: it may be picked up at once
  const status s = offload(stamped, batch);
  const std::uint64_t end = now_ns();
  driver_.model().left(end - begin, alarm.rings() != rings);
  waiter_.habit().leave(end);
  return s;
}

}  // namespace heddle::engine
