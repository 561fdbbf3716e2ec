// SPDX-License-Identifier: BSD-3-Clause
// lane.h - one independent path to the network: every operation of Heddle starts here.
//
// The rules for all operations:
// * try_* never block. They allocate only what is kept for the next: at a lane's first operation
//   with a peer, and when more is in flight than ever before. Their answer is a status: each
//   function lists its own beside what any may say, which is `done`, `posted`, `busy_queue`,
//   `busy_records`, `closed` and, of a peer, `invalid` (no such rank, or no lane of that number
//   there) and `peer_lost`. status.h says what to do.
// * Local buffers (data, headers, results) belong to Heddle from the call until the completion is
//   delivered, or until the return when the answer is anything but `posted`.
// * Any thread may call any function of any lane. Two lanes share nothing on the hot path.
// * Nothing is ordered with anything, except: messages sent on one lane to one lane of a peer with
//   one tag match in the order they were sent; a notification arrives after its put; and flush,
//   fence.
// * Nothing needs poll(): the world's executor moves every lane forward.
// * A refused argument changes nothing. An empty buffer is a valid buffer.
// * In the child of a fork everything answers `closed`, and no wait waits (docs/guide/threads.md).
#pragma once
#include <heddle/completion.h>
#include <heddle/counters.h>
#include <heddle/detail/direct.h>
#include <heddle/matched_message.h>
#include <heddle/memory.h>
#include <heddle/status.h>
#include <heddle/types.h>

#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle {

class world;
namespace engine {
class lane_core;
class world_core;
}  // namespace engine

/// The integers that remote atomics work on.
template <class T>
concept atomic_integer = std::integral<T> &&(sizeof(T) == 4 || sizeof(T) == 8);
/// And floating numbers: those that may be added to, swapped, and compared by their bits.
template <class T>
concept atomic_number = atomic_integer<T> || std::same_as<T, float> || std::same_as<T, double>;

struct lane_options {
  /// What names no lane of the peer goes to the one of the same number. -1: the next free number,
  /// so ranks that open their lanes in the same order need not care.
  int number = -1;
  /// Only the thread that opens it uses the lane: its calls need no atomic read-modify-write, until
  /// somebody else takes the lane, and as on any lane of one thread (docs/guide/progress.md).
  /// Completions and handlers may use it too, wherever they run. Another thread's call is an error,
  /// which HEDDLE_CHECKS finds. Lane 0 is never exclusive where the world's barriers go over it.
  bool exclusive = false;
};

/// A handle: cheap to move. Destroying it leaves operations in flight to the executor and frees the
/// lane's number for the next who opens one; the lane itself lives as long as the world. A handle
/// that outlives its world answers `closed` to everything.
class lane {
 public:
  /// Throws error when the number is taken or out of range.
  explicit lane(world& owner, lane_options options = {});
  explicit lane(engine::lane_core& core) noexcept;  ///< for Heddle itself
  lane(lane&& other) noexcept;
  lane& operator=(lane&&) = delete;
  ~lane();
  [[nodiscard]] int number() const noexcept;
  [[nodiscard]] rank self() const noexcept;
  [[nodiscard]] int ranks() const noexcept;
  /// Why operations on `peer` end with peer_lost, in words for people: "its process 4711 has
  /// ended", "it has said nothing for 30 s ...", "the connection broke: Connection reset by peer".
  /// Empty while this process has lost it on no lane. Any thread; takes a lock.
  [[nodiscard]] std::string why(rank peer) const;
  /// What this lane has counted so far, written to the members that `into.size` covers. Any thread,
  /// also while others use the lane: it costs a load for each.
  void read_counters(lane_counters& into) const noexcept;
  /// Adds to `into` what it has counted of each lane of a peer that it has had to do with. done.
  /// busy_lane: another thread keeps the lane for long; ask again. closed. Takes the lane for a
  /// moment. Any thread. Throws bad_alloc.
  status read_counters(std::vector<peer_counters>& into);
  /// The number of the next collective on this lane, from 0: for Heddle itself. Any thread.
  std::uint64_t next_collective() noexcept;
  /// As it, the number of the next group of which this rank may be member 0.
  std::uint64_t next_group() noexcept;
  /// As try_send and try_recv, for Heddle itself: the messages of collectives, whose tags have
  /// reserved_tag_bit, so that no message of the program can meet them.
  status try_send_collective(rank to, tag t, std::span<const std::byte> data,
                             const completion& c) noexcept;
  status try_recv_collective(rank from, tag t, std::span<std::byte> into,
                             const completion& c) noexcept;

