// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/generate_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace heddle::fuzz {

std::uint64_t dice::size(std::uint64_t most) {
  static constexpr std::array<std::uint64_t, 16> edges{
      0, 1, 8, 32, 64, 200, 256, 1024, 4096, 8192, 16384, 65536, 262144, 524288, 1048576, 2097152};
  const int kind = below(10);
  std::uint64_t n = edges[static_cast<std::size_t>(below(kind < 5 ? 8 : kind < 9 ? 13 : 16))];
  n += static_cast<std::uint64_t>(between(0, 4));
  n -= std::min<std::uint64_t>(n, 2);
  return percent(10) ? any() % (most + 1) : std::min(n, most);
}

namespace {

void set(plan& p, const std::string& name, const std::string& value, int rank = all_ranks) {
  p.settings.push_back({rank, name, value});
}

/// The software card: when it works, how it is addressed, its rails, and little of everything.
void draw_card(plan& p, dice& d) {
  const char* const mode = d.one_of<const char*>({"inline", "engine", "chaos"});
  set(p, "SOFTHCA_MODE", mode);
  // In chaos an acknowledged put may not be seen yet, which hardware does not show.
  set(p, "HEDDLE_VERBS_PUT_ENDS", std::string(mode) == "chaos" ? "visible" : "acknowledged");
  if (d.percent(30)) set(p, "SOFTHCA_LINK", "roce");
  if (d.percent(20)) set(p, "SOFTHCA_DEVICES", "2");
  if (d.percent(20)) set(p, "SOFTHCA_PORTS", "2");
  if (d.percent(20)) set(p, "SOFTHCA_THREAD_DOMAINS", d.one_of<const char*>({"0", "1"}));
  if (d.percent(20)) set(p, "HEDDLE_VERBS_DEPTH", "16");
  if (d.percent(20)) set(p, "HEDDLE_VERBS_RECEIVES", "64");
}

void draw_wire(plan& p, dice& d, const std::string& wire) {
  const bool mixed = wire.find('+') != std::string::npos;
  std::string backends = wire;
  std::replace(backends.begin(), backends.end(), '+', ',');
  set(p, "HEDDLE_BACKENDS", backends);
  if (wire.find("utofu") != std::string::npos) {
    set(p, "SOFTTOFU_MODE", d.one_of<const char*>({"inline", "lazy", "engine", "chaos"}));
    if (d.percent(30)) set(p, "SOFTTOFU_PPN", "2");
  }
  if (wire.find("verbs") != std::string::npos) draw_card(p, d);
  for (int r = 0; mixed && r < p.ranks; ++r)
    set(p, "HEDDLE_HOST", d.percent(50) ? "left" : "right", r);
  // Rails of the loopback, which does not leave a pretended host.
  if (wire == "tcp" && d.percent(40))
    set(p, "HEDDLE_TCP_IFACE", d.one_of<const char*>({"127.0.0.1,127.0.0.2", "lo,lo,lo"}));
}

/// The least of everything, now and then.
void draw_settings(plan& p, dice& d) {
  struct choice {
    const char* name;
    std::vector<std::string> values;
  };
  static const std::array choices{
      choice{"HEDDLE_EAGER_BYTES", {"1", "64", "1K", "100000"}},
      choice{"HEDDLE_SHM_RING_BYTES", {"4K", "8K"}},
      choice{"HEDDLE_CREDIT_BYTES", {"4K", "8K", "64K"}},
      choice{"HEDDLE_UNEXPECTED_BYTES", {"0", "1K", "64K"}},
      choice{"HEDDLE_RECORDS", {"16", "24", "64"}},
      choice{"HEDDLE_TCP_CHUNK_BYTES", {"4K", "64K"}},
      choice{"HEDDLE_STRIPE_BYTES", {"0", "1", "1K", "64K"}},
      choice{"HEDDLE_UTOFU_RING_BYTES", {"16K", "64K"}},
      choice{"HEDDLE_UTOFU_STAGE_BYTES", {"32", "1K"}},
      choice{"HEDDLE_SPIN_US", {"0", "5", "auto"}},
      choice{"HEDDLE_SHM_CMA", {"off"}},
      choice{"HEDDLE_EXECUTORS", {"2", "3"}},
      choice{"HEDDLE_RCACHE", {"off", "hooks"}},
      choice{"HEDDLE_RCACHE_ENTRIES", {"1", "2"}},
      choice{"HEDDLE_TCP_CRYPT", {"on", "chacha20"}},
  };
  for (const choice& c : choices)
    if (d.percent(20)) set(p, c.name, d.one_of(c.values));
  static const std::vector<std::string> modes{"adaptive", "inline", "dedicated", "idle"};
  set(p, "HEDDLE_PROGRESS", d.one_of(modes));
}

void draw_faults(plan& p, dice& d) {
  std::string faults = fmt::format("seed={}", d.between(1, 99));
  if (d.percent(50)) faults += fmt::format(",delay={}", d.between(1, 8));
  if (d.percent(50)) faults += ",reorder=30";
  if (d.percent(50)) faults += ",busy=30";
  if (d.percent(50)) faults += ",split=40";
  if (d.percent(60)) faults += ",map=off";
  set(p, "HEDDLE_FAULTS", faults);
}

/// Two ranks of a node with two worlds each find no control queue left for 24 lanes a world.
void draw_second_world(plan& p) {
  set(p, "second_world", "1");
  if (!p.value_of("SOFTTOFU_PPN", 0).empty()) set(p, "HEDDLE_UTOFU_LANES", "12");
}

void draw_misery(plan& p, dice& d, weather sky) {
  const int victim = d.below(p.ranks);
  if (sky == weather::poor) {
    const bool memory = d.percent(30);
    set(p, memory ? "ulimit_megabytes" : "ulimit_descriptors",
        fmt::format("{}", memory ? d.between(1, 24) : d.between(0, 12)), victim);
  }
  if (sky == weather::deadly && d.percent(30))
    set(p, "HEDDLE_FAULTS", fmt::format("seed=1,kill={}@{}", victim, d.between(1, 60)),
        (victim + 1) % p.ranks);
}

}  // namespace

