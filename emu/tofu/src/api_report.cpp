// SPDX-License-Identifier: BSD-3-Clause
// api_report.cpp - softtofu.h: what only the software device can tell.
#include <softtofu.h>

#include <cstdio>

#include "api.h"
#include "timing.h"

namespace {

using namespace tofu;

/// "1x1x1x2x3x2", or a node's coordinates.
std::string joined(const coordinates& at, char separator) {
  std::string text;
  for (const unsigned one : at) text += std::to_string(one) + separator;
  text.pop_back();
  return text;
}

void print_processes(const machine& m) {
  for (unsigned slot = 0; slot < max_processes; ++slot) {
    const process_entry& p = m.process(slot);
    if (p.start_time == 0) continue;
    const std::uint32_t life = p.life.load(std::memory_order_relaxed);  // relaxed: see lives()
    std::printf("  process %u: pid %d on node %u (%s)%s\n", slot, p.pid, p.node,
                joined(m.coordinates_of(p.node), ',').c_str(),
                (life & host::life_ended) != 0 ? ", dead" : "");
  }
}

void print_cqs(const machine& m) {
  for (unsigned i = 0; i < m.nodes() * tnis_per_node * cqs_per_tni; ++i) {
    const unsigned cq = i % cqs_per_tni, tni = i / cqs_per_tni % tnis_per_node;
    const unsigned node = i / (tnis_per_node * cqs_per_tni);
    const cq_entry& e = m.entry(node, tni, cq);
    const std::uint64_t claim = e.claim.load(std::memory_order_acquire);  // A1 pairs with R1
    if ((claim & claim_used) == 0) continue;
    std::printf("  node %u TNI %u CQ %u: process %u, cmp_ids %#lx\n", node, tni, cq,
                e.process.load(std::memory_order_relaxed), claim & 0xff);  // relaxed: see A1
  }
}

}  // namespace

TOFU_API void softtofu_help(void) {
  std::fputs(help_text().c_str(), stdout);
}

TOFU_API void softtofu_info(void) {
  guarded([] {
    const auto m = machine::look();
    if (!m) {
      std::printf("machine \"%s\": none\n", job_name().c_str());
      return 0;
    }
    std::printf("machine \"%s\": %s nodes\n", job_name().c_str(),
                joined(m->lengths(), 'x').c_str());
    print_processes(*m);
    print_cqs(*m);
    return 0;
  });
}

TOFU_API unsigned long softtofu_virtual_ns(void) {
  return virtual_now();
}
