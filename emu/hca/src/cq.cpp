// SPDX-License-Identifier: BSD-3-Clause
// cq.cpp - see cq.h.
#include "cq.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "context.h"
#include "qp.h"

namespace hca {
namespace {

/// Nothing was there: on a host with fewer cores than processes, who would send may need ours.
void rest() noexcept {
  thread_local unsigned tries = 0;
  if (++tries % 2048 == 0) sched_yield();
}

const ibv_wc& wc_of(ibv_cq_ex* api) noexcept {
  return cq::of(api).now().wc;
}

}  // namespace

cq::cq(process& us, context& on, const ibv_cq_init_attr_ex& how, pipe_address async)
    : us_(us),
      on_(on),
      channel_(how.channel == nullptr ? nullptr
                                      : &object_of<channel, ibv_comp_channel>(how.channel)) {
  at_ = us.memory().take(shared_cq::bytes(how.cqe));
  if (at_ == 0) throw std::bad_alloc();
  bytes_capacity_ = how.cqe;
  shared_ = &us.memory().at<shared_cq>(at_);
  const auto limit = static_cast<std::uint32_t>(us.set()[knob::cqes]);
  shared_->capacity = limit == 0 ? how.cqe : std::min(limit, how.cqe);
  shared_->number = us.next_number();
  shared_->pid = getpid();
  shared_->async = async;
  ibv_cq_ex& api = handle_.api;
  handle_.object = this;
  api.context = on.api();
  api.channel = how.channel;
  api.cq_context = how.cq_context;
  api.handle = shared_->number;
  api.cqe = static_cast<int>(how.cqe);
  set_extended_functions(api);
  if ((how.comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0 && how.parent_domain != nullptr &&
      (how.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 &&
      (how.flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0)
    td_ = domain::of(how.parent_domain).td;
  if (channel_ == nullptr) return;
  shared_->channel = channel_->pipe.address();
  ++channel_->users;
  ++how.channel->refcnt;
}

cq::~cq() {
  if (channel_ != nullptr) {
    --channel_->users;
    --channel_->api.api.refcnt;
  }
  us_.memory().give_back(at_, shared_cq::bytes(bytes_capacity_));
}

bool cq::take(cqe& into) noexcept {
  const std::uint64_t head = shared_->head.load(std::memory_order_relaxed);  // relaxed: ours
  // A2 pairs with R2: the entry is complete.
  if (shared_->tail.load(std::memory_order_acquire) == head) return false;
  into = shared_->entries()[head % shared_->capacity];
  shared_->head.store(head + 1, std::memory_order_release);  // R1 pairs with A1: it was read
  if (into.slots != 0) free_slots(into);
  return true;
}

int cq::take_some(int most, ibv_wc* into) noexcept {
  const auto take_them = [&] {
    int count = 0;
    cqe one;
    while (count < most && take(one)) into[count++] = one.wc;
    return count;
  };
  // Under a thread domain the promise stands for the lock, as in an adapter's library.
  if (td_ != nullptr) return take_them();
  const std::lock_guard held(mutex_);
  return take_them();
}

void cq::free_slots(const cqe& polled) noexcept {
  if (qp* const one = us_.find_polled(polled.wc.qp_num)) one->free_slots(polled.slots);
}

/// What waits is looked at when there is nothing to poll, and in chaos at every poll.
void cq::progress() noexcept {
  if (us_.engine().is_busy()) us_.engine().serve();
}

int cq::poll(int most, ibv_wc* into) noexcept {
  const td_call alone(td_, "ibv_poll_cq");
  if (us_.is_chaos()) progress();
  const int count = take_some(most, into);
  if (count > 0 || most == 0) return count;
  progress();
  rest();
  // Relaxed: only says that no more will come.
  return shared_->overrun.load(std::memory_order_relaxed) != 0 ? -1 : 0;
}

void cq::arm(bool solicited_only) noexcept {
  const host::shared_lock_guard held(us_.fabric().file(), us_.fabric().stamp(),
                                     shared_->producers.holder);
  const auto wanted = solicited_only ? arming::solicited : arming::any;
  if (shared_->armed < static_cast<std::uint32_t>(wanted))
    shared_->armed = static_cast<std::uint32_t>(wanted);
}

int cq::resize(std::uint32_t capacity) {
  const td_call alone(td_, "ibv_resize_cq");
  const std::lock_guard polling(mutex_);
  const host::shared_lock_guard held(us_.fabric().file(), us_.fabric().stamp(),
                                     shared_->producers.holder);
  const std::uint64_t head = shared_->head.load(std::memory_order_relaxed);  // relaxed: locks held
  const std::uint64_t tail = shared_->tail.load(std::memory_order_relaxed);
  if (tail - head > capacity || capacity > bytes_capacity_) return EINVAL;
  std::vector<cqe> kept;
  for (std::uint64_t i = head; i < tail; ++i)
    kept.push_back(shared_->entries()[i % shared_->capacity]);
  shared_->capacity = capacity;
  for (std::uint64_t i = head; i < tail; ++i) shared_->entries()[i % capacity] = kept[i - head];
  handle_.api.cqe = static_cast<int>(capacity);
  return 0;
}

void cq::remove_all_of(std::uint32_t qp_num) noexcept {
  const td_call alone(td_, "the end of a queue pair");
  const std::lock_guard polling(mutex_);
  const host::shared_lock_guard held(us_.fabric().file(), us_.fabric().stamp(),
                                     shared_->producers.holder);
  const std::uint64_t head = shared_->head.load(std::memory_order_relaxed);  // relaxed: locks held
  const std::uint64_t tail = shared_->tail.load(std::memory_order_relaxed);
  std::uint64_t kept = head;
  for (std::uint64_t i = head; i < tail; ++i) {
    const cqe& one = shared_->entries()[i % shared_->capacity];
    if (one.wc.qp_num != qp_num) shared_->entries()[kept++ % shared_->capacity] = one;
  }
  shared_->tail.store(kept, std::memory_order_release);  // R2
}

int cq::start_poll() noexcept {
  progress();
  mutex_.lock();
  if (next_poll() == 0) return 0;
  mutex_.unlock();
  rest();
  return ENOENT;
}

int cq::next_poll() noexcept {
  if (!take(now_)) return ENOENT;
  handle_.api.wr_id = now_.wc.wr_id;
  handle_.api.status = now_.wc.status;
  return 0;
}

void set_extended_functions(ibv_cq_ex& api) noexcept {
  api.start_poll = [](ibv_cq_ex* c, ibv_poll_cq_attr* how) {
    return how->comp_mask != 0 ? EINVAL : cq::of(c).start_poll();
  };
  api.next_poll = [](ibv_cq_ex* c) { return cq::of(c).next_poll(); };
  api.end_poll = [](ibv_cq_ex* c) { cq::of(c).end_poll(); };
  api.read_opcode = [](ibv_cq_ex* c) { return wc_of(c).opcode; };
  api.read_vendor_err = [](ibv_cq_ex* c) { return wc_of(c).vendor_err; };
  api.read_byte_len = [](ibv_cq_ex* c) { return wc_of(c).byte_len; };
  api.read_imm_data = [](ibv_cq_ex* c) { return wc_of(c).imm_data; };
  api.read_qp_num = [](ibv_cq_ex* c) { return wc_of(c).qp_num; };
  api.read_src_qp = [](ibv_cq_ex* c) { return wc_of(c).src_qp; };
  api.read_wc_flags = [](ibv_cq_ex* c) { return wc_of(c).wc_flags; };
  api.read_slid = [](ibv_cq_ex* c) { return std::uint32_t{wc_of(c).slid}; };
  api.read_sl = [](ibv_cq_ex* c) { return wc_of(c).sl; };
  api.read_dlid_path_bits = [](ibv_cq_ex* c) { return wc_of(c).dlid_path_bits; };
  api.read_completion_ts = [](ibv_cq_ex* c) { return cq::of(c).now().time_ns; };
  api.read_completion_wallclock_ns = [](ibv_cq_ex* c) { return cq::of(c).now().time_ns; };
}

}  // namespace hca
