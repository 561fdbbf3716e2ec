// port.h - everything a lane does, by one thread at a time: the protocols over the backends.
//
// The class is one, its concerns are files:
//   port.cpp         links, records, backlog        port_message.cpp  tagged messages and calls
//   port_event.cpp   what arrives, and progress     port_rendezvous.cpp  large messages
//   port_rma.cpp     put, get, atomics              port_emulate.cpp  the same by messages
//   port_peer.cpp    liveness, loss, the end        port_batch.cpp    many operations in one post
//   port_report.cpp  what waits, for people         port_pieces.cpp   large copies, a piece a turn
#pragma once
#include <heddle/status.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "protocols/command.h"
#include "protocols/delivery.h"
#include "protocols/link.h"
#include "protocols/matcher.h"
#include "protocols/message.h"
#include "protocols/port_report.h"
#include "protocols/record.h"
#include "protocols/wire_batch.h"
#include "sync/counters.h"
#include "sync/published.h"
#include "transport/device.h"

namespace heddle::protocols {

class lost_peers;

/// In surroundings::atomic_route: atomics on the peer are a network's own, and the lane has no way
/// there.
inline constexpr std::uint8_t no_route = UINT8_MAX;

/// What a port knows of its world. Constant while the port lives.
struct surroundings {
  int lane = 0;  ///< its number
  rank self = 0;
  int size = 1;
  const settings* config = nullptr;
  memory::region_table* regions = nullptr;
  lost_peers* losses = nullptr;
  std::span<transport::device* const> devices;
  std::span<const std::uint8_t> route;         ///< by rank: index into devices
  std::span<const std::uint8_t> atomic_route;  ///< the same, for atomics, or no_route
  std::span<const sync::published<const handler_entry*>> handlers;  ///< by id; null: none
};

/// Counted for people; see docs/guide/counters.
struct port_counters {
  sync::owned_counter polls, events, eager, rendezvous, emulated, unexpected, backlogged;
  sync::owned_counter posts_together, posted_together;  ///< posts of several ops, and how many
  sync::owned_counter unknown_handler, lost_peers, violations;
};

/// Threads: the holder of the lane. Nothing here blocks or calls the program; what has ended goes
/// into the batch given.
class port {
 public:
  port(engine::lane_core& lane, const surroundings& where,
       std::vector<std::unique_ptr<transport::endpoint>> endpoints);
  ~port();

  /// Starts an operation: done, posted, or why not (never busy_queue: that is the lane's).
  status execute(const command& c, delivery_batch& out) {
    out_ = &out;
    return c.kind <= command_kind::atomic ? access(c) : execute_other(c);
  }
  /// The short way of a message that can leave at once: true, and it has. False: nothing has
  /// happened, and execute() finds out why. `cost`: what it takes of the peer's credit.
  bool send_now(rank to, transport::message_head head, std::span<const std::byte> header,
                std::span<const std::byte> data, std::uint64_t cost) noexcept {
    if (static_cast<unsigned>(to) >= static_cast<unsigned>(where_.size)) [[unlikely]]
      return false;
    link* const l = links_[static_cast<std::size_t>(to)].get();
    if (l == nullptr || !l->is_free() || data.size() > l->eager_bytes || cost > l->credit ||
        l->wire->send(to, head, header, data) != status::done) [[unlikely]]
      return false;
    l->credit -= cost;
    counters_.eager.add();
    return true;
  }
  /// What a tagged message of so many bytes takes of its receiver's memory while it is unexpected:
  /// both sides count with it.
  [[nodiscard]] static constexpr std::uint64_t cost_of(std::size_t bytes) noexcept {
    return bytes + message_cost;
  }
  /// Never `done`: source, tag and length travel in the completion's outcome.
  status receive(rank source, tag_match match, std::span<std::byte> into, const completion& done,
                 delivery_batch& out);
  /// Between these, what execute_accepted() has for the wire is kept back and posted together.
  void begin_batch();
  void end_batch(delivery_batch& out);
  /// The same for a command already accepted: takes it even when there are enough records, and
  /// delivers its completion in every case.
  void execute_accepted(const command& c, delivery_batch& out);
  /// Handles what has come and goes on with what waits. Returns how many events there were.
  std::size_t progress(delivery_batch& out);
  status probe(rank source, tag_match match, outcome& found) noexcept;
  status cancel(const completion& which, delivery_batch& out);

  /// See endpoint::arm. True: every endpoint is armed.
  [[nodiscard]] bool arm() noexcept;
  [[nodiscard]] std::span<const std::unique_ptr<transport::endpoint>> endpoints() const noexcept {
    return endpoints_;
  }
  /// Something accepted still waits for a progress() to leave.
  [[nodiscard]] bool unsent() const noexcept;
  /// Operations that need a peer's answer are in flight.
  [[nodiscard]] bool waiting() const noexcept { return in_flight_.get() != 0; }
  /// Nothing of ours is under way, except receives.
  [[nodiscard]] bool quiet() const noexcept;

