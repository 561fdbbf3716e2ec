// SPDX-License-Identifier: BSD-3-Clause
// lane_submitter.h - taking operations on: at once where the lane is free, else through its queue.
//
// submit() executes inline when the lane is free, otherwise it leaves the command for the holder.
// In progress mode dedicated the program only leaves commands, and in idle and adaptive it may
// (offload.h). Messages, receives, puts and gets that can go at once are not made commands at all.
#pragma once
#include <heddle/completion.h>
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "engine/lane_driver.h"
#include "engine/lane_end.h"
#include "engine/lane_server.h"
#include "engine/lane_waiter.h"
#include "protocols/command.h"

namespace heddle::engine {

/// Any thread. Each answers done, posted, busy_queue, busy_records, or why not.
class lane_submitter {
 public:
  lane_submitter(lane_driver& of, lane_waiter& waiter, lane_server& server, lane_end& end) noexcept;

  status submit(const protocols::command& c) noexcept;
  /// As submit, for a put and a get: what the wire takes at once needs no command.
  status put(std::span<std::byte> from, const memory::remote_memory* to, std::uint64_t offset,
             const completion& done) noexcept;
  status get(std::span<std::byte> into, const memory::remote_memory* from, std::uint64_t offset,
             const completion& done) noexcept;
  /// As submit, for a message and a receive: what ends or is filed at once needs no command.
  status send(destination to, tag t, std::span<const std::byte> data,
              const completion& done) noexcept;
  status call(destination to, handler_id h, std::span<const std::byte> header,
              std::span<const std::byte> payload, const completion& done) noexcept;
  /// Either in two halves: where the first, which can do without a completion, is false, the second
  /// has to follow. `held`: from one to the other.
  bool sends_at_once(destination to, tag t, std::span<const std::byte> data, bool& held) noexcept;
  [[gnu::noinline]] status send_rest(destination to, tag t, std::span<const std::byte> data,
                                     const completion& done, bool held) noexcept;
  bool calls_at_once(destination to, handler_id h, std::span<const std::byte> header,
                     std::span<const std::byte> payload, bool& held) noexcept;
  [[gnu::noinline]] status call_rest(destination to, handler_id h,
                                     std::span<const std::byte> header,
                                     std::span<const std::byte> payload, const completion& done,
                                     bool held) noexcept;
  status receive(rank from, const tag_match& t, std::span<std::byte> into,
                 const completion& done) noexcept;
  /// Nothing that flush(peer) waits for is in flight, and no peer was ever lost. False: ask by
  /// submit().
  [[nodiscard]] bool flushed(rank peer) noexcept;

 private:
  using delivery_batch = protocols::delivery_batch;
  template <class Work>
  bool at_once(std::size_t bytes, bool& held, Work&& work) noexcept;
  template <protocols::command_kind Kind>
  status access(std::span<std::byte> memory, const memory::remote_memory* there,
                std::uint64_t offset, const completion& done) noexcept;
  [[gnu::noinline]] status access_rest(protocols::command_kind kind, std::span<std::byte> memory,
                                       const memory::remote_memory* there, std::uint64_t offset,
                                       const completion& done, bool held) noexcept;
  [[gnu::noinline]] status receive_rest(rank from, const tag_match& t, std::span<std::byte> into,
                                        const completion& done, bool held) noexcept;
  [[gnu::noinline]] status submit_rest(const protocols::command& c, bool held) noexcept;
  status execute(const protocols::command& c, delivery_batch& batch) noexcept;
  void look_after(std::size_t bytes, const completion& done, delivery_batch& batch) noexcept;
  status execute_held(const protocols::command& c, delivery_batch& batch) noexcept;
  status execute_or_enqueue(const protocols::command& c, delivery_batch& batch) noexcept;
  status enqueue(const protocols::command& c, delivery_batch& batch) noexcept;
  status choose(const protocols::command& c, delivery_batch& batch) noexcept;
  status leave_stamped(const protocols::command& c, delivery_batch& batch) noexcept;
  status offload(const protocols::command& c, delivery_batch& batch) noexcept;
  void leave_to_executor() noexcept;

  lane_driver& driver_;
  lane_waiter& waiter_;
  lane_server& server_;
  lane_end& end_;
  const std::size_t inline_below_;  // bytes; nobody is asked whether to leave such an operation
};

}  // namespace heddle::engine
