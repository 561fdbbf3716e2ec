// endpoint.h - one lane over Tofu: a VCQ, the messages and operations on it, and how peers' lanes
// meet it.
//
//   endpoint.cpp          links, ends of peers, sleep      endpoint_connect.cpp  doors and grants
//   endpoint_post.cpp     posting, alone and in batches    endpoint_access.cpp   puts, gets,
//   atomics endpoint_poll.cpp     notices                          endpoint_regions.cpp  peers'
//   regions
#pragma once
#include <array>
#include <deque>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "backends/utofu/descriptor.h"
#include "backends/utofu/device.h"
#include "backends/utofu/flight.h"
#include "backends/utofu/link.h"
#include "backends/utofu/slab.h"
#include "backends/utofu/staging.h"
#include "base/fd.h"
#include "transport/device.h"

namespace heddle::transport::utofu {

/// Header and payload of one message: sixteen lines with ours.
inline constexpr std::size_t max_message_lines = 16;
inline constexpr std::size_t max_message = max_message_lines * line_bytes - sizeof(message_header);
/// Posted together at most, and what one descriptor takes at most.
inline constexpr std::size_t max_batch = 32;
inline constexpr std::size_t max_descriptor = 64;

class utofu_endpoint final : public endpoint {
 public:
  /// Throws error: no memory, or it cannot be registered.
  utofu_endpoint(utofu_device& owner, int lane);
  ~utofu_endpoint() override;

  post_result post(std::span<op* const> ops) noexcept override;
  std::size_t poll(std::span<event> out) noexcept override;
  bool arm() noexcept override;
  [[nodiscard]] int fd() const noexcept override { return timer_.get(); }
  void maintain() noexcept override;
  void drop(rank peer) noexcept override;
  /// Puts and gets have their own ends; messages have left when their descriptors have.
  [[nodiscard]] bool idle() const noexcept override { return sent_.empty(); }

 private:
  /// What became of planning an op.
  enum class planned : std::uint8_t {
    post,     ///< the plan is to be posted
    taken,    ///< the op is over, or under way already
    refused,  ///< plan::refusal says why
    busy,     ///< not now
    lost,     ///< the peer is
    alone,    ///< not together with others
  };
  /// A descriptor, and what is to be undone when the queue is full.
  struct plan {
    descriptor d;
    link* with = nullptr;
    flight_queue* queue = nullptr;  ///< none: a message
    flight* tracked = nullptr;
    std::uint32_t slots = 0;        ///< message: of the peer's ring
    std::uint64_t told_before = 0;  ///< message: link::told
    status refusal = status::done;
    std::array<std::byte, max_piggyback> inline_data;
  };
  struct batch;

  // endpoint.cpp
  link* find_link(rank peer) noexcept { return peer == last_rank_ ? last_ : look_up_link(peer); }
  link* look_up_link(rank peer) noexcept;
  link* make_link(rank peer) noexcept;
  stream* stream_to(link& l, std::size_t lane);
  void lose(link& l) noexcept;
  void end_flights(link& l) noexcept;
  void probe(link& l) noexcept;

  // endpoint_post.cpp
  [[nodiscard]] bool put_at_once(op& what) noexcept;
  std::size_t post_alone(op& what, status& reason) noexcept;
  [[nodiscard]] static status reason_of(planned made, const plan& p) noexcept;
  std::size_t post_together(std::span<op* const> ops, status& reason) noexcept;
  std::size_t plan_list(std::span<op* const> ops, status& reason) noexcept;
  [[nodiscard]] int post_list() noexcept;
  planned make_plan(op& what, plan& p, bool alone) noexcept;
  planned plan_message(link& l, op& what, plan& p);
  [[nodiscard]] bool mark_wrap(link& l, std::uint64_t at) noexcept;
  [[nodiscard]] bool room_for(link& l, std::uint32_t slots) noexcept;
  void enter(plan& p, stream& to, const flight_queue::entry& e);
  void enter_plain(plan& p, stream& to, op& what);
  void on_failed_post(void* cookie, int code) noexcept;
  [[nodiscard]] flight& track(plan& p, stream& to);
  [[nodiscard]] int hand_over(const plan& p) noexcept;
  void undo(const plan& p) noexcept;
  void drain_tcq() noexcept;
  [[nodiscard]] bool post_own(stream& to, flight::purpose what, link& l, descriptor d) noexcept;
  [[nodiscard]] bool post_untracked(const descriptor& d) noexcept;
  [[nodiscard]] std::size_t in_window() const noexcept {
    return flights_.in_use() + plain_ + unreturned_;
  }
  [[nodiscard]] bool window_full() noexcept {
    if (in_window() < window_) [[likely]]
      return false;
    for (link* l : known_) read_credits(*l);
    return in_window() >= window_;
  }
  void read_credits(link& l) noexcept;