  // --- remote memory -------------------------------------------------------------------
  // Each may also answer, or end with: out_of_bounds, denied, withdrawn, invalid (the address of no
  // region), and for operations that a peer has to carry out no_memory. Any number of bytes.

  /// Writes `from` to `to`. Completion: the bytes are visible to the peer, before those of whatever
  /// is put, sent or called after it. A get of another word posted after it may still be done
  /// first: see fence.
  status try_put(std::span<const std::byte> from, remote_address to,
                 const completion& c = {}) noexcept {
    return put_directly(from, to) ? status::done : post_put(from, to, c);
  }
  /// Reads `into.size()` bytes at `from`. Completion: the bytes are in `into`.
  status try_get(std::span<std::byte> into, remote_address from,
                 const completion& c = {}) noexcept {
    return get_directly(into, from) ? status::done : post_get(into, from, c);
  }
  /// try_put, and then the handler `notify` runs at the peer with a call_message whose header is
  /// the 8 bytes of `value`; there the data is already visible. It may not run where the peer gives
  /// up the memory before it looks at its lane. Completion: as try_put. Also invalid: `notify` is
  /// not below max_handlers. busy_records: also while a thousand notifications wait for the peer.
  status try_put_notify(std::span<const std::byte> from, remote_address to, handler_id notify,
                        std::uint64_t value, const completion& c = {}) noexcept;
  /// try_put, and then `how` is done to `word` with `value`: atomic_op::add raises it, swap sets
  /// it. Who sees the word changed, as by wait_until(), sees the data. Completion: both are visible
  /// to the peer. After a failure the data may be there, but the word is as it was; only after
  /// peer_lost and closed nobody knows. Also invalid: another `how`, or memory of two peers; and
  /// what try_atomic may say of the word, whose rules are the same.
  status try_put_signal(std::span<const std::byte> from, remote_address to, atomic_op how,
                        remote_ptr<std::uint64_t> word, std::uint64_t value,
                        const completion& c = {}) noexcept;

  template <class T>
  status try_put(const T& from, remote_ptr<T> to, const completion& c = {}) noexcept {
    return try_put(std::as_bytes(std::span(&from, 1)), to.address, c);
  }
  template <class T>
  status try_get(T& into, remote_ptr<T> from, const completion& c = {}) noexcept {
    return try_get(std::as_writable_bytes(std::span(&into, 1)), from.address, c);
  }
  /// Several items, from and to what converts to a span of them.
  template <class T>
  status try_put(std::span<const std::type_identity_t<T>> from, remote_ptr<T> to,
                 const completion& c = {}) noexcept {
    return try_put(std::as_bytes(from), to.address, c);
  }
  template <class T>
  status try_get(std::span<std::type_identity_t<T>> into, remote_ptr<T> from,
                 const completion& c = {}) noexcept {
    return try_get(std::as_writable_bytes(into), from.address, c);
  }

