// SPDX-License-Identifier: BSD-3-Clause
// Threads: a VCQ made for several, one that is not, and two side by side.
#include <atomic>
#include <thread>

#include "stage.h"

namespace conformance {
namespace {

constexpr std::uint64_t puts_each = 1000;

/// One thread of several on a VCQ: adds to its own word and takes whatever notices come.
void add_and_poll(stage& s, std::size_t word, std::atomic<std::uint64_t>& answers,
                  std::atomic<int>& failure) {
  std::uint64_t posted = 0;
  const std::uint64_t end = now_ns() + 20000000000u, all = 8 * puts_each;
  unsigned looks = 0;
  while (answers.load(std::memory_order_relaxed) < all && !has_passed(end)) {
    const bool room =
        posted < puts_each && posted * 8 < answers.load(std::memory_order_relaxed) + 32;
    const int code = !room ? UTOFU_ERR_BUSY
                           : utofu_armw8(s.here.hdl(), s.far.id, UTOFU_ARMW_OP_ADD, 1, s.to(word),
                                         0, lcl_notice, nullptr);
    if (code == UTOFU_SUCCESS)
      ++posted;
    else if (code != UTOFU_ERR_BUSY)
      failure.store(code, std::memory_order_relaxed);
    s.here.sweep_sent();
    utofu_mrq_notice notice{};
    if (utofu_poll_mrq(s.here.hdl(), 0, &notice) == UTOFU_SUCCESS)
      answers.fetch_add(1, std::memory_order_relaxed);
    breathe(looks);
  }
}

// 51
void shared_by_eight(test& t) {
  stage s(t, memory::page, UTOFU_VCQ_FLAG_THREAD_SAFE);
  std::atomic<std::uint64_t> answers{0};
  std::atomic<int> failure{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 8; ++i)
    threads.emplace_back([&, i] { add_and_poll(s, 256 * i, answers, failure); });
  for (std::thread& one : threads) one.join();
  const int code = failure.load(std::memory_order_relaxed);
  t.expect(code == 0, "an add: %s", name_of(code).c_str());
  const std::uint64_t seen = answers.load(std::memory_order_relaxed);
  t.expect(seen == 8 * puts_each, "%lu notices for %lu adds", seen, 8 * puts_each);
  for (std::size_t i = 0; i < 8; ++i)
    t.expect(s.word(256 * i) == puts_each, "thread %zu added %lu", i, s.word(256 * i));
}

// 52
void shared_unsafely(test& t) {
  stage s(t, memory::page);
  peer& victim = t.victim();
  const far_vcq by = victim.open(t.tni(), UTOFU_VCQ_FLAG_EXCLUSIVE);
  t.done(by.code, "a VCQ of the victim");
  victim.start(verb::share, {by.index, s.far.id, s.to(), 2, 2000});
  reply answer;
  if (victim.finish_or_end(answer, 10)) {
    t.expect(false, "two threads used one VCQ %lu times without a lock, and nobody said anything",
             answer.values[0]);
    return;
  }
  victim.child()->wait(2);
  t.expect(victim.child()->ended(), "it hangs");
  t.note("its process: %s", victim.child()->ending().c_str());
  t.presume(victim.child()->said().find("Direct Descriptor") != std::string::npos,
            "it does not say why");
}

/// A VCQ of its own here and there, used by one thread.
struct side {
  vcq here;
  far_vcq far;
  registration own;
  far_memory theirs;
  int code = UTOFU_SUCCESS;

  void work() {
    for (std::uint64_t i = 1; i <= 2000 && code == UTOFU_SUCCESS; ++i) {
      code = here.post([&] {
        return utofu_put(here.hdl(), far.id, own.stadd(), theirs.stadd, 200, 0, lcl_notice,
                         nullptr);
      });
      if (code == UTOFU_SUCCESS) code = here.next_notice().code;
      here.sweep_sent();
    }
  }
};

// 53
void side_by_side(test& t) {
  side sides[2];
  memory sources[2] = {memory(memory::page), memory(memory::page)};
  std::uint64_t areas[2];
  peer& there = t.other();
  for (std::size_t i = 0; i < 2; ++i) {
    sides[i].here = vcq(t.tni(), UTOFU_VCQ_FLAG_EXCLUSIVE);
    t.done(sides[i].here.made(), "an EXCLUSIVE VCQ");
    sides[i].far = there.open(t.tni(), UTOFU_VCQ_FLAG_EXCLUSIVE);
    t.done(sides[i].far.code, "one at the other end");
    areas[i] = there.allocate(memory::page);
    sources[i].fill(0, 200, i);
    sides[i].own = registration(sides[i].here, sources[i].at(), memory::page);
    sides[i].theirs = there.enroll(sides[i].far, areas[i], 0, memory::page);
  }
  std::thread first([&] { sides[0].work(); }), second([&] { sides[1].work(); });
  first.join();
  second.join();
  for (std::size_t i = 0; i < 2; ++i) {
    t.expect(sides[i].code == UTOFU_SUCCESS, "side %zu: %s", i, name_of(sides[i].code).c_str());
    t.expect(there.mismatch(areas[i], 0, 200, i) == 200, "side %zu: wrong bytes", i);
  }
}

}  // namespace

std::vector<test_case> thread_tests() {
  return {
      {51, "Eight threads can use one THREAD_SAFE VCQ", kind::must, {}, shared_by_eight},
      {52,
       "Two threads on a VCQ that is not THREAD_SAFE are found out",
       kind::reports,
       {3, true, true},
       shared_unsafely},
      {53, "Two threads use an EXCLUSIVE VCQ each", kind::must, {}, side_by_side},
  };
}

}  // namespace conformance
