// SPDX-License-Identifier: BSD-3-Clause
// qp_sends.cpp - see qp.h: posting work requests and executing them.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "context.h"
#include "counters.h"
#include "host/words.h"
#include "qp.h"
#include "requester.h"

namespace hca {

namespace {

/// Who is gone does not come back: it is asked no longer than this, whatever the attributes say.
constexpr std::uint64_t longest_doubt_ns = 200'000'000;

std::uint64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// The specification's code of a minimum RNR timer, in units of 10 us.
std::uint64_t rnr_ns(std::uint8_t code) noexcept {
  constexpr std::array<std::uint32_t, 32> table{
      65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
      48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
      2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return std::uint64_t{table[code % 32]} * 10'000;
}

ibv_wc_opcode completed_as(ibv_wr_opcode opcode) noexcept {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_WC_FETCH_ADD;
    default:
      return IBV_WC_SEND;
  }
}

bool is_atomic(ibv_wr_opcode opcode) noexcept {
  return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

}  // namespace

int qp::check(const ibv_send_wr& wr) const noexcept {
  const bool known = wr.opcode <= IBV_WR_ATOMIC_FETCH_AND_ADD;
  const bool ud = how_.qp_type == IBV_QPT_UD;
  const bool sends = wr.opcode == IBV_WR_SEND || wr.opcode == IBV_WR_SEND_WITH_IMM;
  if (!known || (ud && (!sends || wr.wr.ud.ah == nullptr))) return EINVAL;
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > how_.cap.max_send_sge)
    return EINVAL;
  const bool inlined = (wr.send_flags & IBV_SEND_INLINE) != 0;
  if (inlined && (wr.opcode == IBV_WR_RDMA_READ || is_atomic(wr.opcode))) return EINVAL;
  return 0;
}

bool qp::copy_inline(const ibv_send_wr& wr, work& into) noexcept {
  const auto room = sends_.next_inline();
  into.inline_bytes = 0;
  for (int i = 0; i < wr.num_sge; ++i) {
    const ibv_sge& sge = wr.sg_list[i];
    if (sge.length > room.size() - into.inline_bytes) return false;
    // Inline data needs no key, and is copied here: the program may use the buffer again.
    std::memcpy(room.data() + into.inline_bytes,
                reinterpret_cast<const void*>(sge.addr),  // NOLINT: the program's own
                sge.length);
    into.inline_bytes += sge.length;
  }
  return true;
}

int qp::accept(const ibv_send_wr& wr) noexcept {
  const ibv_qp_state now = state();
  if (now == IBV_QPS_RESET || now == IBV_QPS_INIT || now == IBV_QPS_RTR) return EINVAL;
  if (const int rc = check(wr); rc != 0) return rc;
  if (sends_.is_full()) {
    if (sends_.all_unsignalled() && how_.sq_sig_all == 0)
      host::say(
          "the send queue of QP %#x is full of unsignalled work requests: nothing will ever "
          "free it; signal at least one in each half of the queue",
          number());
    return ENOMEM;
  }
  work& w = sends_.next();
  w = {};
  w.wr_id = wr.wr_id;
  w.opcode = wr.opcode;
  w.flags = wr.send_flags;
  w.imm = wr.imm_data;
  if ((wr.send_flags & IBV_SEND_INLINE) != 0) {
    if (!copy_inline(wr, w)) return EINVAL;
  } else {
    w.sges = static_cast<std::uint32_t>(wr.num_sge);
    std::copy_n(wr.sg_list, wr.num_sge, sends_.next_sges().begin());
  }
  if (how_.qp_type == IBV_QPT_UD) {
    w.to = address_of(wr.wr.ud.ah);
    w.remote_qpn = wr.wr.ud.remote_qpn;
    w.remote_qkey = wr.wr.ud.remote_qkey;
  } else if (is_atomic(wr.opcode)) {
    w.remote_addr = wr.wr.atomic.remote_addr;
    w.rkey = wr.wr.atomic.rkey;
    w.compare_add = wr.wr.atomic.compare_add;
    w.swap = wr.wr.atomic.swap;
  } else {
    w.remote_addr = wr.wr.rdma.remote_addr;
    w.rkey = wr.wr.rdma.rkey;
  }
  sends_.push();
  on_.count().add(counter::work_requests);
  if (w.inline_bytes != 0) on_.count().add(counter::inline_bytes, w.inline_bytes);
  return 0;
}

int qp::post_send(ibv_send_wr* list, ibv_send_wr** bad) noexcept {
  const td_call alone(td_, "ibv_post_send");
  const std::lock_guard held(mutex_);
  int rc = 0;
  for (; list != nullptr; list = list->next) {
    rc = accept(*list);
    if (rc == 0) continue;
    *bad = list;
    break;
  }
  on_.count().add(counter::doorbells);
  posted();
  return rc;
}

void qp::begin_list() noexcept {
  mutex_.lock();
  list_begin_ = sends_.posted();
}

int qp::add_to_list(const ibv_send_wr& wr) noexcept {
  return accept(wr);
}

void qp::end_list(bool keep) noexcept {
  if (keep) {
    on_.count().add(counter::doorbells);
    posted();
  } else {
    sends_.take_back(list_begin_);
  }
  mutex_.unlock();
}

/// Work requests were posted: now, or later.
void qp::posted() noexcept {
  if (us_.how() == mode::in_line) {
    if (!drive_locked().waits) return;
  }
  us_.engine().add(shared_from_this());
}

progress qp::drive() noexcept {
  const std::lock_guard held(mutex_);
  if (withdrawn_) return {};
  return drive_locked();
}

progress qp::drive_locked() noexcept {
  const bool chaos = us_.is_chaos();
  if (chaos && us_.random(4) == 0) requester(*this).write_late();
  std::uint64_t left = chaos ? us_.random(4) : ~std::uint64_t{0};  // 0: it rests this time
  progress made;
  for (; left > 0 && !sends_.is_idle(); --left) {
    if (!step()) break;
    made.moved = true;
  }
  const ibv_qp_state now = state();
  made.waits = (!sends_.is_idle() || !late_.empty()) && now != IBV_QPS_SQD;
  return made;
}

/// One work request. False: it has to wait.
bool qp::step() noexcept {
  const ibv_qp_state now = state();
  if (now == IBV_QPS_SQD) return false;
  if (now == IBV_QPS_ERR || now == IBV_QPS_SQE) {
    retire({outcome::done, IBV_WC_WR_FLUSH_ERR, 0, 0});
    return true;
  }
  requester carrier(*this);
  carrier.write_late();
  outcome what = carrier.execute();
  if (what.kind != outcome::done && !wait_or_give_up(what, what)) return false;
  waits_since_ns_ = 0;
  retire(what);
  return true;
}

/// The peer does not take the front. True: it has been asked often enough, and `verdict` says so.
bool qp::wait_or_give_up(const outcome& what, outcome& verdict) noexcept {
  const bool receive = what.kind == outcome::no_receive;
  const bool for_ever = receive ? attr_.rnr_retry >= 7 : attr_.timeout == 0;
  if (for_ever) return false;
  const std::uint64_t now = now_ns();
  if (waits_since_ns_ == 0) waits_since_ns_ = now;
  std::uint64_t limit = receive ? attr_.rnr_retry * rnr_ns(what.rnr_timer)
                                : (attr_.retry_cnt + 1ULL) * (4096ULL << attr_.timeout);
  if (what.kind == outcome::gone) limit = std::min(limit, longest_doubt_ns);
  if (now - waits_since_ns_ < limit) return false;
  verdict = {outcome::done, receive ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_RETRY_EXC_ERR, 0, 0};
  return true;
}

/// The front is over: its completion, and what an error brings with it.
void qp::retire(const outcome& what) noexcept {
  const work w = sends_.front();
  const bool good = what.status == IBV_WC_SUCCESS;
  const bool signalled = (w.flags & IBV_SEND_SIGNALED) != 0 || how_.sq_sig_all != 0;
  const std::uint64_t slots = sends_.pop();
  if (good && !signalled) return;
  completion c = good ? completion{} : failed_completion(w.wr_id, what.status, number(), false);
  if (good) {
    c.entry.wc.wr_id = w.wr_id;
    c.entry.wc.opcode = completed_as(w.opcode);
    c.entry.wc.qp_num = number();
    c.entry.wc.byte_len = what.bytes;
    on_.count().add(counter::signalled);
  } else if (us_.set().choice<telling>(knob::tell) == telling::errors) {
    host::say("QP %#x: work request %#lx (opcode %d, rkey %#x) ended with status %d (%s)", number(),
              w.wr_id, w.opcode, w.rkey, what.status, ibv_wc_status_str(what.status));
  }
  c.entry.slots = slots;
  const bool added = add_completion(us_, send_cq_.shared(), c);
  // Behind its completion come those of what is flushed.
  if (!added || (!good && what.status != IBV_WC_WR_FLUSH_ERR)) fail();
}

/// Holding our lock. RC is broken as a whole; a UD queue pair goes on receiving.
void qp::fail() noexcept {
  const auto self = us_.peers().find(us_.fabric().stamp());
  delivery ours(us_, *self, *shared_);
  const bool sends_only = how_.qp_type == IBV_QPT_UD && state() == IBV_QPS_RTS &&
                          handle_.api.qp_base.state != IBV_QPS_ERR;
  if (sends_only) {
    shared_->state.store(IBV_QPS_SQE, std::memory_order_release);  // R1
  } else {
    ours.fail(std::nullopt);
  }
}

bool send_queue::all_unsignalled() const noexcept {
  for (std::uint64_t i = freed_.load(std::memory_order_relaxed); i < posted_; ++i) {
    if ((works_[i % depth_].flags & IBV_SEND_SIGNALED) != 0) return false;
  }
  return true;
}

}  // namespace hca