  /// Atomic read-modify-write of the number at `at`, which must be aligned to its size. `old`, when
  /// not null, receives the value from before. For compare_swap `operand` (desired) is stored where
  /// `compare` (expected) was found, bit by bit. Signed integers wrap. Also misaligned, invalid for
  /// an operation that floating numbers do not have, and unsupported where a network does atomics
  /// on the peer by itself but has no way there for this lane.
  ///
  /// min, max, and add on floating numbers take several trips where a network does atomics by
  /// itself, and more when others change the word meanwhile.
  ///
  /// Atomic with every other atomic of Heddle on that region. With std::atomic_ref at the owner
  /// only where the owner's CPU does them. Where a network does them by itself (world::describe()
  /// says so of its backend) the CPU's and its own do not see each other: the owner uses these
  /// functions too, on its own rank.
  template <atomic_number T>
  status try_atomic(atomic_op op, remote_ptr<T> at, std::type_identity_t<T> operand,
                    std::type_identity_t<T>* old, const completion& c = {},
                    std::type_identity_t<T> compare = 0) noexcept {
    using word = typename detail::atomic_word<T>::type;
    if (!detail::exists_on<T>(op)) return status::invalid;
    op = detail::op_on<T>(op);
    if (const auto [target, offset] = at.address;
        target != nullptr && offset % sizeof(T) == 0 &&
        detail::reachable(*target, offset, sizeof(T), rights::atomic)) [[likely]] {
      const word was =
          detail::apply_atomic(op, *reinterpret_cast<word*>(target->direct + offset),
                               std::bit_cast<word>(operand), std::bit_cast<word>(compare));
      if (old != nullptr) *old = std::bit_cast<T>(was);
      return status::done;
    }
    return post_atomic(op, at.address, sizeof(T),
                       static_cast<std::uint64_t>(std::bit_cast<word>(operand)),
                       static_cast<std::uint64_t>(std::bit_cast<word>(compare)), old, c);
  }
  template <atomic_number T>
  status try_fetch_add(remote_ptr<T> at, std::type_identity_t<T> operand, T& old,
                       const completion& c = {}) noexcept {
    return try_atomic(atomic_op::add, at, operand, &old, c);
  }
  template <atomic_number T>
  status try_add(remote_ptr<T> at, std::type_identity_t<T> operand,
                 const completion& c = {}) noexcept {
    return try_atomic<T>(atomic_op::add, at, operand, nullptr, c);
  }
  template <atomic_number T>
  status try_swap(remote_ptr<T> at, std::type_identity_t<T> desired, T& old,
                  const completion& c = {}) noexcept {
    return try_atomic(atomic_op::swap, at, desired, &old, c);
  }
  template <atomic_integer T>
  status try_fetch_min(remote_ptr<T> at, std::type_identity_t<T> operand, T& old,
                       const completion& c = {}) noexcept {
    return try_atomic(atomic_op::min, at, operand, &old, c);
  }
  template <atomic_integer T>
  status try_fetch_max(remote_ptr<T> at, std::type_identity_t<T> operand, T& old,
                       const completion& c = {}) noexcept {
    return try_atomic(atomic_op::max, at, operand, &old, c);
  }
  /// `old == expected` afterwards means that `desired` was stored.
  template <atomic_number T>
  status try_compare_swap(remote_ptr<T> at, std::type_identity_t<T> expected,
                          std::type_identity_t<T> desired, T& old,
                          const completion& c = {}) noexcept {
    return try_atomic(atomic_op::compare_swap, at, desired, &old, c, expected);
  }

