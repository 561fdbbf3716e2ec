// SPDX-License-Identifier: BSD-3-Clause
// completion.cpp - see completion.h.
#include "completion.h"

#include <ctime>

#include "shared_qp.h"

namespace hca {

namespace {

std::uint64_t wall_clock_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void tell_overrun(process& us, shared_cq& to) noexcept {
  if (to.overrun.exchange(1, std::memory_order_relaxed) != 0) return;  // relaxed: told once
  us.pipes().put(to.pid, to.async, async_record{IBV_EVENT_CQ_ERR, to.number});
}

/// Whether the owner's channel is to hear of it.
bool disarm(shared_cq& to, bool solicited) noexcept {
  const auto armed = static_cast<arming>(to.armed);
  if (armed == arming::none || (armed == arming::solicited && !solicited)) return false;
  to.armed = static_cast<std::uint32_t>(arming::none);
  return true;
}

}  // namespace

bool add_completion(process& us, shared_cq& to, const completion& what) noexcept {
  bool wake = false;
  {
    const host::shared_lock_guard held(us.fabric().file(), us.fabric().stamp(),
                                       to.producers.holder);
    const std::uint64_t tail = to.tail.load(std::memory_order_relaxed);  // relaxed: under the lock
    // A1 pairs with R1 in poll(): the owner has read what lay there.
    if (tail - to.head.load(std::memory_order_acquire) >= to.capacity) {
      tell_overrun(us, to);
      return false;
    }
    cqe& slot = to.entries()[tail % to.capacity];
    slot = what.entry;
    slot.time_ns = wall_clock_ns();
    to.tail.store(tail + 1, std::memory_order_release);  // R2 pairs with A2 in poll()
    wake = disarm(to, what.solicited);
  }
  if (!wake) return true;
  us.pipes().put(to.pid, to.channel, completion_event{to.number});
  if (us.is_chaos() && us.random(8) == 0)
    us.pipes().put(to.pid, to.channel, completion_event{to.number});  // and once more for nothing
  return true;
}

completion failed_completion(std::uint64_t wr_id, ibv_wc_status status, std::uint32_t qp_num,
                             bool is_receive) noexcept {
  completion c;
  ibv_wc& wc = c.entry.wc;
  wc.wr_id = wr_id;
  wc.status = status;
  wc.vendor_err = static_cast<std::uint32_t>(status) | 0x100;
  wc.qp_num = qp_num;
  wc.opcode = is_receive ? IBV_WC_SEND : IBV_WC_RECV;
  wc.byte_len = 0xdead'beef;
  c.solicited = true;
  return c;
}

}  // namespace hca
