// SPDX-License-Identifier: BSD-3-Clause
// api_soft.cpp - the functions of softhca.h.
#include "api.h"
#include "context.h"
#include "softhca.h"

using namespace hca;

namespace {

/// To all processes that have this device open.
void tell_all(context& c, ibv_event_type event, unsigned port) {
  process& us = c.us();
  const place at = c.at(1);
  const auto held = us.fabric().lock();
  for (const context_entry& e : us.fabric().file().contexts) {
    if (e.process == 0 || e.node != at.node || e.device != at.device) continue;
    us.pipes().put(e.pid, e.async, async_record{event, port});
  }
}

/// Whether it was otherwise before.
bool set_down(context& c, unsigned port, bool down) {
  // Relaxed: what is under way goes through or not.
  const std::uint32_t now = down ? 1 : 0;
  return c.us().fabric().port(c.at(port)).exchange(now, std::memory_order_relaxed) != now;
}

}  // namespace

SOFTHCA_API int softhca_read_counters(ibv_context* api, softhca_counters* into) {
  if (api->abi_compat != __VERBS_ABI_IS_EXTENDED) return EINVAL;
  const counters& all = context::of(api).count();
  *into = {all[counter::doorbells], all[counter::work_requests], all[counter::signalled],
           all[counter::inline_bytes]};
  return 0;
}

SOFTHCA_API int softhca_set_port(ibv_context* api, unsigned port, int up) {
  context& c = context::of(api);
  if (port < 1 || port > c.ports()) return EINVAL;
  if (set_down(c, port, up == 0))
    tell_all(c, up != 0 ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, port);
  return 0;
}

SOFTHCA_API void softhca_remove_device(ibv_context* api) {
  context& c = context::of(api);
  for (unsigned port = 1; port <= c.ports(); ++port) set_down(c, port, true);
  tell_all(c, IBV_EVENT_DEVICE_FATAL, 0);
}
