// SPDX-License-Identifier: BSD-3-Clause
// qp.cpp - see qp.h: making a queue pair and changing its state.
#include "qp.h"

#include <unistd.h>

#include <cerrno>
#include <new>

#include "context.h"
#include "qp_states.h"
#include "requester.h"

namespace hca {

namespace {

domain* root_of(ibv_pd* pd) noexcept {
  domain& given = domain::of(pd);
  return given.parent != nullptr ? given.parent : &given;
}

}  // namespace

qp::qp(process& us, context& on, const ibv_qp_init_attr_ex& how)
    : us_(us),
      on_(on),
      how_(how),
      send_cq_(cq::of(how.send_cq)),
      recv_cq_(cq::of(how.recv_cq)),
      pd_(*root_of(how.pd)),
      td_(domain::of(how.pd).td),
      srq_(how.srq == nullptr ? nullptr : &srq::of(how.srq)),
      sends_(how.cap.max_send_wr, how.cap.max_send_sge, how.cap.max_inline_data) {
  if (srq_ == nullptr)
    own_receives_ =
        std::make_unique<receives>(us, how.cap.max_recv_wr, how.cap.max_recv_sge, pd_.number);
  at_ = us.take_qp_memory();
  const std::uint32_t number = at_ == 0 ? 0 : us.fabric().add_qp(at_);
  if (number == 0) {
    if (at_ != 0) us.give_back_qp_memory(at_);
    throw std::bad_alloc();
  }
  shared_ = &us.memory().at<shared_qp>(at_);
  {
    const host::shared_lock_guard held(us.fabric().file(), us.fabric().stamp(),
                                       shared_->responder.holder);
    shared_->state.store(IBV_QPS_RESET, std::memory_order_relaxed);  // relaxed: under the lock
    shared_->number = number;
    shared_->type = how.qp_type;
    shared_->pd = pd_.number;
    shared_->pid = getpid();
    shared_->at = on.at(1);
    shared_->access = 0;
    shared_->peer = 0;
    shared_->receives = srq_ != nullptr ? srq_->queue.at() : own_receives_->at();
    shared_->recv_cq = recv_cq_.at();
    shared_->has_srq = srq_ != nullptr ? 1 : 0;
    shared_->async = on.async().address();
  }
  handle_.object = this;
  ibv_qp& api = handle_.api.qp_base;
  api.context = on.api();
  api.qp_context = how.qp_context;
  api.pd = how.pd;
  api.send_cq = how.send_cq;
  api.recv_cq = how.recv_cq;
  api.srq = how.srq;
  api.handle = api.qp_num = number;
  api.state = IBV_QPS_RESET;
  api.qp_type = how.qp_type;
  pthread_mutex_init(&api.mutex, nullptr);
  pthread_cond_init(&api.cond, nullptr);
  set_wr_functions(handle_.api);
  ++send_cq_.users;
  ++recv_cq_.users;
  ++domain::of(how.pd).users;
  if (srq_ != nullptr) ++srq_->users;
}

qp::~qp() {
  if (withdrawn_) us_.give_back_qp_memory(at_);
  pthread_cond_destroy(&handle_.api.qp_base.cond);
  pthread_mutex_destroy(&handle_.api.qp_base.mutex);
}

void qp::withdraw() noexcept {
  us_.fabric().remove_qp(number());
  us_.forget(number());
  {
    const std::lock_guard held(mutex_);
    requester(*this).write_late();
    withdrawn_ = true;
    sends_.reset();
  }
  {
    const host::shared_lock_guard held(us_.fabric().file(), us_.fabric().stamp(),
                                       shared_->responder.holder);
    shared_->number = 0;
    shared_->state.store(IBV_QPS_RESET, std::memory_order_relaxed);  // relaxed: under the lock
  }
  send_cq_.remove_all_of(number());
  if (&recv_cq_ != &send_cq_) recv_cq_.remove_all_of(number());
  --send_cq_.users;
  --recv_cq_.users;
  --domain::of(how_.pd).users;
  if (srq_ != nullptr) --srq_->users;
}

int qp::modify(const ibv_qp_attr& to, int mask) {
  const std::lock_guard held(mutex_);
  const ibv_qp_state from = state();
  if ((mask & IBV_QP_CUR_STATE) != 0 && to.cur_qp_state != from) return EINVAL;
  const ibv_qp_state next = (mask & IBV_QP_STATE) != 0 ? to.qp_state : from;
  if (const int rc = check_change(how_.qp_type, from, next, mask); rc != 0) return rc;
  if ((mask & IBV_QP_PORT) != 0 && (to.port_num < 1 || to.port_num > on_.ports())) return EINVAL;
  if ((mask & IBV_QP_PKEY_INDEX) != 0 && to.pkey_index != 0) return EINVAL;
  if ((mask & IBV_QP_AV) != 0 && us_.link() == link_layer::roce && to.ah_attr.is_global == 0)
    return EINVAL;
  if ((mask & IBV_QP_PATH_MTU) != 0 && (to.path_mtu < IBV_MTU_256 || to.path_mtu > IBV_MTU_4096))
    return EINVAL;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0 && to.max_rd_atomic > max_rd_atomic) return EINVAL;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0 && to.max_dest_rd_atomic > max_rd_atomic)
    return EINVAL;
  set_attributes(to, mask);
  return from == next && next != IBV_QPS_RESET ? 0 : change_state(next);
}

