// SPDX-License-Identifier: BSD-3-Clause
// requester.cpp - see requester.h: finding the target and the data. And how RC carries out its
// work.
#include "requester.h"

#include <cerrno>
#include <cstring>

namespace hca {

namespace {

constexpr outcome failed(ibv_wc_status status) noexcept {
  return {outcome::done, status, 0, 0};
}

bool writes_here(ibv_wr_opcode opcode) noexcept {
  return opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
         opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/// What an errno of the copy means to the initiator.
ibv_wc_status status_of(int problem) noexcept {
  if (problem == 0) return IBV_WC_SUCCESS;
  return problem == ESRCH ? IBV_WC_RETRY_EXC_ERR : IBV_WC_REM_OP_ERR;
}

}  // namespace

bool requester::gather() noexcept {
  const work& w = qp_.sends_.front();
  const auto data = qp_.sends_.front_inline();
  if ((w.flags & IBV_SEND_INLINE) != 0) {
    data_.add(reinterpret_cast<std::uint64_t>(data.data()), data.size());
    return true;
  }
  const std::uint32_t access = writes_here(w.opcode) ? IBV_ACCESS_LOCAL_WRITE : 0;
  for (const ibv_sge& sge : qp_.sends_.front_sges()) {
    if (sge.length == 0) continue;
    const key_use use{sge.lkey, qp_.pd_.number, access, sge.addr, sge.length};
    const std::uint64_t at = translate(us_.key_entries(), use, false);
    if (at == 0) return false;
    data_.add(at, sge.length);
  }
  return true;
}

requester::target requester::find(std::uint32_t number) const noexcept {
  const qp_entry* const entry = us_.fabric().find_qp(number);
  if (entry == nullptr) return {};
  // Relaxed, both: published with the number.
  auto who = us_.peers().find(entry->process.load(std::memory_order_relaxed));
  if (who == nullptr) return {};
  auto& to = who->at<shared_qp>(entry->at.load(std::memory_order_relaxed));
  return {std::move(who), &to};
}

outcome requester::execute() noexcept {
  if (!gather()) return failed(IBV_WC_LOC_PROT_ERR);
  if (data_.bytes() > max_message) return failed(IBV_WC_LOC_LEN_ERR);
  return qp_.how_.qp_type == IBV_QPT_UD ? execute_ud() : execute_rc();
}

/// Whether a packet that leaves here arrives there, and is taken for one of the connection.
bool requester::is_connected(const shared_qp& to) const noexcept {
  const auto where = find_place(qp_.attr_.ah_attr, us_.link());
  return where && *where == to.at && to.number == qp_.attr_.dest_qp_num && to.type == IBV_QPT_RC;
}

outcome requester::execute_rc() noexcept {
  const target found = find(qp_.attr_.dest_qp_num);
  if (found.qp == nullptr) return {outcome::gone};
  delivery to(us_, *found.who, *found.qp);
  if (!is_connected(to.to())) return {outcome::gone};
  if (!us_.fabric().is_up(qp_.shared_->at) || !us_.fabric().is_up(to.to().at))
    return {outcome::not_ready};
  const ibv_qp_state state = to.state();
  if (state == IBV_QPS_RESET || state == IBV_QPS_INIT) return {outcome::not_ready};
  if (state == IBV_QPS_ERR || to.to().peer != qp_.number() || to.to().peer_at != qp_.shared_->at)
    return {outcome::gone};
  return carry_out(to);
}

outcome requester::carry_out(delivery& to) noexcept {
  switch (qp_.sends_.front().opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      return send(to);
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return write(to);
    case IBV_WR_RDMA_READ:
      return read(to);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return change(to);
    default:
      return failed(IBV_WC_LOC_QP_OP_ERR);
  }
}

completion requester::arrived(const receive& into, ibv_wc_opcode as) const noexcept {
  const work& w = qp_.sends_.front();
  completion c;
  ibv_wc& wc = c.entry.wc;
  wc.wr_id = into.wr_id;
  wc.opcode = as;
  wc.byte_len = static_cast<std::uint32_t>(data_.bytes());
  wc.src_qp = qp_.number();
  wc.sl = qp_.attr_.ah_attr.sl;
  wc.slid = lid_of(qp_.shared_->at, us_.link());
  if (w.opcode == IBV_WR_SEND_WITH_IMM || w.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    wc.wc_flags = IBV_WC_WITH_IMM;
    wc.imm_data = w.imm;
  }
  c.solicited = (w.flags & IBV_SEND_SOLICITED) != 0;
  return c;
}

/// The responder's error, and what the initiator hears of it.
ibv_wc_status requester::receive_error(delivery& to, const receive& into,
                                       ibv_wc_status theirs) noexcept {
  to.complete(failed_completion(into.wr_id, theirs, to.to().number, true));
  to.fail(std::nullopt);
  return theirs == IBV_WC_LOC_LEN_ERR ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR;
}

ibv_wc_status requester::deliver(delivery& to, const receive& into) noexcept {
  pieces far;
  const ibv_wc_status placed = to.place(into, data_.bytes(), far);
  if (placed != IBV_WC_SUCCESS) return receive_error(to, into, placed);
  if (const int problem = write_far(to.memory(), far, data_); problem != 0)
    return status_of(problem);
  completion c = arrived(into, IBV_WC_RECV);
  c.entry.wc.qp_num = to.to().number;
  return to.complete(c) ? IBV_WC_SUCCESS : IBV_WC_REM_OP_ERR;
}

outcome requester::send(delivery& to) noexcept {
  receive into;
  if (!to.take(into)) return {outcome::no_receive, IBV_WC_SUCCESS, 0, to.to().min_rnr_timer};
  return failed(deliver(to, into));
}

outcome requester::write(delivery& to) noexcept {
  const work& w = qp_.sends_.front();
  const std::uint64_t bytes = data_.bytes();
  const std::uint64_t at =
      bytes == 0 ? 0 : to.translate(w.rkey, IBV_ACCESS_REMOTE_WRITE, w.remote_addr, bytes);
  if (bytes != 0 && at == 0) {
    to.fail(IBV_EVENT_QP_ACCESS_ERR);
    return failed(IBV_WC_REM_ACCESS_ERR);
  }
  const bool notifies = w.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  receive into;
  if (notifies && !to.take(into))
    return {outcome::no_receive, IBV_WC_SUCCESS, 0, to.to().min_rnr_timer};
  if (!notifies && write_later(w.remote_addr)) return {};
  pieces far;
  far.add(at, bytes);
  if (const int problem = write_far(to.memory(), far, data_); problem != 0)
    return failed(status_of(problem));
  if (!notifies) return {};
  completion c = arrived(into, IBV_WC_RECV_RDMA_WITH_IMM);
  c.entry.wc.qp_num = to.to().number;
  return failed(to.complete(c) ? IBV_WC_SUCCESS : IBV_WC_REM_OP_ERR);
}

outcome requester::read(delivery& to) noexcept {
  const work& w = qp_.sends_.front();
  if (qp_.attr_.max_rd_atomic == 0) return failed(IBV_WC_LOC_QP_OP_ERR);
  if (to.to().reads == 0) {
    to.fail(IBV_EVENT_QP_REQ_ERR);
    return failed(IBV_WC_REM_INV_REQ_ERR);
  }
  const std::uint64_t bytes = data_.bytes();
  if (bytes == 0) return {};
  const std::uint64_t at = to.translate(w.rkey, IBV_ACCESS_REMOTE_READ, w.remote_addr, bytes);
  if (at == 0) {
    to.fail(IBV_EVENT_QP_ACCESS_ERR);
    return failed(IBV_WC_REM_ACCESS_ERR);
  }
  pieces far;
  far.add(at, bytes);
  const int problem = read_far(to.memory(), far, data_);
  return {outcome::done, status_of(problem), static_cast<std::uint32_t>(bytes), 0};
}

/// An atomic: read, then write, among others that hold the device's lock. Not with the CPU.
outcome requester::change(delivery& to) noexcept {
  const work& w = qp_.sends_.front();
  if (qp_.attr_.max_rd_atomic == 0 || data_.bytes() != 8) return failed(IBV_WC_LOC_QP_OP_ERR);
  if (to.to().reads == 0 || w.remote_addr % 8 != 0) {
    to.fail(IBV_EVENT_QP_REQ_ERR);
    return failed(IBV_WC_REM_INV_REQ_ERR);
  }
  const std::uint64_t at = to.translate(w.rkey, IBV_ACCESS_REMOTE_ATOMIC, w.remote_addr, 8);
  if (at == 0) {
    to.fail(IBV_EVENT_QP_ACCESS_ERR);
    return failed(IBV_WC_REM_ACCESS_ERR);
  }
  device_entry& device = us_.fabric().file().devices[to.to().at.node][to.to().at.device];
  const host::shared_lock_guard held(us_.fabric().file(), us_.fabric().stamp(),
                                     device.atomics.holder);
  std::uint64_t before = 0, after = 0;
  pieces far, word, result;
  far.add(at, 8);
  word.add(reinterpret_cast<std::uint64_t>(&before), 8);
  result.add(reinterpret_cast<std::uint64_t>(&after), 8);
  if (const int problem = read_far(to.memory(), far, word); problem != 0)
    return failed(status_of(problem));
  const bool adds = w.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  after = adds ? before + w.compare_add : w.swap;
  const bool writes = adds || before == w.compare_add;
  const int problem = writes ? write_far(to.memory(), far, result) : 0;
  if (problem == 0) (void)write_far({0, true}, data_, word);
  return {outcome::done, status_of(problem), 8, 0};
}

}  // namespace hca
