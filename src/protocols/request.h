// SPDX-License-Identifier: BSD-3-Clause
// request.h - an operation in flight: one object from the lane to the wire and back.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "protocols/command.h"
#include "protocols/list.h"
#include "protocols/spare_payloads.h"
#include "transport/op.h"

namespace heddle::protocols {

struct peer;
class flush_queue;
class protocol;
struct request_queue;
struct unexpected;

/// Where a request stands. Who moves it on is in brackets.
enum class stage : std::uint8_t {
  free,
  in_hand,   ///< a function has it and decides what becomes of it [that function]
  direct,    ///< the wire has it, and at its end there is nothing to do but to tell [its event]
  wire,      ///< the wire has it, or the batch that goes there next [its event]
  backlog,   ///< waits for room on the wire, or for credit [path::flush_blocked]
  turn,      ///< the next piece of it is to be copied here [pieces::move_next], or the next
             ///< stripe to be posted [stripes]
  striped,   ///< its stripes are under way [their end]
  reply,     ///< the peer has it [its reply, or FIN]
  deferred,  ///< a large call waits for memory [calls]
  flushing,  ///< waits for other operations [their end]
};

/// How a transfer is carried out, once that is known.
enum class carrier : std::uint8_t { undecided, pieces, stripes, messages, deliveries };

/// An operation in flight. Its first part is what a wire is given, and is filled when it is: a
/// request that has no op of its own, like one that waits for others, leaves it alone.
struct request : transport::op {
  command_kind what = command_kind::put;
  stage at = stage::free;
  carrier by = carrier::undecided;
  std::uint8_t rail = 0;          ///< stripe: of the peer's, which it goes on
  bool counted = false;           ///< flushes wait for it
  bool paid = false;              ///< a message: its credit has been taken
  bool mappable = false;          ///< the data to fetch lies in memory that may be mapped here
  status failure = status::done;  ///< of one of its fragments
  handler_id handler = 0;
  std::uint32_t index = 0, generation = 1;  ///< together its id on the wire
  struct peer* with = nullptr;              ///< null: with nobody in particular
  rank number = any_source;                 ///< of the peer that the program named
  protocol* owner = nullptr;                ///< starts it, and hears of its end
  completion done;
  std::uint64_t bytes = 0;     ///< of the program's data
  heddle::tag tag = 0;         ///< send: its tag; recv: that of the message
  std::uint64_t since_ns = 0;  ///< first seen by census::stamp(); 0: not yet
  std::uint64_t mark = 0;      ///< counted: the number of the last flush before it

  // A transfer: all of it. The op names the part that the wire has.
  std::span<std::byte> local;
  std::uint64_t base = 0;               ///< where in the region it begins
  std::uint64_t issued = 0, moved = 0;  ///< bytes asked for, bytes done, where it goes in parts
  std::uint64_t part_of = 0;            ///< stripe: id of the whole

  /// put_signal: what is to be changed when the data is there. Null: nothing, or no more.
  signal_word signal{};

  // An atomic that is made of compare_swaps (atomic_loop.h); else `looped` is compare_swap.
  atomic_op looped = atomic_op::compare_swap;
  std::uint64_t update = 0, found = 0;  ///< its operand, and what the last one found

  // A large message. The sender lends its data as a region; the receiver fetches it.
  memory::region_ref lent;
  std::uint64_t sender_id = 0;      ///< the sender's request, for the FIN
  std::uint64_t message_bytes = 0;  ///< all of it, also what does not fit
  /// What is fetched into memory of ours: a call, or a message that nobody has asked for yet.
  payload_memory payload;
  std::unique_ptr<std::byte[]> call_header;
  unexpected* early = nullptr;     ///< that message, as long as nobody has
  std::span<std::byte> delivered;  ///< where it goes, once somebody has; looped: the old value

  hook<request> in_peer, in_queue;
  request_queue* queue = nullptr;  ///< the one it is in
  flush_queue* flushes = nullptr;  ///< flush: the one it is in
  request* next_free = nullptr;

  [[nodiscard]] std::uint64_t id() const noexcept {
    return std::uint64_t{generation} << 32 | index;
  }
};

using peer_requests = list<request, &request::in_peer>;  ///< all of a peer's

/// Requests that wait, in order. A request is in one at most.
struct request_queue : list<request, &request::in_queue> {
  void add(request& r) noexcept {
    push_back(r);
    r.queue = this;
  }
  void add_first(request& r) noexcept {
    push_front(r);
    r.queue = this;
  }
  /// The oldest, taken out, and now in the caller's hand; there is one.
  request& take_first() noexcept;
};
/// Takes it out of the queue it waits in, if any, into the caller's hand.
void take_in_hand(request& r) noexcept;

/// The requests of one lane. Holder only. Grows by slabs; the lane bounds how many it takes.
class request_pool {
 public:
  /// As its last user left it, in hand.
  request& take() {
    if (free_ == nullptr) [[unlikely]]
      grow();
    request& r = *free_;
    free_ = r.next_free;
    ++in_use_;
    r.at = stage::in_hand;
    return r;
  }
  void give_back(request& r) noexcept {
    r.at = stage::free;
    r.next_free = free_;
    free_ = &r;
    --in_use_;
  }
  /// The request with `from` that an id names, which may be that peer's to say; null: there is no
  /// such request, or no more.
  [[nodiscard]] request* find(std::uint64_t id, const peer& from) noexcept;
  [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }
  /// For all that are taken.
  template <class F>
  void each(F&& f) {
    for (const auto& slab : slabs_)
      for (std::size_t i = 0; i < at_a_time; ++i)
        if (slab[i].at != stage::free) f(slab[i]);
  }

 private:
  static constexpr std::size_t at_a_time = 16;
  void grow();
  std::vector<std::unique_ptr<request[]>> slabs_;
  request* free_ = nullptr;
  std::size_t in_use_ = 0;
};

}  // namespace heddle::protocols