  /// What waits, for people. Slow: looks at all there is.
  [[nodiscard]] port_report report(std::uint64_t now_ns);
  /// Looks for dead peers; every now and then while waiting().
  void maintain(std::uint64_t now_ns, delivery_batch& out);
  /// Ends every operation with `code`.
  void abort(status code, delivery_batch& out);
  /// After abort(): lets the endpoints go, and is used no more.
  void close() noexcept;

  /// A hint for other threads: operations in flight.
  [[nodiscard]] std::size_t in_flight_hint() const noexcept { return in_flight_.get(); }
  /// The same, in bytes of data on the way; receives without a message do not count.
  [[nodiscard]] std::uint64_t bytes_hint() const noexcept { return bytes_.get(); }
  [[nodiscard]] const port_counters& counters() const noexcept { return counters_; }

 private:
  /// What an unexpected message costs its receiver beside its bytes: a number of the protocol, not
  /// of this program's memory. docs/guide/concepts.md tells it.
  static constexpr std::uint64_t message_cost = 184;
  static_assert(sizeof(unexpected) < 2 * message_cost);

  // port.cpp
  status execute_other(const command& c);
  [[nodiscard]] bool valid(rank r) const noexcept { return r >= 0 && r < where_.size; }
  link& link_to(rank peer) {
    const auto& known = links_[static_cast<std::size_t>(peer)];
    return known ? *known : make_link(peer);
  }
  link& make_link(rank peer);
  record& begin(link* l, const command& c);
  void finish(record& r, outcome what);
  void finish(record& r, status code);
  void release(record& r);
  void count_down(link& l);
  [[nodiscard]] bool full() const noexcept {
    return in_flight_.get() >= most_in_flight_ && !must_take_;
  }
  // Each: done, busy_queue (no room now; nothing changed), or why it can never be sent.
  status post_message(link& l, const message& m, std::span<const std::byte> payload);
  status post_eager(link& l, const command& c);
  status post(link& l, const prefix& p, std::span<const std::byte> payload);
  status post_control(link& l, const message& m);
  [[nodiscard]] static prefix eager_prefix(const command& c) noexcept;
  static void describe_message(const link& l, const prefix& p, std::span<const std::byte> payload,
                               transport::op& o) noexcept;
  /// As transport::endpoint::post. A peer that the wire knows to be gone counts as full: the event
  /// which says so, and why, comes first of all that ends.
  [[nodiscard]] static status post_one(transport::endpoint& on, transport::op& o) noexcept {
    const status s = on.post(o);
    return s == status::peer_lost ? status::busy_queue : s;
  }
  void send_control(link& l, const message& m);
  void block(link& l);
  void enqueue(link& l, record& r);
  status start_or_queue(link& l, record& r);
  status start(link& l, record& r);
  void end(record& r, status code);
  bool flush_link(link& l);
  void flush_blocked();
  status wait_for_flush(const command& c);
  void wake_flushes(queue_list& waiting, status code);
  void wake_room_waiters();

  // port_batch.cpp
  void batch_message(link& l, const command& c);
  void batch_access(link& l, record& r);
  void add_to_batch(transport::op& o);
  void post_batch();
  [[nodiscard]] std::size_t end_of_run(std::size_t from, std::size_t size) const noexcept;
  void was_posted(std::size_t i, status code);
  void keep_back(const wire_batch::entry& e);

  // port_message.cpp
  status send(const command& c);
  status call(const command& c);
  status send_or_queue(const command& c);
  [[nodiscard]] static std::uint64_t credit_of(const command& c) noexcept;
  status start_message(link& l, record& r);
  void take_unexpected(std::span<std::byte> into, const completion& done, unexpected& found);
  /// What it returns stays as it is until another receive is posted.
  posted_receive& take_receive(posted_receive& found) noexcept {
    in_flight_.subtract();
    return matcher_.take(found);
  }
  void end_receive(posted_receive& r, status code);
  void on_tag_eager(link& l, tag t, std::span<const std::byte> payload);
  void on_call_eager(link& l, handler_id h, std::span<const std::byte> body,
                     std::size_t header_bytes);
  void keep_unexpected(link& l, tag t, std::span<const std::byte> payload);
  /// Gives credit back in portions: one message for many.
  void repay(link& l, std::uint64_t cost) {
    l.owed += cost;
    if (l.owed >= l.credit_limit / 4 && !l.lost) [[unlikely]]
      give_credit(l);
  }
  void give_credit(link& l);

