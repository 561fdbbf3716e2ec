// SPDX-License-Identifier: BSD-3-Clause
// api_events.cpp - libibverbs' functions: asynchronous events.
#include "api.h"
#include "context.h"
#include "cq.h"
#include "qp.h"

using namespace hca;

namespace {

enum class kind_of { cq, qp, srq, port };

kind_of kind(ibv_event_type type) noexcept {
  switch (type) {
    case IBV_EVENT_CQ_ERR:
      return kind_of::cq;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return kind_of::srq;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
      return kind_of::qp;
    default:
      return kind_of::port;
  }
}

/// False: what the event is of is gone.
bool fill(context& c, const async_record& from, ibv_async_event& into) {
  into.event_type = static_cast<ibv_event_type>(from.type);
  switch (kind(into.event_type)) {
    case kind_of::cq:
      into.element.cq = reinterpret_cast<ibv_cq*>(c.find<ibv_cq_ex>(from.number));
      return into.element.cq != nullptr;
    case kind_of::qp:
      into.element.qp = c.find<ibv_qp>(from.number);
      return into.element.qp != nullptr;
    case kind_of::srq:
      into.element.srq = c.find<ibv_srq>(from.number);
      return into.element.srq != nullptr;
    default:
      into.element.port_num = static_cast<int>(from.number);
      return true;
  }
}

}  // namespace

SOFTHCA_API int ibv_get_async_event(ibv_context* api, ibv_async_event* into) {
  context& c = context::of(api);
  for (;;) {
    async_record record{};
    if (c.async().get(record) != 0) return -1;
    if (fill(c, record, *into)) return 0;
  }
}
SOFTHCA_API void ibv_ack_async_event(ibv_async_event*) {}
