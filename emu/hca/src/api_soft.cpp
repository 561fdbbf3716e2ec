// SPDX-License-Identifier: BSD-3-Clause
// api_soft.cpp - the functions of softhca.h.
#include "api.h"
#include "context.h"
#include "softhca.h"

using namespace hca;

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
  process& us = c.us();
  const place at = c.at(port);
  std::atomic<std::uint32_t>& down = us.fabric().port(at);
  // Relaxed: what is under way goes through or not.
  if (down.exchange(up != 0 ? 0 : 1, std::memory_order_relaxed) == (up != 0 ? 0 : 1)) return 0;
  const auto held = us.fabric().lock();
  for (const context_entry& e : us.fabric().file().contexts) {
    if (e.process == 0 || e.node != at.node || e.device != at.device) continue;
    us.pipes().put(e.pid, e.async,
                   async_record{up != 0 ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, port});
  }
  return 0;
}
