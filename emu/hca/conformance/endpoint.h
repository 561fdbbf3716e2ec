// SPDX-License-Identifier: BSD-3-Clause
// endpoint.h - an open device with a queue pair, a completion queue and registered memory: what
// most tests begin with.
#pragma once
#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "side.h"

namespace conformance {

/// How a queue pair is made and connected. The defaults are those of most tests.
struct plan {
  ibv_qp_type type = IBV_QPT_RC;
  std::uint32_t depth = 64;
  std::uint32_t cq_depth = 256;
  std::uint32_t sges = 2;
  std::uint32_t inlined = 32;
  unsigned qp_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                       IBV_ACCESS_REMOTE_ATOMIC;
  int mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                  IBV_ACCESS_REMOTE_ATOMIC;
  std::uint8_t rnr_retry = 7;
  std::uint8_t timeout = 14;
  bool srq = false;
  bool events = false;  ///< the CQ has a completion channel
  bool init = true;     ///< the queue pair goes to INIT at once
};

/// What one side tells the other.
struct card {
  std::uint32_t qpn;
  std::uint16_t lid;
  union ibv_gid gid;
  std::uint64_t address;
  std::uint32_t rkey;
};

constexpr std::size_t buffer_bytes = 65536;
constexpr std::uint32_t qkey = 0x1111'1111;

/// One thread. What cannot be made ends the test.
class endpoint {
 public:
  endpoint(side& me, const plan& how = {});
  ~endpoint();
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  /// Swaps cards and goes to RTS, from INIT or RESET. Both sides have to call it.
  void connect();
  /// 0 or an errno: the single steps of it.
  int to_init();
  int to_rtr(const card& peer);
  int to_rts();
  [[nodiscard]] card mine() const;
  [[nodiscard]] const card& peer() const { return peer_; }
  [[nodiscard]] ibv_ah_attr route_to(const card& peer) const;
  [[nodiscard]] ibv_qp_state state() const;

  [[nodiscard]] ibv_context* device() const { return context_; }
  [[nodiscard]] ibv_pd* pd() const { return pd_; }
  [[nodiscard]] ibv_cq* cq() const { return cq_; }
  [[nodiscard]] ibv_comp_channel* channel() const { return channel_; }
  [[nodiscard]] ibv_qp* qp() const { return qp_; }
  [[nodiscard]] ibv_srq* srq() const { return srq_; }
  [[nodiscard]] ibv_mr* mr() const { return mr_; }
  [[nodiscard]] std::byte* data() { return memory_.data(); }
  [[nodiscard]] std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(data()); }
  /// A piece of the memory.
  [[nodiscard]] ibv_sge piece(std::size_t at, std::size_t bytes) const;

  /// A work request of one piece. `remote`: offset in the peer's memory.
  [[nodiscard]] ibv_send_wr request(ibv_wr_opcode opcode, ibv_sge& sge, std::size_t remote = 0);
  int post(ibv_send_wr& list);
  /// In INIT at the earliest.
  void post_receive(std::size_t at, std::size_t bytes, std::uint64_t id);
  /// The next completion; none within the test's time fails the test.
  ibv_wc wait();
  /// Whether none comes for a while.
  bool is_quiet();
  /// Posts `wr` alone and gives the status it ends with.
  ibv_wc_status carry_out(ibv_send_wr wr);

 private:
  void make_qp(const plan& how);

  side& me_;
  const plan how_;
  ibv_context* context_ = nullptr;
  ibv_port_attr port_{};
  ibv_pd* pd_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_srq* srq_ = nullptr;
  ibv_qp* qp_ = nullptr;
  ibv_mr* mr_ = nullptr;
  std::vector<std::byte> memory_ = std::vector<std::byte>(buffer_bytes);
  card peer_{};
};

/// Opens the device that the program was started for.
[[nodiscard]] ibv_context* open_device(side& me);

}  // namespace conformance
