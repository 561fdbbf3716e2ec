// SPDX-License-Identifier: BSD-3-Clause
// receives.cpp - see receives.h.
#include "receives.h"

#include <unistd.h>

#include <cerrno>
#include <new>

#include "context.h"

namespace hca {

receives::receives(process& us, std::uint32_t capacity, std::uint32_t sges, std::uint32_t pd)
    : us_(us), at_(us.memory().take(shared_receives::bytes(capacity, sges))) {
  if (at_ == 0) throw std::bad_alloc();
  shared_ = &us.memory().at<shared_receives>(at_);
  shared_->capacity = capacity;
  shared_->most_sges = sges;
  shared_->pid = getpid();
  shared_->pd = pd;
}

receives::~receives() {
  us_.memory().give_back(at_, shared_receives::bytes(shared_->capacity, shared_->most_sges));
}

int receives::post(ibv_recv_wr* list, ibv_recv_wr** bad) noexcept {
  const host::shared_lock_guard held(us_.fabric().file(), us_.fabric().stamp(),
                                     shared_->lock.holder);
  for (; list != nullptr; list = list->next) {
    *bad = list;
    if (list->num_sge < 0 || static_cast<std::uint32_t>(list->num_sge) > shared_->most_sges)
      return EINVAL;
    if (shared_->is_full()) return ENOMEM;
    shared_->push(*list);
  }
  return 0;
}

void receives::clear() noexcept {
  const host::shared_lock_guard held(us_.fabric().file(), us_.fabric().stamp(),
                                     shared_->lock.holder);
  shared_->head = shared_->tail;
}

void receives::set_limit(std::uint32_t limit) noexcept {
  const host::shared_lock_guard held(us_.fabric().file(), us_.fabric().stamp(),
                                     shared_->lock.holder);
  shared_->limit = limit;
}

srq::srq(process& from, context& where, ibv_pd* under, const ibv_srq_attr& how)
    : on(where), queue(from, how.max_wr, how.max_sge, domain::of(under).number) {
  api.object = this;
  api.api.context = where.api();
  api.api.pd = under;
  api.api.handle = from.next_number();
  pthread_mutex_init(&api.api.mutex, nullptr);
  pthread_cond_init(&api.api.cond, nullptr);
  queue.shared().number = api.api.handle;
  queue.shared().async = where.async().address();
}

}  // namespace hca