  // port_rendezvous.cpp
  status start_request(link& l, record& r);
  void lend(link& l, record& r, message& request);
  void on_tag_request(link& l, const message& m);
  void on_call_request(link& l, const message& m);
  void begin_fetch(link& l, record& r, const rendezvous& remote);
  void begin_receive_fetch(link& l, std::span<std::byte> into, const completion& done, tag t,
                           const rendezvous& remote);
  void begin_call_fetch(record& r);
  void start_deferred_calls();
  void start_calls_that_fit();
  [[nodiscard]] std::span<std::byte> fetch_into(const record& r) const noexcept;
  bool copy_mapped(link& l, record& r, std::uint64_t bytes);
  void describe_fetch(record& r) const noexcept;
  const detail::remote_target* map(link& l, memory::region_ref ref);
  status start_fetch(link& l, record& r);
  void fetched(record& r, status code);
  void on_finished(link& l, const message& m);

  // port_rma.cpp
  status access(const command& c);
  status access_here(const command& c);
  [[nodiscard]] bool goes_straight(const link& l, const command& c) const noexcept;
  status post_straight(link& l, const command& c);
  void end_access(native_access& a, status code);
  status start_access(link& l, record& r);
  static void describe_transfer(record& r) noexcept;
  void notify(link& l, const command& c);

  // port_emulate.cpp
  status pump(link& l, record& r);
  void emulate(link& l, record& r);
  status post_fragment(link& l, record& r);
  status post_atomic(link& l, record& r);
  [[nodiscard]] std::uint64_t fragmented_bytes(const record& r) const noexcept;
  void on_rma_put(link& l, const message& m);
  status answer_get(link& l, const message& m);
  void on_rma_atomic(link& l, const message& m);
  void on_reply(link& l, const message& m);
  void on_value(record& r, const message& m, status code);
  void on_fragment(link& l, record& r, const message& m, status code);

  // port_pieces.cpp
  [[nodiscard]] static bool needs_pieces(std::uint64_t bytes) noexcept;
  status start_pieces(link& l, record& r);
  void await_turn(record& r);
  std::size_t move_next_piece();
  status move_piece(link& l, record& r);
  void end_piece(record& r, status code);

  // port_event.cpp
  void on_event(const transport::event& e);
  void on_ended(const transport::event& e);
  void on_news(const transport::event& e);
  void on_arrived(link& l, std::span<const std::byte> bytes);
  [[gnu::noinline]] void on_rare(link& l, std::span<const std::byte> bytes);
  void on_message(link& l, const message& m);
  std::size_t look_at(transport::endpoint& e);
  std::size_t look_at_those_due();
  bool due(std::size_t endpoint) noexcept;
  [[gnu::noinline]] void take_events(std::size_t n);
  [[gnu::noinline]] std::size_t go_on();

  // port_report.cpp
  template <class F>
  void each_operation(F&& f);
  void stamp(std::uint64_t now_ns);

  // port_peer.cpp
  void lose(link& l, std::string why);
  void end_receives(rank source, status code);
  void violated(link& l);
  void unreachable(link& l, status refusal);
  void maintain_link(link& l, std::uint64_t now_ns);

  // Constant after construction.
  engine::lane_core& lane_;
  const surroundings where_;
  const std::size_t most_in_flight_;
  std::vector<std::unique_ptr<transport::endpoint>> endpoints_;  // by device
  transport::endpoint* only_;  // of these; null: there are several, or none any more

  // Holder only.
  delivery_batch* out_ = nullptr;             // set for the length of a call
  std::vector<std::unique_ptr<link>> links_;  // by rank; null: never had to do with it
  std::vector<link*> active_;                 // the non-null ones
  std::vector<link*> blocked_;
  record_pool records_;
  slab_pool<native_access> accesses_;
  matcher matcher_;
  queue_list flushes_;            // flush commands for everybody
  queue_list deferred_calls_;     // large calls waiting for memory
  turns_list in_pieces_;          // transfers that this process copies, by turns
  std::uint64_t call_bytes_ = 0;  // of large calls being fetched
  bool starting_calls_ = false;
  std::uint64_t counted_ = 0;  // puts, gets, atomics in flight
  std::vector<completion> room_waiters_;
  std::array<transport::event, 32> events_;  // of the poll under way
  std::vector<std::uint32_t> empty_polls_;   // per endpoint, in a row
  std::uint32_t poll_number_ = 0;
  bool must_take_ = false;
  bool batching_ = false;
  std::unique_ptr<wire_batch> batch_;

  // Written by the holder, read by anyone.
  sync::owned_counter in_flight_, bytes_;
  port_counters counters_;
};

}  // namespace heddle::protocols