void qp::set_attributes(const ibv_qp_attr& to, int mask) noexcept {
  const auto take = [&](int bit, auto& mine, const auto& given) {
    if ((mask & bit) != 0) mine = given;
  };
  take(IBV_QP_ACCESS_FLAGS, attr_.qp_access_flags, to.qp_access_flags);
  take(IBV_QP_PORT, attr_.port_num, to.port_num);
  take(IBV_QP_PKEY_INDEX, attr_.pkey_index, to.pkey_index);
  take(IBV_QP_QKEY, attr_.qkey, to.qkey);
  take(IBV_QP_AV, attr_.ah_attr, to.ah_attr);
  take(IBV_QP_PATH_MTU, attr_.path_mtu, to.path_mtu);
  take(IBV_QP_DEST_QPN, attr_.dest_qp_num, to.dest_qp_num);
  take(IBV_QP_RQ_PSN, attr_.rq_psn, to.rq_psn);
  take(IBV_QP_SQ_PSN, attr_.sq_psn, to.sq_psn);
  take(IBV_QP_MAX_DEST_RD_ATOMIC, attr_.max_dest_rd_atomic, to.max_dest_rd_atomic);
  take(IBV_QP_MAX_QP_RD_ATOMIC, attr_.max_rd_atomic, to.max_rd_atomic);
  take(IBV_QP_MIN_RNR_TIMER, attr_.min_rnr_timer, to.min_rnr_timer);
  take(IBV_QP_TIMEOUT, attr_.timeout, to.timeout);
  take(IBV_QP_RETRY_CNT, attr_.retry_cnt, to.retry_cnt);
  take(IBV_QP_RNR_RETRY, attr_.rnr_retry, to.rnr_retry);
  const host::shared_lock_guard held(us_.fabric().file(), us_.fabric().stamp(),
                                     shared_->responder.holder);
  shared_->access = attr_.qp_access_flags;
  shared_->qkey = attr_.qkey;
  shared_->peer = attr_.dest_qp_num;
  shared_->peer_at = find_place(attr_.ah_attr, us_.link()).value_or(place{});
  shared_->reads = attr_.max_dest_rd_atomic;
  shared_->min_rnr_timer = attr_.min_rnr_timer;
  if (attr_.port_num != 0) shared_->at = on_.at(attr_.port_num);
}

/// The new state, and what comes with it. Holding our lock.
int qp::change_state(ibv_qp_state to) {
  handle_.api.qp_base.state = to;
  if (to == IBV_QPS_RESET) {
    reset();
    return 0;
  }
  if (to == IBV_QPS_ERR) {
    fail();
    drive_locked();
    return 0;
  }
  {
    const host::shared_lock_guard held(us_.fabric().file(), us_.fabric().stamp(),
                                       shared_->responder.holder);
    shared_->state.store(to, std::memory_order_release);  // R1 pairs with A1 in state()
  }
  if (to == IBV_QPS_RTS && drive_locked().waits) us_.engine().add(shared_from_this());
  if (to == IBV_QPS_SQD)
    us_.pipes().put(getpid(), shared_->async, async_record{IBV_EVENT_SQ_DRAINED, number()});
  return 0;
}

void qp::reset() noexcept {
  requester(*this).write_late();
  {
    const host::shared_lock_guard held(us_.fabric().file(), us_.fabric().stamp(),
                                       shared_->responder.holder);
    shared_->state.store(IBV_QPS_RESET, std::memory_order_release);  // R1
    shared_->peer = 0;
  }
  attr_ = {};
  sends_.reset();
  waits_since_ns_ = 0;
  if (own_receives_) own_receives_->clear();
  send_cq_.remove_all_of(number());
  if (&recv_cq_ != &send_cq_) recv_cq_.remove_all_of(number());
}

void qp::query(ibv_qp_attr& into) noexcept {
  const std::lock_guard held(mutex_);
  into = attr_;
  into.qp_state = into.cur_qp_state = state();
  into.cap = how_.cap;
  into.path_mig_state = IBV_MIG_MIGRATED;
  into.sq_draining = 0;
  handle_.api.qp_base.state = into.qp_state;
}

int qp::post_recv(ibv_recv_wr* list, ibv_recv_wr** bad) noexcept {
  const td_call alone(td_, "ibv_post_recv");
  *bad = list;
  if (!own_receives_ || state() == IBV_QPS_RESET) return EINVAL;
  const int rc = own_receives_->post(list, bad);
  if (state() == IBV_QPS_ERR) {  // also one that was broken just before
    const auto self = us_.peers().find(us_.fabric().stamp());
    delivery(us_, *self, *shared_).flush();
  }
  return rc;
}

}  // namespace hca
