// SPDX-License-Identifier: BSD-3-Clause
// loopback_device.cpp - devices and endpoints that reach into each other under the hub's mutex.
#include "contract/loopback_device.h"

#include <heddle/detail/direct.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <set>
#include <utility>

#include "contract/loopback_hub.h"

namespace heddle::test {
namespace {

using memory::region_table;
using transport::event;
using transport::op;
using transport::op_kind;
using transport::post_result;

constexpr std::size_t most_outgoing = 64, most_inline = 64, largest_op = 4 << 20;
constexpr int most_lanes = 200;

using lane_name = loopback_hub::lane_name;

/// All there is to know of a peer's lane is its name.
struct far_lane final : transport::remote_lane {
  using remote_lane::remote_lane;
};
lane_name name_of_lane(const transport::remote_lane& of) {
  return {of.peer, of.lane};
}

rights right_for(op_kind kind) {
  if (kind == op_kind::put) return rights::write;
  return kind == op_kind::get ? rights::read : rights::atomic;
}

template <class T>
void apply(const op& o, std::byte* at) {
  const T old = detail::apply_atomic(o.atomic, *reinterpret_cast<T*>(at), static_cast<T>(o.operand),
                                     static_cast<T>(o.compare));
  if (!o.memory.empty()) std::memcpy(o.memory.data(), &old, sizeof old);
}

/// What the traits rule out, and the engine does not post.
bool too_much(const op& o) {
  return o.kind != op_kind::send && o.memory.size() > largest_op;
}

/// Does a put, get or atomic on memory of this process.
status execute(const op& o, memory::region_table& regions) {
  if (too_much(o)) return status::invalid;
  const std::size_t bytes = o.kind == op_kind::atomic ? o.width : o.memory.size();
  const auto there = regions.look_up(o.region, o.offset, bytes, right_for(o.kind));
  if (there.code() != status::done) return there.code();
  if (o.kind == op_kind::put && bytes != 0) std::memcpy(there.at(), o.memory.data(), bytes);
  if (o.kind == op_kind::get && bytes != 0) std::memcpy(o.memory.data(), there.at(), bytes);
  if (o.kind != op_kind::atomic) return status::done;
  if (reinterpret_cast<std::uintptr_t>(there.at()) % o.width != 0) return status::misaligned;
  o.width == 4 ? apply<std::uint32_t>(o, there.at()) : apply<std::uint64_t>(o, there.at());
  return status::done;
}

/// Every second op is carried out at the next poll, so that both ways to end are taken; but sends
/// and small puts, whose data post() is done with.
class loopback_endpoint final : public transport::endpoint, loopback_hub::poster {
 public:
  /// `served`: puts, gets and atomics wait for the peer.
  loopback_endpoint(std::shared_ptr<loopback_hub> hub, rank self, int size, int lane, bool served)
      : hub_(std::move(hub)), self_(self), size_(size), lane_(lane), served_(served) {
    const std::scoped_lock lock(hub_->mutex);
    hub_->posters.insert(this);
    box().has_endpoint = true;
    fd_ = box().bell.fd();
  }
  ~loopback_endpoint() override {
    const std::scoped_lock lock(hub_->mutex);
    hub_->posters.erase(this);
    box().receives.clear();
    box().has_endpoint = false;
  }

  transport::remote_lane* reach(rank peer, int lane) noexcept override {
    if (peer < 0 || peer >= size_ || lane < 0 || lane >= most_lanes) return nullptr;
    auto& known = reached_[{peer, lane}];
    if (known == nullptr) known = std::make_unique<far_lane>(peer, lane);
    return known.get();
  }

  using endpoint::post;
  post_result post(std::span<op* const> ops) noexcept override {
    const std::scoped_lock lock(hub_->mutex);
    starved_.clear();
    for (std::size_t n = 0; n < ops.size(); ++n) {
      op& o = *ops[n];
      if (gone(*o.to)) return {n, status::peer_lost};
      if (o.kind == op_kind::send) push_outgoing();  // a put before it is seen before it
      if (outgoing_.size() >= most_outgoing || full(o)) {
        turn_away(o);
        return {n, status::busy_queue};
      }
      o.over = is_over_at_once(o);
      if (const status s = o.over ? carry_out(o) : keep(o); s != status::done) return {n, s};
    }
    return {ops.size(), status::done};
  }

