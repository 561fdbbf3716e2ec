// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/work_list.h"

#include <arpa/inet.h>

#include "backends/verbs/exposed.h"
#include "backends/verbs/words.h"

namespace heddle::transport::verbs {
namespace {

/// Messages tell of their end once in so many: nobody waits for that.
constexpr std::uint32_t silent_messages = 16;

/// Atomics that add are told by act().
ibv_wr_opcode opcode_of(ending how) noexcept {
  switch (how) {
    case ending::sent:
      return IBV_WR_SEND_WITH_IMM;
    case ending::look:
    case ending::entry:
    case ending::copied:
    case ending::landed:
      return IBV_WR_RDMA_READ;
    case ending::fetched:
    case ending::guessed:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    case ending::mark:
    case ending::told:
      break;
  }
  return IBV_WR_RDMA_WRITE;
}

}  // namespace

/// All before the last one end before it does. Nobody waits for messages, so most of those are not
/// told of.
std::uint32_t work_list::post(stream& s, bool tell) noexcept {
  const std::uint32_t count = s.unissued();
  if (count == 0) return 0;
  tell = tell || s.unheard() + count >= silent_messages;
  for (std::uint32_t i = 0; i < count; ++i) {
    describe(s, s.next() + i, i);
    works_[i].next = i + 1 < count ? &works_[i + 1] : nullptr;
    tell = tell || s.at(s.next() + i).how != ending::sent;
  }
  if (tell) works_[count - 1].send_flags |= IBV_SEND_SIGNALED;
  ibv_send_wr* refused = nullptr;
  if (ibv_post_send(s.qp.get(), works_.data(), &refused) == 0) {
    s.issued(count, tell);
    return count;
  }
  const auto done = static_cast<std::uint32_t>(refused - works_.data());
  s.issued(done, false);
  return done;
}

void work_list::describe(stream& s, std::uint32_t position, std::uint32_t index) noexcept {
  const flight& f = s.at(position);
  ibv_send_wr& w = works_[index];
  w.wr_id = work_id(work_id::kind_t::flight, s.generation, s.number, position).bits();
  w.opcode = opcode_of(f.how);
  w.send_flags = 0;
  w.sg_list = &parts_[index];
  w.num_sge = f.bytes != 0 ? 1 : 0;
  w.imm_data = htonl(s.inlet);
  move_data(f, w, parts_[index]);
  if (f.how >= ending::fetched) return act(f, w);
  w.wr.rdma.remote_addr = f.there;
  w.wr.rdma.rkey = f.key;
}

void work_list::move_data(const flight& f, ibv_send_wr& w, ibv_sge& part) const noexcept {
  part.length = f.bytes;
  part.addr = reinterpret_cast<std::uint64_t>(f.here);
  part.lkey = f.held ? registration_of(f.held).lkey : slots_key_;
  const bool goes_out = f.how == ending::sent || f.how == ending::told;
  if (goes_out && f.bytes <= max_inline_) w.send_flags |= IBV_SEND_INLINE;
}

void work_list::act(const flight& f, ibv_send_wr& w) noexcept {
  op& o = *f.of;
  w.wr.atomic.remote_addr = f.there & ~std::uint64_t{7};
  w.wr.atomic.rkey = f.key;
  if (f.how == ending::fetched) {
    const bool adds = o.atomic == atomic_op::add;
    if (adds) w.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    w.wr.atomic.compare_add = adds ? o.operand : o.compare;
    w.wr.atomic.swap = o.operand;
    return;
  }
  const std::uint64_t expected = o.notes<guess>().expected;
  const word_place word(f.there, o.width);
  w.wr.atomic.compare_add = expected;
  w.wr.atomic.swap = word.put(expected, result_of(o, word.get(expected), word.mask));
}

}  // namespace heddle::transport::verbs
