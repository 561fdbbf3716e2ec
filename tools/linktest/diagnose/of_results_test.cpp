// SPDX-License-Identifier: BSD-3-Clause
// of_results_test.cpp - ranks on sockets and hosts: what is far is not slow, and what is slow is
// found.
#include "linktest/diagnose/of_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "linktest/results/pair_class.h"

namespace heddle::linktest {
namespace {

using testing::IsEmpty;

/// Ranks on the hosts and sockets of a machine, one core each.
struct placed_ranks {
  /// By host, how many ranks each of its sockets has, and each of their core complexes at most.
  explicit placed_ranks(const std::vector<std::vector<int>>& sockets, bool one_way = false,
                        int in_complex = 1000) {
    facts.chosen.kernel = one_way ? kernel::uni : kernel::semi;
    facts.chosen.sizes = {1000};
    for (std::size_t h = 0; h < sockets.size(); ++h)
      for (std::size_t s = 0; s < sockets[h].size(); ++s)
        for (int i = 0; i < sockets[h][s]; ++i) {
          facts.hosts.push_back("n" + std::to_string(h));
          const int socket = static_cast<int>(s), core = 1000 * socket + i;
          facts.places.push_back({"", {core}, core / in_complex, socket});
        }
  }
  [[nodiscard]] int ranks() const { return static_cast<int>(facts.hosts.size()); }
  /// On a socket of its own, so that few or no pairs of a class are without it.
  [[nodiscard]] bool has_lonely_rank() const {
    for (int r = 0, near = 0; r < ranks(); ++r, near = 0) {
      for (int p = 0; p < ranks(); ++p)
        near += p != r && class_of(facts, r, p) == pair_class::complex ? 1 : 0;
      if (near == 0) return true;
    }
    return false;
  }
  [[nodiscard]] bool on_host(int rank, const char* host) const {
    return facts.hosts[static_cast<std::size_t>(rank)] == host;
  }
  /// Two-way times are the mean of both ways. A little noise that is the same every time.
  [[nodiscard]] float seconds(int from, int to, int attempt) const {
    constexpr float usual[]{5e-7F, 1e-6F, 1.6e-6F, 2.5e-6F, 5e-6F, 5e-6F};
    const bool one_way = facts.chosen.kernel == kernel::uni;
    const double ways = one_way ? factor(from, to) : (factor(from, to) + factor(to, from)) / 2;
    return usual[static_cast<std::size_t>(class_of(facts, from, to))] * static_cast<float>(ways) *
           (1 + 0.002F * static_cast<float>((from * 7 + to * 3 + attempt) % 5));
  }
  [[nodiscard]] results measure() const {
    results all(ranks(), facts.chosen.kernel, facts.chosen.sizes);
    for (int a = 0; a < ranks(); ++a) {
      row mine(1, ranks(), 1);
      for (int b = 0; b < ranks(); ++b)
        if (a != b) mine.add_time(0, b, static_cast<double>(seconds(a, b, 0)));
      all.set_row(a, mine.records());
    }
    return all;
  }
  [[nodiscard]] diagnosis diagnose(bool with_retests = true) const {
    int attempt = 0;
    const sized_prober retests = [&](std::span<const probe> wanted, std::uint64_t) {
      std::vector<float> out;
      for (const probe& p : wanted) out.push_back(seconds(p.from, p.to, ++attempt));
      return out;
    };
    const plan steps = plan_of(facts.chosen, ranks());
    return diagnose_results(measure(), {facts, steps}, with_retests ? retests : sized_prober{});
  }

