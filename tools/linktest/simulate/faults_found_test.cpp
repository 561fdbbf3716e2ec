// SPDX-License-Identifier: BSD-3-Clause
// faults_found_test.cpp - injected faults of every class are found and named, in many simulated
// networks, and nothing is found where there is nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "linktest/plan/permutation.h"
#include "linktest/simulate/simulated_run.h"

namespace heddle::linktest {
namespace {

constexpr std::uint64_t sample = 24;

/// A network, its settings and one fault, all from a seed.
struct made_up_case {
  explicit made_up_case(std::uint64_t number) : seed(number + 1), word(mix(number)) {
    settings.seed = seed;
    settings.one_way = true;
    fault.what = static_cast<culprit>(number % 6);
    settings.rails = fault.what == culprit::rail ? 2 : 1;
    fault.factor = 1.8 + static_cast<double>(draw(300)) / 100;
    fault.node = static_cast<int>(draw(hosts()));
    if (fault.what == culprit::rail) fault.rail = static_cast<int>(draw(2));
    if (fault.what == culprit::link || fault.what == culprit::contention) choose_pair();
    if (fault.what == culprit::link && number % 12 < 6) choose_cable();
  }

  std::uint64_t draw(std::uint64_t below) { return (word = mix(word)) % below; }
  [[nodiscard]] std::uint64_t hosts() const {
    return std::array<std::uint64_t, 3>{64, 128, 250}[seed % 3];
  }
  [[nodiscard]] fabric network() const {
    return {static_cast<shape>(seed / 3 % 3), 0, static_cast<int>(hosts())};
  }
  /// One that is measured: a sample cannot find what it does not touch.
  void choose_pair() {
    const plan p(static_cast<int>(hosts()), run_mode::parallel, false, seed, sample);
    fault.peer =
        static_cast<int>(p.partner(fault.node, 0, static_cast<std::int64_t>(draw(sample))));
  }
  /// One between switches that several measurements cross.
  void choose_cable() {
    const fabric where = network();
    std::vector<std::uint32_t> crossed(where.cables()), route;
    for (const observation& o : simulated_run(where, settings, {}, sample).measure()) {
      route.clear();
      where.route(o.from, o.to, route);
      for (const std::uint32_t c : route) ++crossed[c];
    }
    do fault.cable = static_cast<std::int64_t>(draw(where.cables()));
    while (crossed[static_cast<std::size_t>(fault.cable)] < 8);
    fault.node = fault.peer = -1;
  }

  [[nodiscard]] bool named_by(const verdict& v) const {
    if (v.what != fault.what) return false;
    if (fault.cable < 0)
      return v.node == fault.node && v.peer == fault.peer && v.rail == fault.rail;
    const std::string name = network().cable_name(static_cast<std::uint32_t>(fault.cable));
    return v.cable == name ||
           std::find(v.or_else.begin(), v.or_else.end(), name) != v.or_else.end();
  }

  std::uint64_t seed, word;
  simulated_network::how settings;
  simulated_fault fault;
};

TEST(Diagnosis, NamesClassAndCulpritOfTheInjectedFaultIn190Of200SeededNetworks) {
  int right = 0;
  std::string wrong;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const made_up_case c(number);
    const diagnosis d = simulated_run(c.network(), c.settings, {c.fault}, sample).run();
    const bool named = d.verdicts.size() == 1 && c.named_by(d.verdicts.front());
    right += named ? 1 : 0;
    if (!named) wrong += "case " + std::to_string(number) + ": " + in_words(d, {});
  }
  EXPECT_GE(right, 190) << wrong;
}

TEST(Diagnosis, FindsNothingInAtLeast198Of200HealthyNetworks) {
  int alarms = 0;
  std::string words;
  for (std::uint64_t number = 0; number < 200; ++number) {
    made_up_case c(number);
    c.settings.seed = 1000 + number;
    c.settings.one_way = number % 2 == 0;
    const diagnosis d = simulated_run(c.network(), c.settings, {}, sample).run();
    alarms += d.verdicts.empty() ? 0 : 1;
    if (!d.verdicts.empty()) words += in_words(d, {});
  }
  EXPECT_LE(alarms, 2) << words;
}

TEST(Diagnosis, FindsThreeFaultsAtOnce) {
  simulated_network::how settings;
  const auto faults = parse_simulated_faults("node_tx=10:2,node=99:1.8,link=5-77:3");
  const plan p(128, run_mode::parallel, false, settings.seed, sample);
  auto three = faults;
  three[2].peer = static_cast<int>(p.partner(5, 0, 4));
  const diagnosis d = simulated_run({shape::fattree, 0, 128}, settings, three, sample).run();
  ASSERT_EQ(d.verdicts.size(), 3u);
  std::set<culprit> found;
  for (const verdict& v : d.verdicts) found.insert(v.what);
  EXPECT_EQ(found, (std::set{culprit::node_tx, culprit::node, culprit::link}));
}

struct machine {
  const char* name;
  shape form;
  int hosts;
};

/// 158,976 hosts, and 1,800,000 ranks of which 64 share a host: hosts are what is tested.
TEST(Diagnosis, NamesFaultsOfTheLargestMachinesFromAFewMatchings) {
  for (const machine& m : {machine{"158,976 hosts", shape::fattree, 158'976},
                           machine{"1,800,000 ranks", shape::dragonfly, 1'800'000 / 64}}) {
    simulated_network::how settings;
    const fabric where(m.form, 0, m.hosts);
    const auto faults = parse_simulated_faults("node_rx=17777:2,node=23456:2.5,link=cable1234:3");
    simulated_run job(where, settings, faults, 8);
    EXPECT_LT(sizeof(plan), 1024u * 1024u);
    const diagnosis d = job.run();
    ASSERT_GE(d.verdicts.size(), 3u) << m.name << in_words(d, {});
    std::set<std::string> found;
    for (const verdict& v : d.verdicts)
      if (v.what != culprit::contention)
        found.insert(std::string(name_of(v.what)) +
                     (v.cable.empty() ? std::to_string(v.node) : v.cable));
    EXPECT_EQ(found,
              (std::set<std::string>{"node_rx17777", "node23456", "link" + where.cable_name(1234)}))
        << m.name << in_words(d, {});
  }
}

}  // namespace
}  // namespace heddle::linktest
