// SPDX-License-Identifier: BSD-3-Clause
// faulty_endpoint.h - an endpoint between the engine and another endpoint, that misbehaves.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "backends/faults/chance.h"
#include "backends/faults/faults.h"
#include "transport/device.h"

namespace heddle::transport {

/// Ops wait in held_ops_ until poll() hands them to the inner endpoint; everything the inner one
/// reports waits in held_events_ until poll() delivers it.
class faulty_endpoint final : public endpoint {
 public:
  /// `ordered` as in traits of the device below.
  faulty_endpoint(std::unique_ptr<endpoint> inner, const fault_plan& plan, bool ordered, int lane);

  remote_lane* reach(rank peer, int lane) noexcept override { return inner_->reach(peer, lane); }
  using endpoint::post;
  post_result post(std::span<op* const> ops) noexcept override;
  std::size_t poll(std::span<event> out) noexcept override;
  bool arm() noexcept override;
  [[nodiscard]] int fd() const noexcept override { return inner_->fd(); }
  bool shares_core(int core) noexcept override { return inner_->shares_core(core); }
  void maintain() noexcept override { inner_->maintain(); }
  void drop(remote_lane& of) noexcept override;
  [[nodiscard]] bool idle() const noexcept override { return held_ops_.empty() && inner_->idle(); }

 private:
  struct held_op {
    op* of = nullptr;  // null: a send, of which `sent` is a copy
    op sent;
    std::uint64_t polls = 0;                      // still to be held for
    std::chrono::steady_clock::time_point until;  // held till then, if it is late
    bool waiting = false;            // the inner endpoint had no room for it when last asked
    std::vector<std::byte> message;  // a send's header and data, which sent.memory names

    [[nodiscard]] op& what() noexcept { return of != nullptr ? *of : sent; }
    [[nodiscard]] const op& what() const noexcept { return of != nullptr ? *of : sent; }
  };
  struct held_event {
    event what;
    std::vector<std::byte> bytes;  // what `what.bytes` names
    std::uint64_t polls = 0;
  };

  enum class fate : std::uint8_t { direct, hold, busy, lost };

  // post
  fate decide(const op& o);
  status pass_on(std::span<op* const> ops, std::size_t& begin, std::size_t end);
  void hold(op& o);
  [[nodiscard]] std::chrono::microseconds lateness(const op& o) const noexcept;
  [[nodiscard]] bool must_follow(const op& later, const op& earlier) const noexcept;
  [[nodiscard]] bool blocked(const op& o, std::size_t before) const noexcept;
  /// Only whoever counts ops one by one can lose a peer between two of them.
  [[nodiscard]] bool counts() const noexcept { return plan_.fail_from != 0 || plan_.kill >= 0; }
  void count(const remote_lane& to);

  // poll
  void release_ops();
  bool release(held_op& h);
  void take_events();
  void take(const event& e);
  std::size_t deliver(std::span<event> out);
  void lend(std::size_t index, event& out);
  [[nodiscard]] bool held_up(const event& e, std::size_t before) const noexcept;
  /// An event for an op that was answered posted; sends were over.
  void report_end(op& o, status code);
  void report(event::kind_t kind, status code, remote_lane* peer, op* of,
              std::string_view words = {});

  [[nodiscard]] bool only_waiting() const noexcept;
  void lose(remote_lane& peer);
  void end_all_of(const remote_lane& peer);

  const std::unique_ptr<endpoint> inner_;
  const fault_plan plan_;
  const bool ordered_;
  chance random_;
  std::deque<held_op> held_ops_;
  std::chrono::steady_clock::time_point late_until_;  // what is late goes one after the other
  std::deque<held_event> held_events_;
  std::vector<std::vector<std::byte>> lent_;  // bytes of delivered messages, until the next poll
  std::set<const remote_lane*> lost_;         // nothing more is taken from or for these
  std::set<const remote_lane*> told_lost_;    // their peer_lost was taken or made up
  std::uint64_t accepted_ = 0;                // ops
  std::uint64_t kill_steps_ = 0;              // ops and messages of plan_.kill
  bool turned_away_ = false;                  // an op was answered busy_queue and not tried since
  bool starved_ = false;                      // there is room for it now, which arm() must report
  bool starved_told_ = false;                 // and has
  bool armed_ = false;                        // arm() was true, and no poll since
};

}  // namespace heddle::transport
