// SPDX-License-Identifier: BSD-3-Clause
// faulty_endpoint.h - an endpoint between the engine and another endpoint, that misbehaves.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>

#include "backends/faults/chance.h"
#include "backends/faults/faults.h"
#include "backends/faults/held_events.h"
#include "backends/faults/held_ops.h"
#include "transport/device.h"

namespace heddle::transport {

/// Ops wait in ops_ until poll() hands them to the inner endpoint; everything the inner one reports
/// waits in events_ until poll() delivers it.
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
  [[nodiscard]] bool idle() const noexcept override { return ops_.empty() && inner_->idle(); }

 private:
  enum class fate : std::uint8_t { direct, hold, busy, lost };

  // post
  fate decide(const op& o);
  status pass_on(std::span<op* const> ops, std::size_t& begin, std::size_t end);
  /// Only whoever counts ops one by one can lose a peer between two of them.
  [[nodiscard]] bool counts() const noexcept { return plan_.fail_from != 0 || plan_.kill >= 0; }
  void count(const remote_lane& to);

  // poll
  bool release(op& o);
  void take_events();
  void take(const event& e);
  /// An event for an op that was answered posted; sends were over.
  void report_end(op& o, status code);

  void lose(remote_lane& peer);
  void end_all_of(const remote_lane& peer);

  const std::unique_ptr<endpoint> inner_;
  const fault_plan plan_;
  chance random_;
  held_ops ops_;
  held_events events_;
  std::set<const remote_lane*> lost_;       // nothing more is taken from or for these
  std::set<const remote_lane*> told_lost_;  // their peer_lost was taken or made up
  std::uint64_t accepted_ = 0;              // ops
  std::uint64_t kill_steps_ = 0;            // ops and messages of plan_.kill
  bool turned_away_ = false;                // an op was answered busy_queue and not tried since
  bool starved_ = false;                    // there is room for it now, which arm() must report
  bool starved_told_ = false;               // and has
  bool armed_ = false;                      // arm() was true, and no poll since
};

}  // namespace heddle::transport