  run_facts facts;
  std::function<double(int, int)> factor = [](int, int) { return 1.0; };
};

const std::vector<std::vector<int>> layouts[]{
    {{1, 1}},
    {{2, 1}},
    {{1, 2}},
    {{2, 2}},
    {{2, 3}},
    {{6, 2}},
    {{1, 7}},
    {{4, 4}},
    {{8, 3}},
    {{2, 1}, {2, 1}},
    {{1, 2}, {3, 1}, {2, 2}},
    {{2, 2, 2, 1}},
    {{2, 2}, {3, 2}, {2, 2}},
    {{4, 2}, {2, 3}, {2, 2}, {2, 6}},
    {{2, 2}, {3, 3}},
    {{4, 4}, {4, 2}},
    {{8}, {4}, {6}},
};

TEST(DiagnosisOfResults, AccusesNobodyOfBeingOnAnotherSocketOrHost) {
  for (const auto& layout : layouts) {
    for (const bool one_way : {false, true}) {
      const diagnosis d = placed_ranks(layout, one_way).diagnose();
      EXPECT_THAT(d.verdicts, IsEmpty())
          << testing::PrintToString(layout) << one_way << in_words(d, {});
    }
  }
}

TEST(DiagnosisOfResults, AccusesNobodyOfBeingInAnotherCoreComplex) {
  for (const auto& layout : layouts) {
    for (const int in_complex : {1, 2, 4}) {
      const diagnosis d = placed_ranks(layout, false, in_complex).diagnose();
      EXPECT_THAT(d.verdicts, IsEmpty())
          << testing::PrintToString(layout) << in_complex << in_words(d, {});
    }
  }
}

/// Where each complex has two ranks or more, every class has pairs without the slow one.
void expect_each_slow_rank_found(int in_complex) {
  for (const auto& layout : layouts) {
    for (const bool one_way : {false, true}) {
      placed_ranks m(layout, one_way, in_complex);
      if (m.has_lonely_rank()) continue;
      for (int slow = 0; slow < m.ranks(); ++slow) {
        m.factor = [slow](int a, int b) { return a == slow || b == slow ? 4.0 : 1.0; };
        const diagnosis d = m.diagnose();
        const std::string what =
            testing::PrintToString(layout) + std::to_string(slow) + in_words(d, {});
        ASSERT_EQ(d.verdicts.size(), 1u) << what;
        EXPECT_EQ(d.verdicts[0].what, culprit::node) << what;
        EXPECT_EQ(d.verdicts[0].node, slow) << what;
      }
    }
  }
}

TEST(DiagnosisOfResults, FindsEachSlowRankAmongUnevenSockets) {
  expect_each_slow_rank_found(1000);
}

TEST(DiagnosisOfResults, FindsEachSlowRankAmongSeveralComplexesOfASocket) {
  for (const int in_complex : {2, 3, 4}) expect_each_slow_rank_found(in_complex);
}

TEST(DiagnosisOfResults, IsOfTheRailThatWasMeasuredAlone) {
  placed_ranks m({{1}, {1}, {1}, {1}}, true);
  m.facts.chosen.layer = "wide.rail1";
  m.factor = [](int from, int) { return from == 2 ? 4.0 : 1.0; };
  const diagnosis d = m.diagnose();
  ASSERT_EQ(d.verdicts.size(), 1u) << in_words(d, {});
  EXPECT_EQ(d.verdicts[0].what, culprit::node_tx) << "of other rails nothing is known";
  EXPECT_EQ(d.verdicts[0].rail, 1);
}

TEST(DiagnosisOfResults, NamesARankOnceThatIsSlowWithinItsHostAndBeyond) {
  placed_ranks m({{3}, {3}, {3}, {3}}, true);
  m.factor = [](int a, int b) { return a == 4 || b == 4 ? 4.0 : 1.0; };
  for (const bool with_retests : {false, true}) {
    const diagnosis d = m.diagnose(with_retests);
    ASSERT_EQ(d.verdicts.size(), 1u) << in_words(d, {});
    EXPECT_EQ(d.verdicts[0].what, culprit::node);
    EXPECT_EQ(d.verdicts[0].node, 4);
  }
}

/// A network card of a host with one rank or more: its ranks are slow with other hosts only.
void expect_slow_card_found(int hosts, int ranks, culprit what, bool one_way) {
  placed_ranks m(std::vector<std::vector<int>>(static_cast<std::size_t>(hosts), {ranks}), one_way);
  m.factor = [&](int from, int to) {
    const bool out = m.on_host(from, "n1"), in = m.on_host(to, "n1");
    const bool slow = (out && what != culprit::node_rx) || (in && what != culprit::node_tx);
    return slow && out != in ? 5.0 : 1.0;
  };
  const diagnosis d = m.diagnose();
  std::set<int> accused, there;
  for (const verdict& v : d.verdicts) {
    EXPECT_EQ(v.what, what);
    accused.insert(v.node);
  }
  for (int r = ranks; r < 2 * ranks; ++r) there.insert(r);
  EXPECT_EQ(accused, there) << hosts << " x " << ranks << '\n' << in_words(d, {});
}

TEST(DiagnosisOfResults, FindsASlowNetworkCardAmongThreeHostsAndMore) {
  for (const int hosts : {3, 4, 5, 6}) {
    for (const int ranks : {1, 2, 4}) {
      for (const culprit what : {culprit::node_tx, culprit::node_rx, culprit::node})
        expect_slow_card_found(hosts, ranks, what, true);
      expect_slow_card_found(hosts, ranks, culprit::node, false);
    }
  }
}

}  // namespace
}  // namespace heddle::linktest