  // --- messages ------------------------------------------------------------------------
  /// Sends `data` to the receive at `to`, a rank's lane of this lane's number or `{rank, lane}`,
  /// that matches (this rank, `t`). Any size. A lane that is not open there is opened by it.
  /// Completion: `data` may be reused; for large data it has arrived. Tags: 0 to max_tag.
  ///
  /// Small messages complete before anybody has asked for them, but not without bound: each that
  /// waits at the receiver uses its bytes and 184 more, first of HEDDLE_CREDIT_BYTES (1 MiB for
  /// each sender and lane), then of HEDDLE_UNEXPECTED_BYTES (16 MiB for all senders of a lane), so
  /// 5,461 messages of 8 bytes, and 87,381 more. Beyond that a send completes only when its receive
  /// is there, like a large one. Two ranks that both send more than that before they receive
  /// anything wait for each other for ever if they use send(): post the receives first, or send
  /// with try_send and wait after receiving, or raise the settings.
  ///
  /// Also invalid: a tag above max_tag. no_memory: the receiver has none for the message, or this
  /// process none for what it must keep of the peer.
  status try_send(destination to, tag t, std::span<const std::byte> data,
                  const completion& c = {}) noexcept;
  /// Receives one message into `into`. Of the receives that match a message the oldest gets it.
  /// Outcome: source and its lane, tag, length; `truncated` when the message was longer than
  /// `into`. Never answers done: a message that is there already has its completion delivered like
  /// any other. Also invalid: a tag above max_tag. canceled: taken back. no_memory.
  status try_recv(rank from, tag_match t, std::span<std::byte> into,
                  const completion& c = {}) noexcept;
  /// Looks for a message that a receive with these arguments would take now, without taking it.
  /// done: `out` tells of it. not_found. busy_lane: another thread drives the lane just now. Also
  /// invalid, closed; nothing else.
  status try_probe(rank from, tag_match t, outcome& out) noexcept;
  /// The same, but takes the message: `out` holds it, and only try_recv(out, ...) receives it.
  status try_probe(rank from, tag_match t, matched_message& out) noexcept;
  /// Takes one message as try_recv would, but leaves its data where it is: when it has come the
  /// outcome says source and its lane, tag and length, and `into` holds it, so that the buffer can
  /// be made for it. `into` must stay where it is until then, and must hold nothing: also invalid.
  /// Never answers done. canceled: taken back by try_cancel.
  status try_match(rank from, tag_match t, matched_message& into,
                   const completion& c = {}) noexcept;
  /// Receives what `m` holds; as try_recv, and `m` holds nothing any more, unless the answer is
  /// busy. Also invalid: it holds nothing, or a message of another lane.
  status try_recv(matched_message& m, std::span<std::byte> into, const completion& c = {}) noexcept;
  /// Takes back the receive that was posted with the completion `which`, or else the flush or
  /// fence: done, and the completion is delivered with `canceled`. not_found: it has matched or
  /// ended. busy_lane: ask again. Also closed; nothing else.
  status try_cancel(const completion& which) noexcept;
  /// Runs handler `h` at `to` with copies of `header` (0 to max_call_header bytes) and `payload`
  /// (any size). Completion: both may be reused; it does not tell that the handler has run. Also
  /// invalid: `h` is not below max_handlers, or the header is too long. no_memory.
  status try_call(destination to, handler_id h, std::span<const std::byte> header,
                  std::span<const std::byte> payload, const completion& c = {}) noexcept;

