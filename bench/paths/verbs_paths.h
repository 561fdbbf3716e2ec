// SPDX-License-Identifier: BSD-3-Clause
// verbs_paths.h - what heddle_paths does over verbs, done by libibverbs' own calls. 64 operations
// of a queue pair on its own process, and then all their completions; each with a doorbell of its
// own, or 16 by one (`verbs-list-...`).
#pragma once
#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "libraries/verbs_calls.h"

namespace heddle::paths::verbs {

inline constexpr int per_batch = 64, per_list = 16;
inline constexpr std::size_t bytes_there = 4096;

/// Two queue pairs connected to each other, as Heddle's stream and inlet. What they are made of
/// goes with the process.
class loop {
 public:
  loop() {
    bench::connect(card_, from_, bench::address_of(card_, to_));
    bench::connect(card_, to_, bench::address_of(card_, from_));
    for (std::uint64_t i = 0; i < per_batch; ++i) receive();
  }

  /// `count` of them, `per_list` at most, by one doorbell; the last one tells of the end.
  void post(ibv_wr_opcode opcode, std::size_t bytes, std::size_t count) {
    std::array<ibv_sge, per_list> parts;
    std::array<ibv_send_wr, per_list> works;
    for (std::size_t i = 0; i < count; ++i) {
      works.at(i) = request(opcode, bytes, parts.at(i));
      works.at(i).next = i + 1 < count ? &works.at(i + 1) : nullptr;
    }
    works.at(count - 1).send_flags |= IBV_SEND_SIGNALED;
    bench::post(from_, works.front());
  }
  void drain(int completions) {
    ibv_wc c;
    while (completions > 0) {
      const int n = ibv_poll_cq(cq_, 1, &c);
      if (n < 0 || (n == 1 && c.status != IBV_WC_SUCCESS))
        throw std::runtime_error("a request has failed");
      completions -= n;
    }
  }
  void receive() {
    ibv_sge part{address(), bytes_there, memory_->lkey};
    ibv_recv_wr w{};
    w.sg_list = &part;
    w.num_sge = 1;
    bench::post(srq_, w);
  }

 private:
  [[nodiscard]] std::uint64_t address() const {
    return reinterpret_cast<std::uint64_t>(memory_->addr);
  }
  [[nodiscard]] ibv_send_wr request(ibv_wr_opcode opcode, std::size_t bytes, ibv_sge& part) const {
    part = {address(), static_cast<std::uint32_t>(bytes), memory_->lkey};
    return bench::request_of(opcode, part, address() + bytes_there / 2, memory_->rkey);
  }

  alignas(4096) std::array<std::byte, bytes_there> data_{};
  const bench::verbs_card card_;
  ibv_mr* const memory_ = card_.know(data_);
  ibv_cq* const cq_ = card_.make_cq(4 * per_batch);
  ibv_srq* const srq_ = card_.make_srq(2 * per_batch);
  ibv_qp* const from_ = card_.make_qp(cq_, srq_, per_batch);
  ibv_qp* const to_ = card_.make_qp(cq_, srq_, per_batch);
};

inline std::function<void(long)> batches(ibv_wr_opcode opcode, std::size_t bytes,
                                         int by_one_doorbell) {
  return [=](long times) {
    loop l;
    for (long batch = 0; batch < times / per_batch; ++batch) {
      for (int i = 0; i < per_batch / by_one_doorbell; ++i)
        l.post(opcode, bytes, static_cast<std::size_t>(by_one_doorbell));
      l.drain(per_batch / by_one_doorbell);
    }
  };
}

/// As long as a call of 8 bytes with its head; the receiver's part as well.
inline void message(long times) {
  constexpr std::size_t bytes = 32;
  loop l;
  for (long batch = 0; batch < times / per_batch; ++batch) {
    for (int i = 0; i < per_batch / per_list; ++i) l.post(IBV_WR_SEND_WITH_IMM, bytes, per_list);
    l.drain(per_batch + per_batch / per_list);
    for (int i = 0; i < per_batch; ++i) l.receive();
  }
}

/// By name: `verbs-` and the path of Heddle's they stand beside. On the first port of the first
/// card, which talks to itself.
inline auto all() {
  return std::map<std::string, std::function<void(long)>>{
      {"verbs-put8", batches(IBV_WR_RDMA_WRITE, 8, 1)},
      {"verbs-put64", batches(IBV_WR_RDMA_WRITE, 64, 1)},
      {"verbs-get8", batches(IBV_WR_RDMA_READ, 8, 1)},
      {"verbs-add8", batches(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 1)},
      {"verbs-list-put8", batches(IBV_WR_RDMA_WRITE, 8, per_list)},
      {"verbs-list-get8", batches(IBV_WR_RDMA_READ, 8, per_list)},
      {"verbs-call", message}};
}

}  // namespace heddle::paths::verbs
