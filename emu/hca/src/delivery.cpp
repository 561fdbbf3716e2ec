// SPDX-License-Identifier: BSD-3-Clause
// delivery.cpp - see delivery.h.
#include "delivery.h"

namespace hca {

delivery::delivery(process& us, const peer& whose, shared_qp& to) noexcept
    : us_(us),
      whose_(whose),
      to_(to),
      held_(us.fabric().file(), us.fabric().stamp(), to.responder.holder) {}

ibv_qp_state delivery::state() const noexcept {
  return static_cast<ibv_qp_state>(to_.state.load(std::memory_order_relaxed));  // relaxed: locked
}

bool delivery::take(receive& into) noexcept {
  auto& all = whose_.at<shared_receives>(to_.receives);
  const host::shared_lock_guard held(us_.fabric().file(), us_.fabric().stamp(), all.lock.holder);
  if (all.is_empty()) return false;
  all.pop(into);
  if (all.limit != 0 && all.tail - all.head < all.limit) {
    all.limit = 0;
    us_.pipes().put(all.pid, all.async, async_record{IBV_EVENT_SRQ_LIMIT_REACHED, all.number});
  }
  return true;
}

ibv_wc_status delivery::place(const receive& into, std::uint64_t bytes,
                              pieces& found) const noexcept {
  // An SRQ's buffers are registered in the SRQ's own protection domain.
  const std::uint32_t pd = whose_.at<shared_receives>(to_.receives).pd;
  for (std::uint32_t i = 0; i < into.sges && found.bytes() < bytes; ++i) {
    const ibv_sge& sge = into.sge[i];
    if (sge.length == 0) continue;
    const key_use use{sge.lkey, pd, IBV_ACCESS_LOCAL_WRITE, sge.addr, sge.length};
    const std::uint64_t at = hca::translate(whose_.keys(), use, false);
    if (at == 0) return IBV_WC_LOC_PROT_ERR;
    found.add(at, sge.length);
  }
  return found.bytes() < bytes ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
}

std::uint64_t delivery::translate(std::uint32_t rkey, std::uint32_t access, std::uint64_t address,
                                  std::uint64_t bytes) const noexcept {
  if ((to_.access & access) != access) return 0;
  return hca::translate(whose_.keys(), {rkey, to_.pd, access, address, bytes}, true);
}

bool delivery::complete(const completion& what) noexcept {
  if (add_completion(us_, whose_.at<shared_cq>(to_.recv_cq), what)) return true;
  fail(IBV_EVENT_QP_FATAL);
  return false;
}

void delivery::fail(std::optional<ibv_event_type> event) noexcept {
  if (state() == IBV_QPS_ERR) return;
  to_.state.store(IBV_QPS_ERR, std::memory_order_release);  // R1 pairs with A1 in qp::state()
  if (event) tell(*event);
  flush();
}

void delivery::flush() noexcept {
  if (to_.has_srq != 0) {
    tell(IBV_EVENT_QP_LAST_WQE_REACHED);
    return;
  }
  receive one;
  while (take(one)) {
    add_completion(us_, whose_.at<shared_cq>(to_.recv_cq),
                   failed_completion(one.wr_id, IBV_WC_WR_FLUSH_ERR, to_.number, true));
  }
}

void delivery::tell(ibv_event_type event) noexcept {
  us_.pipes().put(whose_.pid, to_.async, async_record{event, to_.number});
}

}  // namespace hca