  std::size_t poll(std::span<event> out) noexcept override {
    const std::scoped_lock lock(hub_->mutex);
    box().bell.silence();
    lent_.clear();
    for (poster* each : hub_->posters) each->serve(self_);
    push_outgoing();
    report_dead();
    std::size_t n = 0;
    for (; n < out.size() && !events_.empty(); ++n, events_.pop_front()) out[n] = events_.front();
    for (; n < out.size() && !box().messages.empty(); ++n) out[n] = next_message();
    return n;
  }

  bool arm() noexcept override {
    const std::scoped_lock lock(hub_->mutex);
    for (rank r = 0; r < size_; ++r)
      if (hub_->member_of(r).dead && !lost_.contains({r, lane_})) return false;
    if (!events_.empty() || !box().messages.empty()) return false;
    if (std::erase_if(starved_, [&](lane_name peer) { return !full_at(peer); }) != 0) return false;
    return std::ranges::none_of(outgoing_, [&](const kept& k) { return may_go(*k.what); });
  }
  [[nodiscard]] int fd() const noexcept override { return fd_; }
  void maintain() noexcept override {}
  void drop(transport::remote_lane& of) noexcept override {
    const std::scoped_lock lock(hub_->mutex);
    lose(of);
  }
  [[nodiscard]] bool idle() const noexcept override { return outgoing_.empty(); }

 private:
  [[nodiscard]] lane_name me() const { return {self_, lane_}; }
  loopback_hub::mailbox& box() { return hub_->mailbox_of(me()); }
  bool gone(const transport::remote_lane& peer) {
    return lost_.contains(name_of_lane(peer)) || hub_->member_of(peer.peer).dead;
  }
  bool full_at(lane_name peer) {
    return hub_->mailbox_of(peer).from[me()] >= loopback_hub::most_messages;
  }
  bool full(const op& o) {
    return (o.kind == op_kind::send || o.tells) && full_at(name_of_lane(*o.to));
  }
  void turn_away(const op& o) {
    starved_.insert(name_of_lane(*o.to));
    hub_->mailbox_of(name_of_lane(*o.to)).waiting.insert(me());
  }

  bool is_over_at_once(const op& o) {
    ++posted_;
    if (o.kind == op_kind::send) return true;
    if (served_ || o.kind == op_kind::receive || o.kind == op_kind::deliver) return false;
    const bool copied = o.kind == op_kind::put && o.memory.size() <= most_inline;
    return copied || posted_ % 2 != 0;
  }

  /// In the op itself is noted which it was, to see that the engine leaves those notes alone.
  status keep(op& o) {
    if (too_much(o)) return status::invalid;
    o.make_notes<std::uint64_t>() = posted_;
    if (o.kind == op_kind::receive) return keep_receive(o);
    outgoing_.push_back({&o, posted_});
    if (served_) await_lane(*o.to);
    return status::done;
  }
  void await_lane(const transport::remote_lane& of) {
    loopback_hub::mailbox& there = hub_->mailbox_of(name_of_lane(of));
    there.is_awaited = true;
    there.bell.ring();
    if (!there.has_endpoint) hub_->member_of(of.peer).bell.ring();
  }
  status keep_receive(op& o) {
    const auto name = std::pair(name_of_lane(*o.to), o.operand);
    if (!box().receives.try_emplace(name, loopback_hub::posted_receive{&o, this}).second)
      return status::invalid;
    hub_->mailbox_of(name.first).bell.ring();  // it may wait with a delivery
    return status::done;
  }

