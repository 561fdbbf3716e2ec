// ucx_memory.cpp - put, get and fetch-add on the other rank's table.
#include <atomic>

#include "parts/random_slots.h"
#include "peers/ucx_party.h"

namespace heddle::peers {
namespace {

/// The calls with everything filled in, and a place at the target for each.
class memory_exchange : public exchange {
 public:
  explicit memory_exchange(const ucx_seat& s)
      : own_(s),
        layout_(layout_for(s.what.what)),
        bytes_(static_cast<std::size_t>(s.what.what.bytes)),
        locals_(bytes_ * static_cast<std::size_t>(s.what.what.window)) {}

 protected:
  [[nodiscard]] const ucx_seat& seat() const { return own_.seat(); }
  [[nodiscard]] std::byte* local(std::size_t slot) { return locals_.data() + slot * bytes_; }
  [[nodiscard]] std::uint64_t place_of_thread() const {
    return static_cast<std::uint64_t>(seat().thread) * layout_.stride;
  }
  ucx_request put(std::size_t slot, std::uint64_t offset) {
    ucp_request_param_t params{};
    return ucp_put_nbx(seat().path.endpoint(), local(slot), bytes_, seat().there + offset,
                       seat().path.key(), &params);
  }
  ucx_request fetch_add(std::size_t slot, std::uint64_t offset) {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    params.datatype = ucp_dt_make_contig(sizeof one_);
    params.reply_buffer = local(slot);
    return ucp_atomic_op_nbx(seat().path.endpoint(), UCP_ATOMIC_OP_ADD, &one_, 1,
                             seat().there + offset, seat().path.key(), &params);
  }
  /// put, get or fetch-add, with the local buffer of `slot`.
  ucx_request start(std::size_t slot, std::uint64_t offset) {
    if (seat().what.what.op == operation::put) return put(slot, offset);
    if (seat().what.what.op == operation::fetch_add) return fetch_add(slot, offset);
    ucp_request_param_t params{};
    return ucp_get_nbx(seat().path.endpoint(), local(slot), bytes_, seat().there + offset,
                       seat().path.key(), &params);
  }
  void finish(ucx_request& request) { own_.finish(request, "put, get or fetch-add"); }

  ucx_thread own_;
  table_layout layout_;
  std::size_t bytes_;

 private:
  buffer locals_;  // one for each slot of the window
  const std::uint64_t one_ = 1;
};

/// The target takes no part, but makes UCX move.
class passive_target : public memory_exchange {
 public:
  using memory_exchange::memory_exchange;
  void conclude() final {
    ucx_request sent = own_.send(ucx_thread::finished, nullptr, 0);
    finish(sent);
  }
  void respond(std::uint64_t) final {
    ucx_request heard = own_.receive(ucx_thread::finished, nullptr, 0);
    finish(heard);
  }
};

class table_flood final : public passive_target {
 public:
  explicit table_flood(const ucx_seat& s)
      : passive_target(s), requests_(static_cast<std::size_t>(s.what.what.window), nullptr) {}
  void initiate(std::uint64_t count) override {
    bare::random_slots slots(layout_.part, static_cast<std::uint64_t>(seat().thread) + 1);
    const std::uint64_t first = layout_.part_of(seat().thread);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t slot = i % requests_.size();
      finish(requests_[slot]);
      requests_[slot] = start(slot, first + slots.next() * layout_.stride);
    }
    for (ucx_request& request : requests_) finish(request);
    own_.flush();
  }

 private:
  std::vector<ucx_request> requests_;
};

class round_trip final : public passive_target {
 public:
  using passive_target::passive_target;
  void initiate(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      ucx_request request = start(0, place_of_thread());
      finish(request);
    }
  }
};

/// A put whose last byte the partner polls, and back.
class put_ping final : public memory_exchange {
 public:
  explicit put_ping(const ucx_seat& s)
      : memory_exchange(s),
        here_(reinterpret_cast<unsigned char*>(s.here + place_of_thread()) + bytes_ - 1) {}
  void initiate(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      put_turn(++turn_);
      await(turn_);
    }
    finish(request_);
  }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      await(++turn_);
      put_turn(turn_);
    }
    finish(request_);
  }

 private:
  void put_turn(unsigned char turn) {
    finish(request_);
    local(0)[bytes_ - 1] = static_cast<std::byte>(turn);
    request_ = put(0, place_of_thread());
  }
  void await(unsigned char turn) {
    // Acquire pairs with however UCX publishes a put.
    while (std::atomic_ref(*here_).load(std::memory_order_acquire) != turn) own_.progress();
  }

  unsigned char* here_;
  unsigned char turn_ = 0;
  ucx_request request_ = nullptr;
};

}  // namespace

std::unique_ptr<exchange> make_memory_exchange(const ucx_seat& s) {
  if (s.what.what.what != kind::latency) return std::make_unique<table_flood>(s);
  if (s.what.what.op == operation::put) return std::make_unique<put_ping>(s);
  return std::make_unique<round_trip>(s);
}

}  // namespace heddle::peers
