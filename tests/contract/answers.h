// SPDX-License-Identifier: BSD-3-Clause
// answers.h - the documented answers of a lane's functions, as data: one row for each wrong
// argument or state, with the operations it is about and the status they give.
//
// answers_test.cpp runs every row over every way from rank to rank. docs/guide/errors.md names the
// rows, and a test compares the two.
#pragma once
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::test {

/// What is asked of a lane.
enum class action : std::uint8_t {
  put,  // up to add: accesses to a region
  put_notify,
  put_signal,  ///< data and word at one place
  get,
  fetch_add,     ///< 8 bytes
  compare_swap,  ///< 4 bytes
  add,           ///< 8 bytes, without the old value
  send,
  recv,
  probe,
  cancel,
  call,
  flush,
  fence,
  recv_for,  ///< with a limit of a millisecond, as all that follow up to flush_for
  match_for,
  flush_for,
  broadcast,
  reduce,
  allreduce,
  allreduce_floats,  ///< with an operation on bits
  gather,
  allgather,
  alltoall,
};

/// What has happened before, or happens meanwhile.
enum class state : std::uint8_t {
  usual,
  withdrawn,         // the region, after its key was imported
  withdrawn_before,  // the region, before its key was imported
  replaced,          // withdrawn, and another region has its place
  nowhere,           // no target: what symmetric::at gives for a rank out of range
  message_waits,     // of `message` bytes, from the peer
  message_comes,     // the same, sent after the receive was posted
  taken_back,        // the receive is canceled
  has_ended,         // the receive to cancel has its message
  world_ends,        // meanwhile
  world_has_ended,   // before the question
  in_a_forks_child,
};

/// Operations and how they are wrong. Everything not said is as it should be.
struct answer_row {
  std::string_view name;  ///< as docs/guide/errors.md has it
  status expected;
  std::vector<action> asked;
  state when = state::usual;
  // put to add:
  rights allowed = rights::all;
  std::uint64_t offset = 0;
  std::size_t base = 0;   ///< where in an aligned piece of memory the region begins
  std::size_t bytes = 8;  ///< also of a receive's buffer; atomics have their own
  // all others:
  rank peer = 1;  ///< root of a collective
  tag_match matching{7};
  handler_id handler = 1;
  std::size_t header = 8;
  std::size_t message = 0;      ///< bytes of the peer's
  std::size_t too_long_by = 0;  ///< items of a collective's output
};

/// The regions of the test have so many bytes.
inline constexpr std::size_t region_bytes = 4096;

[[nodiscard]] const std::vector<answer_row>& answer_table();

}  // namespace heddle::test