  // --- blocking forms: the same, waiting until done; send() of an unexpected message may have to
  // wait for its receive, see try_send. Not from a callback, handler or task, nor any function
  // below that waits: HEDDLE_CHECKS finds it. ---
  status put(std::span<const std::byte> from, remote_address to) noexcept;
  status get(std::span<std::byte> into, remote_address from) noexcept;
  status send(destination to, tag t, std::span<const std::byte> data) noexcept;
  outcome recv(rank from, tag_match t, std::span<std::byte> into) noexcept;
  outcome match(rank from, tag_match t, matched_message& into) noexcept;
  outcome recv(matched_message& m, std::span<std::byte> into) noexcept;
  /// As recv and match, but when `limit` has passed without a message they are taken back: outcome
  /// timed_out, and nothing has changed; call again, or do without. A message that has been taken
  /// by then is the answer, however long the rest of it is under way: none is lost. A limit of 0:
  /// looks once.
  outcome recv_for(rank from, tag_match t, std::span<std::byte> into,
                   std::chrono::nanoseconds limit) noexcept;
  outcome match_for(rank from, tag_match t, matched_message& into,
                    std::chrono::nanoseconds limit) noexcept;
  status call(destination to, handler_id h, std::span<const std::byte> header,
              std::span<const std::byte> payload) noexcept;
  template <class T>
  status put(const T& from, remote_ptr<T> to) noexcept {
    return put(std::as_bytes(std::span(&from, 1)), to.address);
  }
  template <class T>
  status get(T& into, remote_ptr<T> from) noexcept {
    return get(std::as_writable_bytes(std::span(&into, 1)), from.address);
  }
  template <class T>
  status put(std::span<const std::type_identity_t<T>> from, remote_ptr<T> to) noexcept {
    return put(std::as_bytes(from), to.address);
  }
  template <class T>
  status get(std::span<std::type_identity_t<T>> into, remote_ptr<T> from) noexcept {
    return get(std::as_writable_bytes(into), from.address);
  }
  status put_notify(std::span<const std::byte> from, remote_address to, handler_id notify,
                    std::uint64_t value) noexcept;
  status put_signal(std::span<const std::byte> from, remote_address to, atomic_op how,
                    remote_ptr<std::uint64_t> word, std::uint64_t value) noexcept;
  template <atomic_number T>
  status fetch_atomic(atomic_op op, remote_ptr<T> at, std::type_identity_t<T> operand, T& old,
                      std::type_identity_t<T> compare = 0) noexcept {
    return blocking([&](completion c) { return try_atomic(op, at, operand, &old, c, compare); });
  }
  template <atomic_number T>
  status fetch_add(remote_ptr<T> at, std::type_identity_t<T> operand, T& old) noexcept {
    return fetch_atomic(atomic_op::add, at, operand, old);
  }
  template <atomic_integer T>
  status fetch_min(remote_ptr<T> at, std::type_identity_t<T> operand, T& old) noexcept {
    return fetch_atomic(atomic_op::min, at, operand, old);
  }
  template <atomic_integer T>
  status fetch_max(remote_ptr<T> at, std::type_identity_t<T> operand, T& old) noexcept {
    return fetch_atomic(atomic_op::max, at, operand, old);
  }
  template <atomic_number T>
  status add(remote_ptr<T> at, std::type_identity_t<T> operand) noexcept {
    return blocking([&](completion c) { return try_add(at, operand, c); });
  }
  template <atomic_number T>
  status swap(remote_ptr<T> at, std::type_identity_t<T> desired, T& old) noexcept {
    return fetch_atomic(atomic_op::swap, at, desired, old);
  }
  template <atomic_number T>
  status compare_swap(remote_ptr<T> at, std::type_identity_t<T> expected,
                      std::type_identity_t<T> desired, T& old) noexcept {
    return fetch_atomic(atomic_op::compare_swap, at, desired, old, expected);
  }

  // --- waiting and order ---------------------------------------------------------------
  /// Moves this lane forward once and delivers what has ended. Returns how many things happened;
  /// 0 as well when another thread is driving the lane, or from inside a callback.
  std::size_t poll() noexcept;
  /// Returns once `f` is ready: the operation's status, or closed when the lane's world ended
  /// before. Polls a little, then sleeps.
  status wait(flag& f) noexcept;
  /// Returns once `target` operations were counted: the counter's first failure or `done`.
  status wait(counter& ended, std::uint64_t target) noexcept;
  /// Returns once the queue was delivered `target` entries in its life.
  void wait(completion_queue& queue, std::uint64_t target) noexcept;
  /// As wait; false when `limit` passed first, and then nothing has changed.
  bool wait_for(flag& f, std::chrono::nanoseconds limit) noexcept;
  bool wait_for(counter& ended, std::uint64_t target, std::chrono::nanoseconds limit) noexcept;
  bool wait_for(completion_queue& queue, std::uint64_t target,
                std::chrono::nanoseconds limit) noexcept;
  /// Returns once `true_of(word)` is, for a word of this rank's memory that peers put to (the word
  /// alone: among more bytes it may be seen half written) or change by atomics: done, and
  /// everything that was visible before that change is visible here. closed when the lane's world
  /// ended before. Drives the lane meanwhile, and sleeps with pauses that grow to a millisecond:
  /// nothing tells of a store. The word is read as an atomic.
  template <class T, std::predicate<T> P>
  status wait_until(const T& word, P&& true_of) noexcept {
    return wait_until(word, true_of, std::chrono::nanoseconds::max()) ? status::done
                                                                      : status::closed;
  }
  /// The same; false when `limit` passed first, or the world ended.
  template <class T, std::predicate<T> P>
  bool wait_until(const T& word, P&& true_of, std::chrono::nanoseconds limit) noexcept {
    const auto look = [&] { return true_of(detail::read_shared(word)); };
    const question again{[](const void* of) { return (*static_cast<decltype(look)*>(of))(); },
                         &look};
    return look() || wait_for_memory(again, limit);
  }
  /// Delivers `c` once after an answer of busy_queue or busy_records it is worth asking again.
  void when_ready(completion c) noexcept;
  /// Every put, get and atomic that this lane had posted to `peer` has completed; what it is given
  /// afterwards is not waited for. done: there is nothing to wait for. Otherwise the completion
  /// tells: done, or peer_lost, closed. The operations' own completions, which may come a moment
  /// later, tell of other failures.
  /// Also invalid: no such rank. canceled: taken back by try_cancel.
  status try_flush(rank peer, const completion& c = {}) noexcept;
  /// try_flush for every peer; ends with done or closed.
  status try_flush(const completion& c = {}) noexcept;
  /// As try_flush, and a fence: operations on `peer` posted after its end take effect after those
  /// posted before it.
  status try_fence(rank peer, const completion& c = {}) noexcept {
    detail::order_all();
    return try_flush(peer, c);
  }
  /// Returns once every put, get and atomic this lane had posted to `peer` has completed: done, or
  /// peer_lost, invalid, closed. Waits for nothing that is posted meanwhile.
  status flush(rank peer) noexcept;
  /// flush for every peer: done or closed.
  status flush() noexcept;
  /// The same; timed_out when `limit` passed first, and then nothing has changed.
  status flush_for(rank peer, std::chrono::nanoseconds limit) noexcept;
  status flush_for(std::chrono::nanoseconds limit) noexcept;
  /// Operations on `peer` posted after this take effect after those posted before, all of them:
  /// also a get after a put to another word, which plain stores and loads of mapped memory may
  /// swap. May wait: done, or peer_lost.
  status fence(rank peer) noexcept {
    detail::order_all();
    return flush(peer);
  }
  /// The same; timed_out when `limit` passed first: what was posted before is not ordered with what
  /// comes.
  status fence_for(rank peer, std::chrono::nanoseconds limit) noexcept;

