// SPDX-License-Identifier: BSD-3-Clause
// process.cpp - see process.h.
#include "process.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <utofu.h>

#include <algorithm>
#include <bit>

namespace tofu {
namespace {

/// What nobody has called for goes on after one to two of these.
constexpr unsigned chaos_pause_us = 1000;

}  // namespace

std::uintptr_t handle_table::add(vcq* object) noexcept {
  for (std::size_t tried = 0; tried < rows; ++tried) {
    ++uses_;
    row& r = rows_[uses_ % rows];
    // Relaxed: only changed under the process's lock.
    if (r.handle.load(std::memory_order_relaxed) != 0) continue;
    r.object = object;
    const std::uintptr_t handle = uses_ + (std::uintptr_t{0x7f} << 40);  // unlike any small number
    r.handle.store(handle, std::memory_order_release);                   // R1 pairs with A1
    return handle;
  }
  return 0;
}

void handle_table::remove(std::uintptr_t handle) noexcept {
  // Relaxed: a program that still uses the handle elsewhere is wrong anyway.
  rows_[handle % rows].handle.store(0, std::memory_order_relaxed);
}

void handle_table::clear() noexcept {
  for (row& r : rows_) r.handle.store(0, std::memory_order_relaxed);  // relaxed: as in remove()
}

process* process::current = new process;  // never destroyed: used until the process ends

bool process::join() {
  if (joined_.load(std::memory_order_acquire)) return true;  // A2 pairs with R2
  const std::lock_guard held(mutex_);
  if (joined_.load(std::memory_order_relaxed)) return true;  // relaxed: under the lock
  static const int registered = pthread_atfork(nullptr, nullptr, start_anew);
  asked_settings asked;
  if (registered != 0 || !read_settings(asked)) return false;
  machine_ = machine::join(asked);
  if (!machine_) return false;
  set_ = asked.now;
  // Peers read and write our private memory; where Yama guards it, it must be allowed.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  joined_.store(true, std::memory_order_release);  // R2 pairs with A2
  return true;
}

int process::create_vcq(unsigned tni, std::optional<unsigned> cmp, unsigned long flags,
                        std::uintptr_t& handle) {
  const std::lock_guard held(mutex_);
  cq* queue = nullptr;
  unsigned cmp_id = 0;
  const bool exclusive = (flags & UTOFU_VCQ_FLAG_EXCLUSIVE) != 0;
  if (exclusive && set_[knob::create_us] != 0)
    usleep(static_cast<useconds_t>(set_[knob::create_us]));
  const int rc = find_room(tni, cmp, exclusive, queue, cmp_id);
  if (rc != UTOFU_SUCCESS) return rc;
  auto one = std::make_unique<vcq>();
  one->cmp = cmp_id;
  one->thread_safe = (flags & UTOFU_VCQ_FLAG_THREAD_SAFE) != 0;
  queue->add(*one);
  handle = handles.add(one.get());
  if (handle == 0) {
    queue->remove(*one);
    if (queue->cmp_mask() == 0) close_cq(queue);
    return UTOFU_ERR_FULL;
  }
  (void)one.release();  // the table has it now
  machine_->set_cmp_ids(tni, queue->number(), queue->cmp_mask());
  return UTOFU_SUCCESS;
}

bool process::has_shared_room(unsigned tni) const noexcept {
  return std::any_of(cqs_.begin(), cqs_.end(), [tni](const auto& q) {
    return q->tni() == tni && !q->is_exclusive() && q->cmp_mask() != 0xff;
  });
}

/// The CQ and cmp_id for a new VCQ: on a CQ that this process shares among its VCQs, else on one of
/// its own.
int process::find_room(unsigned tni, std::optional<unsigned> cmp, bool exclusive, cq*& queue,
                       unsigned& cmp_id) {
  cmp_id = cmp.value_or(0);
  for (const auto& q : cqs_) {
    if (exclusive || q->tni() != tni || q->is_exclusive()) continue;
    if (cmp && (q->cmp_mask() & 1u << *cmp) != 0) return UTOFU_ERR_USED;
    if (!cmp && q->cmp_mask() == 0xff) continue;
    if (!cmp) cmp_id = static_cast<unsigned>(std::countr_one(q->cmp_mask()));
    queue = q.get();
    return UTOFU_SUCCESS;
  }
  const int rc = open_cq(tni, cmp_id, exclusive, queue);
  return rc == UTOFU_ERR_FULL && has_shared_room(tni) ? UTOFU_ERR_NOT_AVAILABLE : rc;
}

int process::open_cq(unsigned tni, unsigned cmp, bool exclusive, cq*& queue) {
  const std::size_t bytes = shared_cq_bytes(set_);
  host::owned_fd fd = host::make_sealed_memory("softtofu-cq", bytes);
  if (!fd) return UTOFU_ERR_OUT_OF_RESOURCE;
  auto map = std::make_shared<host::mapping>(fd.get(), bytes);
  if (!*map) return UTOFU_ERR_OUT_OF_MEMORY;
  auto& shared = *reinterpret_cast<shared_cq*>(map->data());
  shared.owner = machine_->stamp();
  shared.magic = shared_cq_magic;
  const auto number = machine_->claim_cq(tni, cmp, fd.get());
  if (!number) return UTOFU_ERR_FULL;
  const mode how = set_.choice<mode>(knob::mode);
  if ((how == mode::engine || how == mode::chaos) && engine_ == nullptr)
    engine_ = new engine(how == mode::chaos ? chaos_pause_us : 0);
  cqs_.push_back(std::make_unique<cq>(*machine_, set_, cq_place{tni, *number, exclusive, engine_},
                                      std::move(map), std::move(fd)));
  queue = cqs_.back().get();
  return UTOFU_SUCCESS;
}

void process::close_cq(cq* queue) {
  machine_->set_cmp_ids(queue->tni(), queue->number(), 0);
  std::erase_if(cqs_, [queue](const auto& q) { return q.get() == queue; });
}

int process::free_vcq(std::uintptr_t handle) {
  const std::lock_guard held(mutex_);
  const std::unique_ptr<vcq> one(handles.find(handle));
  if (!one) return UTOFU_ERR_INVALID_VCQ_HDL;
  handles.remove(handle);
  cq* const queue = one->queue;
  queue->remove(*one);
  if (queue->cmp_mask() == 0) {
    close_cq(queue);
  } else {
    machine_->set_cmp_ids(queue->tni(), queue->number(), queue->cmp_mask());
  }
  return UTOFU_SUCCESS;
}

void process::leave() noexcept {
  const std::lock_guard held(mutex_);
  if (!joined_.load(std::memory_order_relaxed)) return;  // relaxed: under the lock
  for (const auto& q : cqs_) q->flush();
  machine_->leave();
}

void process::start_anew() {
  process* const parent = current;
  if (!parent->joined_.load(std::memory_order_relaxed)) return;  // relaxed: there is one thread
  handles.clear();
  forget_mappings();
  current = new process;
  current->before_ = parent;
}

namespace {

/// Runs when the library is unloaded: at exit, after the program's own handlers.
[[gnu::destructor]] void leave_at_exit() {
  process::get().leave();
}

}  // namespace

}  // namespace tofu
