// SPDX-License-Identifier: BSD-3-Clause
// counter_table.cpp - the one list of what is counted: names, units, meanings.
#include <heddle/counters.h>

#include <array>

namespace heddle {
namespace {

using enum counter_kind;

#define HEDDLE_ROW(of, member, unit, kind, help)    \
  counter_row {                                     \
#member, unit, kind, help, offsetof(of, member) \
  }

constexpr std::array lane_rows{
    HEDDLE_ROW(lane_counters, in_flight, "operations", gauge,
               "operations that have not ended, receives without a message among them"),
    HEDDLE_ROW(lane_counters, in_flight_bytes, "bytes", gauge, "of data, on the way"),
    HEDDLE_ROW(lane_counters, waiting_threads, "threads", gauge,
               "threads of the program that wait on the lane"),
    HEDDLE_ROW(lane_counters, events, "events", counter,
               "messages that the wires brought, and ends of operations that they told"),
    HEDDLE_ROW(lane_counters, eager, "messages", counter, "sent whole, at once"),
    HEDDLE_ROW(lane_counters, rendezvous, "messages", counter,
               "announced to their receiver, which fetches them: large ones, and small ones that "
               "have no credit left"),
    HEDDLE_ROW(lane_counters, emulated, "operations", counter,
               "puts, gets and atomics done by messages, because the wire cannot do them"),
    HEDDLE_ROW(lane_counters, stripes, "transfers", counter,
               "parts of large transfers, each over one of several rails"),
    HEDDLE_ROW(lane_counters, unexpected, "messages", counter,
               "came before their receive, and were kept: much of it costs copies and memory"),
    HEDDLE_ROW(lane_counters, backlogged, "times", counter,
               "a peer had no room for what was to go to it: it does not keep up"),
    HEDDLE_ROW(lane_counters, posts_together, "posts", counter,
               "posts to a wire of several operations at once"),
    HEDDLE_ROW(lane_counters, posted_together, "operations", counter, "that went by those posts"),
    HEDDLE_ROW(lane_counters, unknown_handlers, "messages", counter,
               "dropped: they name a handler that this rank has not set"),
    HEDDLE_ROW(lane_counters, lost_peers, "peers", counter, "lost, or gone in order"),
    HEDDLE_ROW(lane_counters, violations, "messages", counter,
               "that no honest engine sends: whoever sent one is lost"),
    HEDDLE_ROW(lane_counters, left, "operations", counter, "left for an executor or a helper"),
    HEDDLE_ROW(lane_counters, helped, "operations", counter,
               "executed by one of them for the program"),
    HEDDLE_ROW(lane_counters, rescues, "times", counter,
               "news found by a sleeper that nobody had woken in time: a wake was late or lost"),
};

constexpr std::array peer_rows{
    HEDDLE_ROW(peer_counters, sent_messages, "messages", counter,
               "of the program, sent whole: the lane's eager ones"),
    HEDDLE_ROW(peer_counters, sent_bytes, "bytes", counter, "of their data"),
    HEDDLE_ROW(peer_counters, received_messages, "messages", counter,
               "that came, the protocols' own among them"),
    HEDDLE_ROW(peer_counters, received_bytes, "bytes", counter,
               "of these, with the protocols' own words"),
    HEDDLE_ROW(peer_counters, accesses, "operations", counter,
               "puts, gets and atomics on its memory, but for those by plain stores and loads"),
    HEDDLE_ROW(peer_counters, accessed_bytes, "bytes", counter, "that these move"),
    HEDDLE_ROW(peer_counters, backlog, "operations", gauge, "that wait for room on the way to it"),
    HEDDLE_ROW(peer_counters, control, "messages", gauge,
               "of the protocols' own that wait for room"),
    HEDDLE_ROW(peer_counters, credit, "bytes", gauge,
               "it lets this rank send before it receives them; at 0 sends wait"),
    HEDDLE_ROW(peer_counters, credit_limit, "bytes", gauge,
               "of credit at most: HEDDLE_CREDIT_BYTES"),
    HEDDLE_ROW(peer_counters, held, "bytes", gauge,
               "of its messages that nobody has received here yet"),
    HEDDLE_ROW(peer_counters, lost, "peers", gauge, "1: it is lost"),
};
#undef HEDDLE_ROW

/// Every member has its row, in order.
template <class Counters, std::size_t N>
constexpr bool complete(const std::array<counter_row, N>& rows) {
  for (std::size_t i = 0; i < N; ++i)
    if (rows[i].offset != sizeof(Counters) - (N - i) * sizeof(std::uint64_t)) return false;
  return true;
}
static_assert(complete<lane_counters>(lane_rows) && lane_rows[0].offset == 16);
static_assert(complete<peer_counters>(peer_rows) && peer_rows[0].offset == 24);

}  // namespace

std::span<const counter_row> lane_counter_table() noexcept {
  return lane_rows;
}
std::span<const counter_row> peer_counter_table() noexcept {
  return peer_rows;
}

}  // namespace heddle