 private:
  /// False: it is not plain memory of this process.
  static bool put_directly(std::span<const std::byte> from, remote_address to) noexcept {
    if (to.target == nullptr ||
        !detail::reachable(*to.target, to.offset, from.size(), rights::write)) [[unlikely]]
      return false;
    detail::put_direct(to.target->direct + to.offset, from.data(), from.size());
    return true;
  }
  static bool get_directly(std::span<std::byte> into, remote_address from) noexcept {
    if (from.target == nullptr ||
        !detail::reachable(*from.target, from.offset, into.size(), rights::read)) [[unlikely]]
      return false;
    detail::get_direct(into.data(), from.target->direct + from.offset, into.size());
    return true;
  }
  status post_put(std::span<const std::byte> from, remote_address to, const completion& c) noexcept;
  status post_get(std::span<std::byte> into, remote_address from, const completion& c) noexcept;
  status post_atomic(atomic_op op, remote_address at, std::size_t width, std::uint64_t operand,
                     std::uint64_t compare, void* old, const completion& c) noexcept;

  friend matched_message;
  static void drop(engine::lane_core& core, protocols::unexpected& message) noexcept;
  /// As blocking(), for a receive.
  template <class F>
  outcome receiving(rank from, F&& attempt) noexcept;
  /// Posts with `attempt(completion)` until accepted, then waits: the operation's status.
  template <class F>
  status blocking(F&& attempt) noexcept {
    flag f;
    const completion c = detail::awaited::by(f);
    status s = attempt(c);
    while (is_busy(s)) {
      wait_for_room();
      s = attempt(c);
    }
    return s == status::posted ? wait(f) : s;
  }
  bool wait(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept;
  void wait_for_room() noexcept;
  /// A question that can be asked again and again.
  struct question {
    bool (*ask)(const void* of);
    const void* of;
    bool operator()() const noexcept { return ask(of); }
  };
  bool wait_for_memory(question answered, std::chrono::nanoseconds limit) noexcept;

  engine::lane_core* core_;
  std::shared_ptr<engine::world_core> opened_by_;  // keeps *core_; null: not ours to close
};

}  // namespace heddle
