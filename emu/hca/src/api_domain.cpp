// SPDX-License-Identifier: BSD-3-Clause
// api_domain.cpp - libibverbs' functions: domains, registered memory and address handles.
#include <cstring>
#include <memory>
#include <utility>

#include "api.h"
#include "context.h"
#include "domain.h"
#include "handle.h"

using namespace hca;

namespace {

struct region {
  handle<ibv_mr, region> api;
  domain* under = nullptr;
  unsigned access = 0;

  region() = default;
  region(const region&) = delete;
  region& operator=(const region&) = delete;
  ~region() {
    if (owner_ != nullptr) owner_->unlock_memory(locked_);
  }
  /// False: the process may not lock so much more.
  [[nodiscard]] bool lock(process& us, std::uint64_t bytes) noexcept {
    if (!us.lock_memory(bytes)) return false;
    owner_ = &us;
    locked_ = bytes;
    return true;
  }

  /// Each is registered as the other was; the handles stay.
  void swap_with(region& other) noexcept {
    std::swap(static_cast<ibv_mr&>(api.api), static_cast<ibv_mr&>(other.api.api));
    std::swap(under, other.under);
    std::swap(access, other.access);
    std::swap(owner_, other.owner_);
    std::swap(locked_, other.locked_);
  }

 private:
  process* owner_ = nullptr;  // nullptr: nothing is locked
  std::uint64_t locked_ = 0;
};

struct address {
  handle<ibv_ah, address> api;
  ibv_ah_attr to{};
  domain* under = nullptr;
};

domain& root_of(ibv_pd* pd) noexcept {
  domain& given = domain::of(pd);
  return given.parent != nullptr ? *given.parent : given;
}

ibv_td* alloc_td(ibv_context* on, ibv_td_init_attr* how) {
  context& c = context::of(on);
  if (how->comp_mask != 0) return refuse(EINVAL);
  if (c.thread_domains.fetch_add(1) >= c.us().set()[knob::thread_domains]) {
    --c.thread_domains;  // as on hardware that has no doorbell page left
    return refuse(ENOMEM);
  }
  return made([&] {
    auto* const td = new thread_domain;
    td->api.object = td;
    td->api.api.context = on;
    return &td->api.api;
  });
}

int dealloc_td(ibv_td* api) {
  auto& td = object_of<thread_domain, ibv_td>(api);
  if (td.users != 0) return EBUSY;
  --context::of(api->context).thread_domains;
  delete &td;
  return 0;
}

ibv_pd* make_domain(ibv_context* on) {
  return made([&] {
    auto* const d = new domain;
    d->api.object = d;
    d->api.api.context = on;
    d->number = d->api.api.handle = context::of(on).us().next_number();
    ++context::of(on).domains;
    return &d->api.api;
  });
}

ibv_pd* alloc_parent_domain(ibv_context* on, ibv_parent_domain_init_attr* how) {
  if (how->pd == nullptr || (how->comp_mask & ~3U) != 0) return refuse(EINVAL);
  ibv_pd* const api = make_domain(on);
  if (api == nullptr) return nullptr;
  domain& d = domain::of(api);
  d.parent = &root_of(how->pd);
  d.number = d.parent->number;
  ++d.parent->users;
  if (how->td == nullptr) return api;
  d.td = &object_of<thread_domain, ibv_td>(how->td);
  ++d.td->users;
  return api;
}

int advise_mr(ibv_pd*, ibv_advise_mr_advice, std::uint32_t, ibv_sge*, std::uint32_t) {
  return EOPNOTSUPP;
}

/// Rights that need others.
bool is_sound(unsigned access) noexcept {
  constexpr unsigned writing = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  return (access & writing) == 0 || (access & IBV_ACCESS_LOCAL_WRITE) != 0;
}

ibv_mr* register_memory(ibv_pd* pd, void* address, std::size_t bytes, std::uint64_t iova,
                        unsigned access) {
  process& us = context::of(pd->context).us();
  const bool on_demand = (access & IBV_ACCESS_ON_DEMAND) != 0;
  if ((access & IBV_ACCESS_MW_BIND) != 0 || (on_demand && !us.set().on(knob::odp)))
    return refuse(EOPNOTSUPP);
  if (!is_sound(access) || address == nullptr) return refuse(EINVAL);
  if ((access & IBV_ACCESS_ZERO_BASED) != 0) iova = 0;
  return made([&]() -> ibv_mr* {
    auto one = std::make_unique<region>();
    if (!on_demand && !one->lock(us, bytes)) return refuse(ENOMEM);
    const std::uint32_t lkey = us.keys().add(0, root_of(pd).number, access, iova,
                                             reinterpret_cast<std::uint64_t>(address), bytes);
    if (lkey == 0) return refuse(ENOMEM);
    one->under = &domain::of(pd);
    ++one->under->users;
    one->access = access;
    one->api.object = one.get();
    ibv_mr& mr = one->api.api;
    mr.context = pd->context;
    mr.pd = pd;
    mr.addr = address;
    mr.length = bytes;
    mr.handle = mr.lkey = lkey;
    mr.rkey = lkey | rkey_bit;
    return &one.release()->api.api;
  });
}

}  // namespace

