// SPDX-License-Identifier: BSD-3-Clause
// Barrier gates: chains of processes that wait for each other and reduce.
#include <algorithm>
#include <cstring>

#include "test.h"

namespace conformance {
namespace {

/// Processes 1 to n, each with a gate to start at, one on the way up the chain and one on the way
/// down: the last process turns the signal around, so that nobody is done before all have started.
class chain {
 public:
  chain(test& t, int processes) : t_(t), count_(std::size_t(processes)) {
    for (std::size_t i = 0; i < count_; ++i) open(i);
    for (std::size_t i = 0; i < count_; ++i) connect(i);
  }

  peer& at(std::size_t i) { return t_.other(int(i) + 1); }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  struct gates {
    utofu_vbg_id_t start, up, down;
  };

  void open(std::size_t i) {
    const reply made = at(i).ask(verb::open_gates, {t_.tni(), 3});
    if (made.code == UTOFU_ERR_NOT_SUPPORTED) t_.skip("there are no barrier gates");
    t_.done(int(made.code), "utofu_alloc_vbg");
    gates_.push_back({made.values[0], made.values[1], made.values[2]});
  }

  void connect(std::size_t i) {
    constexpr utofu_vbg_id_t nobody = UTOFU_VBG_ID_NULL;
    const bool first = i == 0, last = i + 1 == count_;
    const gates& mine = gates_[i];
    at(i).ask(verb::set_gate, {mine.start, mine.down, nobody, mine.up, nobody});
    at(i).ask(verb::set_gate, {mine.up, mine.start, first ? nobody : gates_[i - 1].up,
                               last ? mine.down : nobody, last ? nobody : gates_[i + 1].up});
    at(i).ask(verb::set_gate,
              {mine.down, last ? mine.up : nobody, last ? nobody : gates_[i + 1].down, mine.start,
               first ? nobody : gates_[i - 1].down});
    const reply set = at(i).ask(verb::connect_gates);
    if (set.code == UTOFU_ERR_NOT_SUPPORTED) t_.skip("there are no barrier gates");
    t_.done(int(set.code), "utofu_set_vbg");
  }

  test& t_;
  std::size_t count_;
  std::vector<gates> gates_;
};

int poll(peer& one, std::uint64_t what, std::uint64_t milliseconds) {
  return int(one.ask(verb::poll_gate, {what, milliseconds}).code);
}

/// All but process `late` start; nobody may be done. Then that one starts; all have to be.
void one_round(test& t, chain& all, std::size_t late) {
  for (std::size_t i = 0; i < all.count(); ++i) {
    if (i != late) t.done(int(all.at(i).ask(verb::start_barrier).code), "utofu_barrier");
  }
  for (std::size_t i = 0; i < all.count(); ++i) {
    if (i == late) continue;
    const int code = poll(all.at(i), 0, 5);
    t.require(code == UTOFU_ERR_NOT_COMPLETED, "%zu processes, %zu late: process %zu says %s",
              all.count(), late, i, name_of(code).c_str());
  }
  t.done(int(all.at(late).ask(verb::start_barrier).code), "utofu_barrier");
  for (std::size_t i = 0; i < all.count(); ++i) {
    const int code = poll(all.at(i), 0, 5000);
    t.require(code == UTOFU_SUCCESS, "%zu processes: process %zu says %s", all.count(), i,
              name_of(code).c_str());
  }
}

// 54
void barrier_of(test& t) {
  const int most = std::min(12, t.others());
  // The same processes take part in all sizes; gates of a smaller chain are given back with them.
  chain all(t, most);
  for (std::size_t round = 0; round < 2 * all.count(); ++round)
    one_round(t, all, round % all.count());
  t.note("%d processes", most);
}

void pair_of_gates(test& t) {
  chain two(t, 2);
  for (std::size_t round = 0; round < 4; ++round) one_round(t, two, round % 2);
}

/// Each process gives its number plus 1; all get the sum.
void sums(test& t, chain& all) {
  for (std::size_t i = 0; i < all.count(); ++i) {
    const reply begun = all.at(i).ask(
        verb::start_reduce, {UTOFU_REDUCE_OP_SUM, 6, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6});
    t.done(int(begun.code), "utofu_reduce_uint64");
  }
  const std::uint64_t n = all.count();
  for (std::size_t i = 0; i < n; ++i) {
    const reply got = all.at(i).ask(verb::poll_gate, {1, 5000});
    t.done(int(got.code), "utofu_poll_reduce_uint64");
    for (std::uint64_t k = 0; k < 6; ++k) {
      t.expect(got.values[k] == n * (n + 1) / 2 + k * n, "process %zu: sum %lu is %lu", i, k,
               got.values[k]);
    }
  }
}

std::uint64_t bits_of(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, 8);
  return bits;
}

void sums_of_doubles(test& t, chain& all) {
  for (std::size_t i = 0; i < all.count(); ++i) {
    const double mine = double(i) + 0.5;
    const reply begun = all.at(i).ask(
        verb::start_reduce, {UTOFU_REDUCE_OP_BFPSUM, 3, bits_of(mine), bits_of(-mine), bits_of(1)});
    t.done(int(begun.code), "utofu_reduce_double");
  }
  const double n = double(all.count());
  for (std::size_t i = 0; i < all.count(); ++i) {
    const reply got = all.at(i).ask(verb::poll_gate, {2, 5000});
    t.done(int(got.code), "utofu_poll_reduce_double");
    const bool right = got.values[0] == bits_of(n * n / 2) &&
                       got.values[1] == bits_of(-n * n / 2) && got.values[2] == bits_of(n);
    t.expect(right, "process %zu has other sums", i);
  }
}

// 55
void reductions(test& t) {
  utofu_barrier_caps* caps = nullptr;
  const int code = utofu_query_barrier_caps(t.tni(), &caps);
  if (code != UTOFU_SUCCESS) t.skip("utofu_query_barrier_caps: %s", name_of(code).c_str());
  t.presume(caps->max_uint64_reduction == 6, "%zu integers", caps->max_uint64_reduction);
  t.presume(caps->max_double_reduction == 3, "%zu doubles", caps->max_double_reduction);
  chain all(t, std::min(4, t.others()));
  sums(t, all);
  sums_of_doubles(t, all);
  t.refused(int(all.at(0).ask(verb::start_reduce, {UTOFU_REDUCE_OP_SUM, 7}).code),
            UTOFU_ERR_INVALID_NUMBER, "a sum of 7 integers");
  t.refused(int(all.at(0).ask(verb::start_reduce, {UTOFU_REDUCE_OP_BFPSUM, 4}).code),
            UTOFU_ERR_INVALID_NUMBER, "a sum of 4 doubles");
}

void barriers(test& t) {
  utofu_tni_id_t* tnis = nullptr;
  std::size_t count = 0;
  const int code = utofu_get_barrier_tnis(&tnis, &count);
  std::free(tnis);
  if (code == UTOFU_ERR_NOT_SUPPORTED || count == 0) t.skip("there are no TNIs with barrier gates");
  barrier_of(t);
}

}  // namespace

std::vector<test_case> barrier_tests() {
  return {
      {54,
       "A barrier of up to 12 processes holds until the last has come",
       kind::must,
       {3},
       barriers},
      {55,
       "Reductions of 6 integers and 3 doubles are right, larger ones refused",
       kind::must,
       {3},
       reductions},
      {67, "A barrier of two processes holds until both have come", kind::must, {3}, pair_of_gates},
  };
}

}  // namespace conformance