  /// The other one of a delivery, if it has been posted.
  loopback_hub::posted_receive* receive_of(const op& delivery) {
    auto& all = hub_->mailbox_of(name_of_lane(*delivery.to)).receives;
    const auto found = all.find({me(), delivery.operand});
    return found != all.end() ? &found->second : nullptr;
  }
  status hand_over(const op& delivery) {
    const loopback_hub::posted_receive to = *receive_of(delivery);
    hub_->mailbox_of(name_of_lane(*delivery.to)).receives.erase({me(), delivery.operand});
    const bool alike = to.what->memory.size() == delivery.memory.size();
    if (alike) std::memcpy(to.what->memory.data(), delivery.memory.data(), delivery.memory.size());
    const status code = alike ? status::done : status::invalid;
    to.by->received(*to.what, code);
    return code;
  }
  void received(op& what, status code) override {
    events_.push_back({event::kind_t::ended, code, what.to, &what, {}});
    box().bell.ring();
  }

  /// By this rank alone.
  bool may_go(const op& o) {
    if (gone(*o.to)) return true;
    return o.kind == op_kind::deliver ? receive_of(o) != nullptr : !served_;
  }
  void serve(rank at) override {
    if (!served_) return;
    const std::size_t before = events_.size();
    push([&](const op& o) { return o.to->peer == at && o.kind != op_kind::deliver; });
    if (events_.size() != before && at != self_) box().bell.ring();
  }

  status carry_out(const op& o) {
    if (o.kind == op_kind::deliver) return hand_over(o);
    if (o.kind != op_kind::send) {
      const status s = execute(o, *hub_->member_of(o.to->peer).regions);
      if (s == status::done && o.tells) deliver(o, {});
      return s;
    }
    deliver(o, o.memory);
    return status::done;
  }

  void deliver(const op& o, std::span<const std::byte> data) {
    loopback_hub::mailbox& to = hub_->mailbox_of(name_of_lane(*o.to));
    const auto head = std::as_bytes(std::span(&o.head, 1));
    std::vector<std::byte> bytes(head.begin(), head.end());
    bytes.insert(bytes.end(), o.header.begin(), o.header.end());
    bytes.insert(bytes.end(), data.begin(), data.end());
    to.messages.push_back({me(), std::move(bytes)});
    ++to.from[me()];
    to.bell.ring();
    if (!to.has_endpoint) hub_->member_of(o.to->peer).bell.ring();
  }

  void push_outgoing() {
    push([&](const op& o) { return may_go(o); });
  }
  /// Carries out those that `goes` names, in order.
  template <class Goes>
  void push(Goes goes) {
    std::erase_if(outgoing_, [&](const kept& k) {
      if (!goes(*k.what)) return false;
      status code = gone(*k.what->to) ? status::peer_lost : carry_out(*k.what);
      if (k.what->notes<std::uint64_t>() != k.number) code = status::invalid;
      events_.push_back({event::kind_t::ended, code, k.what->to, k.what, {}});
      return true;
    });
  }

  /// A peer is lost once what it sent before its end has been taken.
  void report_dead() {
    for (rank r = 0; r < size_; ++r)
      if (hub_->member_of(r).dead) (void)reach(r, lane_);
    for (const auto& [name, peer] : reached_) {
      if (!hub_->member_of(name.first).dead || lost_.contains(name) || box().from[name] != 0)
        continue;
      lose(*peer);
      events_.push_back({event::kind_t::peer_lost, status::peer_lost, peer.get(), nullptr, {}});
    }
  }

  void lose(transport::remote_lane& peer) {
    const lane_name name = name_of_lane(peer);
    lost_.insert(name);
    const auto end = [&](op* what) {
      if (what->to != &peer) return false;
      events_.push_back({event::kind_t::ended, status::peer_lost, &peer, what, {}});
      return true;
    };
    std::erase_if(outgoing_, [&](const kept& k) { return end(k.what); });
    std::erase_if(box().receives, [&](const auto& r) { return end(r.second.what); });
    std::erase_if(box().messages, [&](const auto& m) { return m.from == name; });
    box().from.erase(name);
  }

  event next_message() {
    loopback_hub::message& first = box().messages.front();
    const lane_name from = first.from;
    lent_.push_back(std::move(first.bytes));
    box().messages.pop_front();
    --box().from[from];
    if (box().waiting.erase(from) != 0) hub_->mailbox_of(from).bell.ring();
    return {event::kind_t::arrived, status::done, reach(from.first, from.second), nullptr,
            lent_.back()};
  }