const ibv_ah_attr& hca::address_of(ibv_ah* ah) noexcept {
  return object_of<address, ibv_ah>(ah).to;
}

void hca::set_domain_operations(verbs_context& verbs) noexcept {
  verbs.alloc_td = alloc_td;
  verbs.dealloc_td = dealloc_td;
  verbs.alloc_parent_domain = alloc_parent_domain;
  verbs.advise_mr = advise_mr;
}

SOFTHCA_API ibv_pd* ibv_alloc_pd(ibv_context* on) {
  return make_domain(on);
}
SOFTHCA_API int ibv_dealloc_pd(ibv_pd* api) {
  domain& d = domain::of(api);
  if (d.users != 0) return EBUSY;
  if (d.parent != nullptr) --d.parent->users;
  if (d.td != nullptr) --d.td->users;
  --context::of(api->context).domains;
  delete &d;
  return 0;
}
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
SOFTHCA_API ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) {
  return register_memory(pd, address, bytes, reinterpret_cast<std::uint64_t>(address),
                         static_cast<unsigned>(access));
}
SOFTHCA_API ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t bytes,
                                    std::uint64_t iova, int access) {
  return register_memory(pd, address, bytes, iova, static_cast<unsigned>(access));
}
SOFTHCA_API ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t bytes,
                                     std::uint64_t iova, unsigned access) {
  return register_memory(pd, address, bytes, iova, access);
}
SOFTHCA_API ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int,
                                      int) {
  return refuse(EOPNOTSUPP);
}
SOFTHCA_API int ibv_dereg_mr(ibv_mr* mr) {
  auto& one = object_of<region, ibv_mr>(mr);
  process& us = context::of(mr->context).us();
  us.keys().remove(mr->lkey);
  us.wait_for_deliveries();
  --one.under->users;
  delete &one;
  return 0;
}

/// The keys change with every call; where it fails, all is as it was.
SOFTHCA_API int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t bytes,
                             int access) {
  constexpr int all =
      IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS;
  auto& one = object_of<region, ibv_mr>(mr);
  if (flags == 0 || (flags & ~all) != 0) {
    errno = EINVAL;
    return IBV_REREG_MR_ERR_INPUT;
  }
  const bool moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
  void* const to = moves ? address : mr->addr;
  ibv_mr* const made = register_memory(
      (flags & IBV_REREG_MR_CHANGE_PD) != 0 ? pd : mr->pd, to, moves ? bytes : mr->length,
      reinterpret_cast<std::uint64_t>(to),
      (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0 ? static_cast<unsigned>(access) : one.access);
  if (made == nullptr) return IBV_REREG_MR_ERR_CMD;
  one.swap_with(object_of<region, ibv_mr>(made));
  ibv_dereg_mr(made);
  return 0;
}

SOFTHCA_API ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* to) {
  context& c = context::of(pd->context);
  if (to->port_num < 1 || to->port_num > c.ports()) return refuse(EINVAL);
  if (c.us().link() == link_layer::roce && to->is_global == 0) return refuse(EINVAL);
  return made([&] {
    auto* const one = new address;
    one->api.object = one;
    one->api.api.context = pd->context;
    one->api.api.pd = pd;
    one->to = *to;
    one->under = &domain::of(pd);
    ++one->under->users;
    return &one->api.api;
  });
}
SOFTHCA_API int ibv_destroy_ah(ibv_ah* ah) {
  auto& one = object_of<address, ibv_ah>(ah);
  --one.under->users;
  delete &one;
  return 0;
}
SOFTHCA_API int ibv_init_ah_from_wc(ibv_context*, std::uint8_t port, ibv_wc* wc, ibv_grh* grh,
                                    ibv_ah_attr* into) {
  *into = {};
  into->dlid = wc->slid;
  into->sl = wc->sl;
  into->port_num = port;
  if ((wc->wc_flags & IBV_WC_GRH) == 0) return 0;
  into->is_global = 1;
  into->grh.dgid = grh->sgid;
  into->grh.hop_limit = 64;
  return 0;
}
SOFTHCA_API ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port) {
  ibv_ah_attr to;
  ibv_init_ah_from_wc(pd->context, port, wc, grh, &to);
  return ibv_create_ah(pd, &to);
}
SOFTHCA_API int ibv_resolve_eth_l2_from_gid(ibv_context*, ibv_ah_attr* to, std::uint8_t mac[6],
                                            std::uint16_t* vid) {
  std::memcpy(mac, to->grh.dgid.raw + 10, 6);
  *vid = 0xffff;
  return 0;
}
