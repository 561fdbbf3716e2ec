// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/work_list.h"

#include <array>

#include "backends/verbs/words.h"

namespace heddle::transport::verbs {
namespace {

/// Messages tell of their end once in so many: nobody waits for that.
constexpr std::uint32_t silent_messages = 16;
/// With less room for completions, all that is issued tells of its end: it gives room back.
constexpr std::uint32_t scarce_room = 1024;

struct request_kind {
  ibv_wr_opcode opcode;
  bool goes_out;  ///< its bytes do, so the card may take them with the request
};

/// By ending. Atomics that add are told by act().
constexpr std::array<request_kind, 9> kinds{{
    {IBV_WR_RDMA_WRITE, false},          // mark
    {IBV_WR_SEND_WITH_IMM, true},        // sent
    {IBV_WR_RDMA_READ, false},           // look
    {IBV_WR_RDMA_READ, false},           // entry
    {IBV_WR_RDMA_WRITE, true},           // told
    {IBV_WR_RDMA_READ, false},           // copied
    {IBV_WR_RDMA_READ, false},           // landed
    {IBV_WR_ATOMIC_CMP_AND_SWP, false},  // fetched
    {IBV_WR_ATOMIC_CMP_AND_SWP, false},  // guessed
}};
static_assert(static_cast<std::size_t>(ending::guessed) + 1 == kinds.size());

}  // namespace

work_list::work_list(std::uint32_t depth, std::uint32_t max_inline)
    : max_inline_(max_inline), works_(depth), parts_(depth) {
  for (std::uint32_t i = 0; i < depth; ++i) works_[i].sg_list = &parts_[i];
}

/// All before the last one end before it does. Nobody waits for messages, so most of those are not
/// told of. Mostly there is one.
std::uint32_t work_list::post(stream& s, std::uint32_t room) noexcept {
  const std::uint32_t count = s.flights.unissued(), first = s.flights.next();
  if (count == 0) return 0;
  ibv_send_wr* w = works_.data();
  bool tell = describe(s, first, *w);
  for (std::uint32_t i = 1; i < count; ++i) {
    w->next = w + 1;
    tell = describe(s, first + i, *++w) || tell;
  }
  w->next = nullptr;
  tell = tell || room < scarce_room || s.flights.unheard() + count >= silent_messages;
  if (tell) w->send_flags |= IBV_SEND_SIGNALED;
  ibv_send_wr* refused = nullptr;
  if (ibv_post_send(s.qp.get(), works_.data(), &refused) == 0) {
    s.flights.issued(count, tell);
    return count;
  }
  const auto done = static_cast<std::uint32_t>(refused - works_.data());
  s.flights.issued(done, false);
  return done;
}

/// Returns whether somebody waits for its end.
[[gnu::always_inline]] inline bool work_list::describe(const stream& s, std::uint32_t position,
                                                       ibv_send_wr& w) const noexcept {
  const flight& f = s.flights.at(position);
  const request_kind& kind = kinds[static_cast<std::size_t>(f.how)];
  w.wr_id = s.name.at(position).bits();
  *w.sg_list = {reinterpret_cast<std::uint64_t>(f.here), f.bytes, f.key_here};
  w.num_sge = f.bytes != 0 ? 1 : 0;
  w.opcode = kind.opcode;
  w.send_flags = kind.goes_out && f.bytes <= max_inline_ ? unsigned{IBV_SEND_INLINE} : 0U;
  w.imm_data = s.inlet;
  w.wr.rdma.remote_addr = f.there;
  w.wr.rdma.rkey = f.key;
  if (f.how >= ending::fetched) act(f, w);
  return f.how != ending::sent;
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