  const std::shared_ptr<loopback_hub> hub_;
  const rank self_;
  const int size_;
  const int lane_;
  const bool served_;
  int fd_ = -1;
  struct kept {
    op* what;
    std::uint64_t number;
  };
  std::deque<kept> outgoing_;
  std::uint64_t posted_ = 0;
  std::deque<event> events_;
  std::vector<std::vector<std::byte>> lent_;  // bytes of reported messages, until the next poll
  std::map<lane_name, std::unique_ptr<far_lane>> reached_;
  std::set<lane_name> lost_;
  std::set<lane_name> starved_;  // those without room when last posted to
};

transport::op_set set_of(std::initializer_list<op_kind> kinds) {
  transport::op_set all = 0;
  for (const op_kind each : kinds) all = static_cast<transport::op_set>(all | only(each));
  return all;
}

/// What all of them are.
transport::traits common_traits() {
  transport::traits t;
  t.native = set_of({op_kind::send, op_kind::put, op_kind::get, op_kind::atomic});
  t.max_message = 16 * 1024;
  t.max_op = largest_op;
  t.depth = most_outgoing;
  t.lanes = most_lanes;
  return t;
}

class loopback_device final : public transport::device {
 public:
  loopback_device(const transport::context& where, const transport::traits& can)
      : hub_(loopback_hub::of(where.job_secret)),
        self_(where.self),
        size_(where.size),
        traits_(can) {
    const std::scoped_lock lock(hub_->mutex);
    hub_->member_of(self_).regions = where.regions;
    fd_ = hub_->member_of(self_).bell.fd();
  }
  ~loopback_device() override {
    const std::scoped_lock lock(hub_->mutex);
    hub_->bury(self_);
  }

  [[nodiscard]] const transport::traits& describe() const noexcept override { return traits_; }
  [[nodiscard]] std::vector<std::byte> address() const override { return {std::byte{42}}; }
  std::string add_peer(rank peer, std::span<const std::byte> address, bool) override {
    if (peer < 0 || peer >= size_) return "no such rank";
    const bool good = address.size() == 1 && address[0] == std::byte{42};
    return good ? "" : "not a loopback address";
  }
  std::unique_ptr<transport::endpoint> make_endpoint(int lane) override {
    if (static_cast<std::size_t>(lane) >= traits_.lanes) throw error("loopback: no such lane");
    return std::make_unique<loopback_endpoint>(hub_, self_, size_, lane, traits_.target_polls);
  }
  void expose(const memory::local_region&) noexcept override {}
  void withdraw(const memory::local_region&) noexcept override {}
  std::shared_ptr<void> import(rank, memory::region_ref, detail::remote_target&) override {
    return nullptr;
  }
  [[nodiscard]] int fd() const noexcept override { return fd_; }
  int serve() noexcept override {
    const std::scoped_lock lock(hub_->mutex);
    hub_->member_of(self_).bell.silence();
    return hub_->lane_in_want(self_);
  }

 private:
  const std::shared_ptr<loopback_hub> hub_;
  const rank self_;
  const int size_;
  int fd_ = -1;
  const transport::traits traits_;
};

}  // namespace

std::unique_ptr<transport::device> open_loopback(const transport::context& where) {
  transport::traits can = common_traits();
  can.atomics = transport::atomic_set::none().with(atomic_op::add, 4);
  for (const atomic_op one : {atomic_op::add, atomic_op::swap, atomic_op::compare_swap})
    can.atomics = can.atomics.with(one, 8);
  can.put_tells = true;
  can.max_inline = most_inline;
  return std::make_unique<loopback_device>(where, can);
}

std::unique_ptr<transport::device> open_served_loopback(const transport::context& where) {
  transport::traits can = common_traits();
  can.target_polls = can.put_after_put = true;
  can.send_after_put = false;
  can.cpu_atomics = false;
  can.atomics = transport::atomic_set::common();
  return std::make_unique<loopback_device>(where, can);
}

std::unique_ptr<transport::device> open_receiving_loopback(const transport::context& where) {
  transport::traits can = common_traits();
  can.native = set_of({op_kind::send, op_kind::receive, op_kind::deliver});
  return std::make_unique<loopback_device>(where, can);
}

}  // namespace heddle::test
