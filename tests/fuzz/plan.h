// SPDX-License-Identifier: BSD-3-Clause
// plan.h - a fuzzer's program as plain data: the job, its lanes and memory, and what is called
// when.
//
// How the fuzzer of the public API is split:
//   generate   seed -> plan                       every decision comes from the seed
//   model      plan -> what must be               bytes, orders and endings; is the plan itself
//   right? plan_text  plan <-> text                      what people read, and what the ranks are
//   given rank       executes one rank's part           calls Heddle, writes what happened to the
//   board board      memory shared by all ranks         the facts: one record per step and rank
//   verdict    plan, facts -> findings            compares the two
//   job        runs a plan's ranks and watches    crash, silence, and the verdict
//   minimise   a failing plan -> a shorter one    as long as it fails in the same way
// Only `rank` includes Heddle's operations; the model knows no Heddle but its words.
#pragma once
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::fuzz {

enum class verb : std::uint8_t {
  put,
  get,
  put_notify,
  atomic,  // remote memory
  send,
  recv,
  probe,
  cancel,
  call,  // messages
  flush,
  fence,
  poll,
  pause,
  reopen,  // this thread and its lane
  barrier,
  broadcast,
  reduce,
  allreduce,
  gather,
  allgather,
  alltoall,  // all ranks
  mistake,   // an argument that must be refused
  kill,
  stop,  // what happens to the rank that executes it
  end_lane,
  end_area,
  end_world,
  use  // after the last phase, in this order
};

/// How the end of an operation is awaited.
enum class ending : std::uint8_t { flag, counter, callback, queue, coroutine, blocking };

/// Which of the calls that mean the same. What it leads to is the same in all forms.
enum class form : std::uint8_t {
  plain,
  blocks,   ///< put, get, send, recv, call: of a list of blocks (blocks.h)
  matched,  ///< recv: takes the message out of matching first; only where it waits
  named,    ///< call: of the handler that was added under a name
  placed,   ///< call: of the handler that chooses where the payload goes
  grouped,  ///< collectives: each in one of two groups, ranks of even and of odd number, backwards
  posted,   ///< flush, fence: by the call with a completion, whose delivery is waited for at once
  limited   ///< flush, fence, recv that blocks: no longer than some microseconds, until it is over
};

/// Arguments that can never be right; each has one status that must answer it (model.h).
enum class mistake : std::uint8_t {
  send_reserved_tag,
  recv_reserved_tag,
  probe_reserved_tag,
  send_rank,
  recv_rank,
  call_rank,
  call_header,
  call_handler,
  notify_handler,
  put_bounds,
  get_bounds,
  atomic_bounds,
  misaligned,
  no_address,
  denied_put,
  denied_get,
  denied_atomic,
  cancel_nothing,
  withdrawn_put,
  withdrawn_get
};

/// What `use` does with a lane whose world has ended.
enum class late_use : std::uint8_t {
  send,
  recv,
  probe,
  call,
  put,
  get,
  atomic,
  poll,
  flush,
  barrier
};

/// One call. Fields that a verb does not use stay as they are here, and are not printed.
struct step {
  int id = 0;      ///< names the step, and the bytes that it writes; unique in a plan
  int phase = 0;   ///< phases are divided by barriers
  int rank = 0;    ///< who calls it; all_ranks: everybody (collectives)
  int thread = 0;  ///< which thread of that rank
  verb what = verb::poll;
  ending ends = ending::flag;
  form as = form::plain;
  int lane = 0;
  int to_lane = -1;         ///< send, call: which of the peer's; -1: the one of the same number
  int peer = 0;             ///< target, source (-1: any) or root (none: must be refused)
  int area = 0;             ///< remote memory: which area of the peer's
  std::uint64_t at = 0;     ///< bytes from the area's begin
  std::uint64_t bytes = 0;  ///< of the data; of each block (collectives); microseconds (pause)
  std::uint64_t tag = 0;
  std::uint64_t mask = ~std::uint64_t{0};
  int op = 0;     ///< atomic_op, reduce_op, fuzz::mistake or late_use
  int width = 8;  ///< of an atomic
  std::uint64_t operand = 0, compare = 0;
  int header = 0;  ///< bytes of a call's header
  int of = 0;      ///< cancel: the receive

  /// Where its message is taken: the lane of a receive, or of the peer.
  [[nodiscard]] int arrives_on() const { return to_lane < 0 ? lane : to_lane; }

  friend bool operator==(const step&, const step&) = default;
};

inline constexpr form last_form = form::limited;
inline constexpr int all_ranks = -1;

enum class area_kind : std::uint8_t { symmetric, exposed, allocated };

/// Memory that peers may address. Its first `word_bytes` are for atomics alone, the rest for bytes.
struct area {
  int id = 0;
  area_kind kind = area_kind::symmetric;
  int owner = 0;  ///< all_ranks for symmetric ones
  std::uint64_t bytes = 4096;
  int allowed = 7;  ///< rights
  int first = 0;    ///< the phase before which it is made
  int last = 1000;  ///< the phase after which it is withdrawn; past the last phase: at the end

  friend bool operator==(const area&, const area&) = default;
};

inline constexpr std::uint64_t word_bytes = 64;

struct lane_plan {
  int number = 0;
  int owner = -1;  ///< the thread whose exclusive lane it is; -1: shared by all

  friend bool operator==(const lane_plan&, const lane_plan&) = default;
};

/// NAME=value in the environment of one rank or of all. Three names are not for the environment:
/// ulimit_descriptors and ulimit_megabytes, how much more a rank may take once its world is there;
/// and second_world, which is another world of all ranks beside the first, with messages, calls and
/// collectives of its own.
struct setting {
  int rank = all_ranks;
  std::string name, value;

  friend bool operator==(const setting&, const setting&) = default;
};

struct plan {
  std::uint64_t seed = 0;
  int ranks = 2;
  int threads = 1;
  std::vector<setting> settings;
  std::vector<lane_plan> lanes;
  std::vector<area> areas;
  std::vector<step> steps;  ///< in an order in which they could happen one after the other

  [[nodiscard]] int phases() const;
  /// One more than the highest id of a step.
  [[nodiscard]] int ids() const;
  /// Null when there is none.
  [[nodiscard]] const step* find(int id) const;
  [[nodiscard]] const area* find_area(int id) const;
  /// The setting as `rank` sees it; empty when it is not set.
  [[nodiscard]] std::string value_of(std::string_view name, int rank) const;
  /// A rank is killed, stopped for ever, cut off or starved: endings may be failures.
  [[nodiscard]] bool harsh() const;

  friend bool operator==(const plan&, const plan&) = default;
};

/// Such a call exists.
[[nodiscard]] bool has_form(const step& s);
/// The members of the caller's group of a collective, by their numbers in it.
[[nodiscard]] std::vector<int> members_of(const step& s, int rank, int ranks);
/// The root of the collective in that group; of no rank: as it is.
[[nodiscard]] int root_of(const step& s, int rank, int ranks);

[[nodiscard]] constexpr bool is_collective(verb v) {
  return v >= verb::barrier && v <= verb::alltoall;
}
/// Done after the last phase.
[[nodiscard]] constexpr bool is_late(verb v) {
  return v >= verb::end_lane;
}
/// Waits for the accesses before it.
[[nodiscard]] constexpr bool orders(verb v) {
  return v == verb::flush || v == verb::fence;
}
/// Reads or writes an area.
[[nodiscard]] constexpr bool is_access(verb v) {
  return v <= verb::atomic;
}

}  // namespace heddle::fuzz
