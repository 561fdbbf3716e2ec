// executor.h - carries out the commands of one CQ: moves the data and leaves the notices.
#pragma once
#include "machine.h"
#include "operation.h"
#include "steering.h"
#include "target.h"

namespace tofu {

/// Used by one thread at a time, which may be another than the one that posts.
class executor {
 public:
  /// `id`: of the CQ's VCQ with cmp_id 0.
  executor(const machine& m, const settings& set, std::uint64_t id, shared_cq& own,
           const steering_table& steering);

  /// All of `op`. Returns the code for its TCQ entry.
  int execute(const operation& op);

 private:
  int carry_out(const operation& op, mrq_message& notice);
  int move_data(const operation& op, target& to, mrq_message& notice);
  int move_block(const operation& op, target& to, std::byte* local, const remote_place& remote);
  int arithmetic(const operation& op, target& to, mrq_message& notice);
  void notify(const operation& op, const mrq_message& notice);
  void notify_target(const operation& op, target& to);

  const machine& machine_;
  const std::uint64_t id_;
  shared_cq& own_;
  const steering_table& steering_;
  target_cache targets_;
  mrq_producer own_mrq_;
  const bool hidden_;
  const bool get_errors_in_mrq_;
};

/// Its MRQ has overflowed: from now on nothing arrives, and its owner gets FATAL.
void kill_cq(shared_cq& cq, std::uint64_t vcq_id) noexcept;

}  // namespace tofu
