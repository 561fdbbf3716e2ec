// SPDX-License-Identifier: BSD-3-Clause
// api_cq.cpp - libibverbs' functions: completion queues and channels.
#include <memory>

#include "api.h"
#include "capacity.h"
#include "context.h"
#include "cq.h"

using namespace hca;

namespace {

ibv_cq_ex* make_cq(ibv_context* on, const ibv_cq_init_attr_ex& how) {
  context& c = context::of(on);
  if (how.cqe < 1 || how.cqe > max_cqes) return refuse(EINVAL);
  if (how.comp_vector >= static_cast<unsigned>(on->num_comp_vectors)) return refuse(EINVAL);
  return made([&] {
    auto one = std::make_unique<cq>(c.us(), c, how, c.async().address());
    c.know(one->number(), one->api());
    return one.release()->api();
  });
}

ibv_cq_ex* create_cq_ex(ibv_context* on, ibv_cq_init_attr_ex* how) {
  constexpr std::uint64_t flags = std::uint64_t{IBV_WC_STANDARD_FLAGS} |
                                  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                                  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
  if ((how->wc_flags & ~flags) != 0 || (how->comp_mask & ~3U) != 0) return refuse(EOPNOTSUPP);
  return make_cq(on, *how);
}

int poll_cq(ibv_cq* api, int most, ibv_wc* into) {
  return cq::of(api).poll(most, into);
}

int req_notify_cq(ibv_cq* api, int solicited_only) {
  cq::of(api).arm(solicited_only != 0);
  return 0;
}

}  // namespace

void hca::set_cq_operations(verbs_context& verbs) noexcept {
  verbs.create_cq_ex = create_cq_ex;
  verbs.context.ops.poll_cq = poll_cq;
  verbs.context.ops.req_notify_cq = req_notify_cq;
}

SOFTHCA_API ibv_cq* ibv_create_cq(ibv_context* on, int entries, void* given, ibv_comp_channel* over,
                                  int vector) {
  if (entries < 1 || vector < 0) return refuse(EINVAL);
  ibv_cq_init_attr_ex how{};
  how.cqe = static_cast<std::uint32_t>(entries);
  how.cq_context = given;
  how.channel = over;
  how.comp_vector = static_cast<std::uint32_t>(vector);
  return reinterpret_cast<ibv_cq*>(make_cq(on, how));
}
SOFTHCA_API int ibv_resize_cq(ibv_cq* api, int entries) {
  if (entries < 1) return EINVAL;
  return cq::of(api).resize(static_cast<std::uint32_t>(entries));
}
SOFTHCA_API int ibv_destroy_cq(ibv_cq* api) {
  cq& one = cq::of(api);
  if (one.users != 0) return EBUSY;
  one.on().forget(one.number());
  one.events().wait_for_acknowledgements();
  delete &one;
  return 0;
}

SOFTHCA_API ibv_comp_channel* ibv_create_comp_channel(ibv_context* on) {
  return made([&]() -> ibv_comp_channel* {
    auto one = std::make_unique<channel>();
    if (!one->pipe) return refuse(EMFILE);
    one->api.object = one.get();
    one->api.api.context = on;
    one->api.api.fd = one->pipe.fd();
    return &one.release()->api.api;
  });
}
SOFTHCA_API int ibv_destroy_comp_channel(ibv_comp_channel* api) {
  auto& one = object_of<channel, ibv_comp_channel>(api);
  if (one.users != 0) return EBUSY;
  delete &one;
  return 0;
}
SOFTHCA_API int ibv_get_cq_event(ibv_comp_channel* api, ibv_cq** which, void** given) {
  auto& one = object_of<channel, ibv_comp_channel>(api);
  for (;;) {
    completion_event event{};
    if (one.pipe.get(event) != 0) return -1;
    // An event of a CQ that was destroyed since is nobody's.
    auto* const found =
        context::of(api->context).find<ibv_cq_ex>(static_cast<std::uint32_t>(event.cq));
    if (found == nullptr) continue;
    cq::of(found).events().count();
    *which = reinterpret_cast<ibv_cq*>(found);
    *given = found->cq_context;
    return 0;
  }
}
SOFTHCA_API void ibv_ack_cq_events(ibv_cq* api, unsigned count) {
  cq::of(api).events().acknowledge(count);
}
