// SPDX-License-Identifier: BSD-3-Clause
// api_queues.cpp - libibverbs' functions: queue pairs, shared receive queues, multicast groups.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "api.h"
#include "capacity.h"
#include "context.h"
#include "qp.h"

using namespace hca;

namespace {

bool is_within_limits(const ibv_qp_cap& cap, bool has_srq) noexcept {
  return cap.max_send_wr <= max_queue_depth && cap.max_send_sge <= max_sge &&
         cap.max_inline_data <= max_inline &&
         (has_srq || (cap.max_recv_wr <= max_queue_depth && cap.max_recv_sge <= max_sge));
}

/// What a program gets is at least what it asked for.
void round_up(ibv_qp_cap& cap) noexcept {
  cap.max_send_wr = std::max(cap.max_send_wr, 1U);
  cap.max_recv_wr = std::max(cap.max_recv_wr, 1U);
  cap.max_send_sge = std::max(cap.max_send_sge, 1U);
  cap.max_recv_sge = std::max(cap.max_recv_sge, 1U);
  cap.max_inline_data = (cap.max_inline_data + 63) / 64 * 64;
}

ibv_qp* make_qp(ibv_context* on, ibv_qp_init_attr_ex& how) {
  context& c = context::of(on);
  if (how.qp_type != IBV_QPT_RC && how.qp_type != IBV_QPT_UD) return refuse(EOPNOTSUPP);
  if (how.pd == nullptr || how.send_cq == nullptr || how.recv_cq == nullptr ||
      !is_within_limits(how.cap, how.srq != nullptr))
    return refuse(EINVAL);
  round_up(how.cap);
  return made([&] {
    auto one = std::make_shared<qp>(c.us(), c, how);
    ibv_qp* const api = &one->api()->qp_base;
    c.know(one->number(), api);
    c.us().know(api->qp_num, std::move(one));
    return api;
  });
}

ibv_qp* create_qp_ex(ibv_context* on, ibv_qp_init_attr_ex* how) {
  constexpr std::uint32_t known =
      IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  constexpr std::uint64_t operations = (IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD << 1) - 1;
  if ((how->comp_mask & ~known) != 0) return refuse(EOPNOTSUPP);
  if ((how->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && how->create_flags != 0)
    return refuse(EOPNOTSUPP);
  if ((how->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0 &&
      (how->send_ops_flags & ~operations) != 0)
    return refuse(EOPNOTSUPP);
  return make_qp(on, *how);
}

ibv_srq* make_srq(ibv_pd* pd, void* given, ibv_srq_attr& how) {
  context& c = context::of(pd->context);
  if (how.max_wr < 1 || how.max_wr > max_queue_depth || how.max_sge > max_sge)
    return refuse(EINVAL);
  how.max_sge = std::max(how.max_sge, 1U);
  return made([&] {
    auto one = std::make_unique<srq>(c.us(), c, pd, how);
    ibv_srq* const api = &one->api.api;
    api->srq_context = given;
    c.know(api->handle, api);
    ++domain::of(pd).users;
    (void)one.release();
    return api;
  });
}

ibv_srq* create_srq_ex(ibv_context*, ibv_srq_init_attr_ex* how) {
  const bool plain =
      (how->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 || how->srq_type == IBV_SRQT_BASIC;
  if (!plain || (how->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0) return refuse(EOPNOTSUPP);
  return make_srq(how->pd, how->srq_context, how->attr);
}

int post_send(ibv_qp* api, ibv_send_wr* list, ibv_send_wr** bad) {
  return qp::of(api).post_send(list, bad);
}
int post_recv(ibv_qp* api, ibv_recv_wr* list, ibv_recv_wr** bad) {
  return qp::of(api).post_recv(list, bad);
}
int post_srq_recv(ibv_srq* api, ibv_recv_wr* list, ibv_recv_wr** bad) {
  return srq::of(api).queue.post(list, bad);
}

/// The group, or a free place if `make`. Holding the fabric's lock. nullptr: none.
group_entry* find_group(fabric_file& file, const std::array<std::uint64_t, 2>& gid, bool make) {
  group_entry* free = nullptr;
  for (group_entry& g : file.groups) {
    // Relaxed, all here: only changed under the lock.
    const std::uint64_t high = g.gid[0].load(std::memory_order_relaxed);
    if (high == gid[0] && g.gid[1].load(std::memory_order_relaxed) == gid[1]) return &g;
    if (high == 0 && free == nullptr) free = &g;
  }
  if (!make || free == nullptr) return nullptr;
  free->gid[1].store(gid[1], std::memory_order_relaxed);
  free->gid[0].store(gid[0], std::memory_order_relaxed);
  return free;
}

/// Puts `to` where `from` was among the group's members.
int change_member(qp& one, const union ibv_gid* gid, std::uint32_t from, std::uint32_t to) {
  if (one.made().qp_type != IBV_QPT_UD || gid->raw[0] != 0xff) return EINVAL;
  std::array<std::uint64_t, 2> wanted{};
  std::memcpy(wanted.data(), gid->raw, sizeof gid->raw);
  hca::fabric& f = one.on().us().fabric();
  const auto held = f.lock();
  group_entry* const g = find_group(f.file(), wanted, to != 0);
  if (g == nullptr) return to != 0 ? ENOMEM : EINVAL;
  for (auto& member : g->members) {
    if (member.load(std::memory_order_relaxed) != from) continue;  // relaxed: under the lock
    member.store(to, std::memory_order_relaxed);                   // relaxed: see send_to_group()
    return 0;
  }
  return to != 0 ? ENOMEM : EINVAL;
}

}  // namespace

void hca::set_queue_operations(verbs_context& verbs) noexcept {
  verbs.create_qp_ex = create_qp_ex;
  verbs.create_srq_ex = create_srq_ex;
  verbs.context.ops.post_send = post_send;
  verbs.context.ops.post_recv = post_recv;
  verbs.context.ops.post_srq_recv = post_srq_recv;
}

SOFTHCA_API ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* how) {
  ibv_qp_init_attr_ex all{};
  std::memcpy(&all, how, sizeof *how);  // the one begins with the other
  all.comp_mask = IBV_QP_INIT_ATTR_PD;
  all.pd = pd;
  ibv_qp* const made_one = make_qp(pd->context, all);
  if (made_one != nullptr) how->cap = all.cap;
  return made_one;
}
SOFTHCA_API ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* api) {
  const ibv_qp_init_attr_ex& how = qp::of(api).made();
  return (how.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0 ? qp::of(api).api() : nullptr;
}
SOFTHCA_API int ibv_modify_qp(ibv_qp* api, ibv_qp_attr* to, int mask) {
  return qp::of(api).modify(*to, mask);
}
SOFTHCA_API int ibv_query_qp(ibv_qp* api, ibv_qp_attr* into, int, ibv_qp_init_attr* how) {
  qp& one = qp::of(api);
  one.query(*into);
  std::memcpy(how, &one.made(), sizeof *how);
  return 0;
}
SOFTHCA_API int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, std::uint32_t) {
  return 0;
}
SOFTHCA_API int ibv_query_ece(ibv_qp*, ibv_ece* into) {
  *into = {};
  return 0;
}
SOFTHCA_API int ibv_set_ece(ibv_qp*, ibv_ece* ece) {
  if (ece->vendor_id != 0) return EOPNOTSUPP;
  return 0;
}
SOFTHCA_API int ibv_destroy_qp(ibv_qp* api) {
  qp& one = qp::of(api);
  const auto kept = one.shared_from_this();
  one.on().forget(one.number());
  one.withdraw();
  return 0;
}

SOFTHCA_API ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* how) {
  return make_srq(pd, how->srq_context, how->attr);
}
SOFTHCA_API int ibv_modify_srq(ibv_srq* api, ibv_srq_attr* to, int mask) {
  if ((mask & IBV_SRQ_MAX_WR) != 0) return EOPNOTSUPP;
  if ((mask & IBV_SRQ_LIMIT) == 0) return 0;
  srq& one = srq::of(api);
  if (to->srq_limit > one.queue.shared().capacity) return EINVAL;
  one.queue.set_limit(to->srq_limit);
  return 0;
}
SOFTHCA_API int ibv_query_srq(ibv_srq* api, ibv_srq_attr* into) {
  const shared_receives& all = srq::of(api).queue.shared();
  *into = {all.capacity, all.most_sges, all.limit};
  return 0;
}
SOFTHCA_API int ibv_destroy_srq(ibv_srq* api) {
  srq& one = srq::of(api);
  if (one.users != 0) return EBUSY;
  one.on.forget(api->handle);
  --domain::of(api->pd).users;
  delete &one;
  return 0;
}

SOFTHCA_API int ibv_attach_mcast(ibv_qp* api, const union ibv_gid* gid, std::uint16_t) {
  return change_member(qp::of(api), gid, 0, api->qp_num);
}
SOFTHCA_API int ibv_detach_mcast(ibv_qp* api, const union ibv_gid* gid, std::uint16_t) {
  return change_member(qp::of(api), gid, api->qp_num, 0);
}