void draw_job(plan& p, dice& d, const wishes& w, devices there, weather sky) {
  p.ranks = d.one_of({2, 2, 3, 4});
  p.threads = d.one_of({1, 1, 2, 2, 3, 4});
  draw_wire(p, d, w.wire.empty() ? d.one_of(wires(there)) : w.wire);
  draw_settings(p, d);
  if (d.percent(40)) draw_faults(p, d);
  if (sky == weather::fair && d.percent(15)) draw_second_world(p);
  draw_misery(p, d, sky);
  // Long enough on a busy machine, where nobody dies.
  const bool some_end = sky == weather::deadly || sky == weather::poor;
  set(p, "HEDDLE_PEER_TIMEOUT_MS", some_end ? "6000" : "60000");
  const int shared = d.between(1, 2);
  for (int i = 0; i < shared; ++i) p.lanes.push_back({i, -1});
  for (int t = 0; t < p.threads; ++t)
    if (d.percent(60)) p.lanes.push_back({static_cast<int>(p.lanes.size()), t});
}

void draw_areas(plan& p, dice& d, int phases, bool harsh) {
  const int count = d.between(1, 3);
  for (int i = 0; i < count; ++i) {
    area a;
    a.id = i;
    a.kind = static_cast<area_kind>(d.below(3));
    a.owner = a.kind == area_kind::symmetric ? all_ranks : d.below(p.ranks);
    a.bytes = d.one_of<std::uint64_t>({200, 4096, 70000, 600000});
    a.allowed = d.percent(65) ? 7 : d.between(0, 7);
    a.first = harsh || d.percent(60) ? 0 : d.below(phases);
    const bool ends = !harsh && a.kind != area_kind::symmetric && d.percent(50);
    a.last = ends ? d.between(a.first, phases) : 1000;
    p.areas.push_back(a);
  }
}

}  // namespace heddle::fuzz