  // endpoint_access.cpp
  planned plan_access(link& l, op& what, plan& p, bool alone);
  planned plan_put(target& t, op& what, plan& p, bool alone);
  planned plan_get(target& t, op& what, plan& p, bool alone);
  planned plan_atomic(link& l, target& t, op& what, plan& p);
  planned plan_direct(target& t, op& what, plan& p, bool alone);
  planned plan_staged(target& t, op& what, plan& p);
  planned begin_large(target& t, op& what, memory::registration_cache::lease held, const plan& p);
  flight& track_access(plan& p, stream& to, op& what);
  void move_large() noexcept;
  [[nodiscard]] bool post_piece(large_transfer& t) noexcept;
  void end_large(large_transfer& t) noexcept;
  void piece_ended(const flight& f, status code) noexcept;

  // endpoint_regions.cpp
  planned resolve(link& l, const op& what, plan& p, target*& found);
  void compute(link& l, target& t);
  planned fetch(link& l, target& t);
  void on_entry(link& l) noexcept;
  [[nodiscard]] std::pair<stream*, utofu_stadd_t> atomic_way(link& l, target& t,
                                                             std::uint64_t offset);

  // endpoint_poll.cpp
  /// Events come out in order; those for which the caller has no room come out first the next time.
  void emit(event::kind_t kind, status code, const link& l, op* of = nullptr,
            std::span<const std::byte> bytes = {}) noexcept {
    event& e = count_ < out_.size() ? out_[count_++] : later_.emplace_back();
    e.kind = kind;
    e.code = code;
    e.peer = l.number();
    e.of = of;
    e.bytes = bytes;
  }
  void conclude(link& l, op& what, status how) noexcept;
  [[nodiscard]] static planned refuse(plan& p, status why) noexcept {
    p.refusal = why;
    return planned::refused;
  }
  void ask_in_doubt(link& l) noexcept;
  void settle_doubts(link& l, std::size_t count, status how) noexcept;
  void do_chores() noexcept;
  void on_notice(int code, const utofu_mrq_notice& n) noexcept;
  void on_message(link& l, bool wrapped) noexcept;
  void look_for_messages(link& l) noexcept;
  void on_end(link& l, const flight_queue::entry& e, int code, std::uint64_t value) noexcept;
  void on_end(flight& f, int code, std::uint64_t value) noexcept;
  void end_unanswered(link& l, const flight_queue::entry& e) noexcept;
  void settle(flight& f, status how, std::uint64_t value) noexcept;
  [[nodiscard]] status outcome_of(link& l, int code) noexcept;
  void on_own_end(const flight& f, status code, std::uint64_t value) noexcept;
  void release_taken() noexcept;
  void tell_credits(link& l) noexcept;
  void tell_rest() noexcept;
  [[nodiscard]] stream* find_stream(utofu_vcq_id_t id) noexcept;
  void on_dead_queue() noexcept;

  // endpoint_connect.cpp
  [[nodiscard]] bool prepare_line(link& l) noexcept;
  [[nodiscard]] bool prepare_ring(link& l) noexcept;
  void connect(link& l) noexcept;
  void draw_ticket(link& l) noexcept;
  void on_ticket(link& l, std::uint64_t number) noexcept;
  void ask_for_places(link& l) noexcept;
  void on_places(link& l) noexcept;
  void ask(link& l) noexcept;
  void move_connections() noexcept;
  void read_door() noexcept;
  void admit(const grant& g) noexcept;
  void use_grant(link& l, const grant& g) noexcept;
  void send_answer(link& l) noexcept;
  [[nodiscard]] grant our_grant(const link& l) const noexcept;
  [[nodiscard]] bool is_granted(const link& l, const grant& g) const noexcept;

  // Constant after construction.
  utofu_device& device_;
  const int lane_;
  const vcq& vcq_;
  home& home_;
  const std::size_t stage_bytes_;  // longer ones are registered
  const std::size_t window_;       // own operations whose notice may still come
  const std::uint32_t inbound_;    // slots that peers may be granted together
  memory::registration_cache& cache_;
  unique_fd timer_;

  // The lane's thread only.
  slab slab_;
  staging sent_;    // messages on their way out; each holds a ticket, given back in order
  staging staged_;  // data of puts and gets
  memory::registration_cache::hint last_lease_;
  flight_pool flights_;
  std::size_t plain_ = 0;       // accesses without a flight
  std::size_t unreturned_ = 0;  // slots of peers' rings in use by us
  std::uint32_t granted_ = 0;   // slots of our rings
  rank last_rank_ = -1;
  link* last_ = nullptr;
  std::unordered_map<rank, std::unique_ptr<link>> links_;
  stream_map streams_;
  utofu_vcq_id_t last_id_ = 0;
  stream* last_stream_ = nullptr;
  std::vector<link*> connecting_, taken_, owing_, untold_, quiet_;
  std::list<large_transfer> large_;
  std::size_t next_probe_ = 0;
  std::vector<link*> known_;  // all, for probes
  std::uint64_t door_next_ = 0, door_waits_since_ns_ = 0;
  std::uint64_t last_event_ns_ = 0;
  bool chores_ = false;    // something in connecting_, owing_, large_
  bool eventful_ = false;  // since the last arm()
  bool dead_ = false;
  unsigned polls_ = 0;
  std::size_t batch_limit_;
  std::unique_ptr<batch> batch_;
  std::span<event> out_;  // of the poll under way
  std::size_t count_ = 0;
  std::deque<event> later_;  // events for which out_ had no room
};

}  // namespace heddle::transport::utofu
