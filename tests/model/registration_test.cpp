// SPDX-License-Identifier: BSD-3-Clause
// registration_test.cpp - an entry of the registration cache, and what ends it, under every
// schedule of a few threads: lease_word and mapping_changes as they are, the cache around them
// reduced to one entry. The guarantee is that of docs/design/registration_cache.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "model/explorer.h"
#include "sync/lease_word.h"
#include "sync/mapping_changes.h"

namespace heddle::model {
namespace {

/// One place in memory at which one mapping follows another, and a cache with one entry for it.
/// What the names in
/// registration_cache.cpp and registration_table.cpp do, those here do.
struct world {
  // --- the kernel and the device ---
  int pages = 1;            // what is mapped; each mapping has other pages
  int unmapped = 0;         // pages whose unmapping has returned to whoever asked for it
  int news = 0, taken = 0;  // what the kernel has told, and the reader has read
  bool registered = false;
  int registered_pages = 0;

  // --- the cache ---
  sync::lease_word<model::atomic> word;
  sync::mapping_changes<model::atomic> changes;
  atomic<bool> untidy{false};
  atomic<int> range{0}, life{0};
  int lives = 0, inside = 0, working = 0;
  bool locked = false, rung = false, reading = false, with_reader = false;
  std::string wrong;

  struct hint {
    int range = 0, life = 0;
  };

  void lock() {
    step();
    wait_until([this] { return !locked; });
    locked = true;
  }
  void unlock() { locked = false; }
  void expect(bool good, const char* what) {
    if (!good && wrong.empty()) wrong = what;
  }

  // --- leases ---
  /// Acquires `wanted`, looks at the pages, releases. `oldest`: the pages it may get at least.
  void use(int wanted, int oldest, hint& last) {
    if (!(last.range == wanted && changes.caught_up() && enter_life(last.life))) {
      last = {};
      if (!enter_index(wanted) && !make(wanted)) return;
      last = {range.peek(), life.peek()};
    }
    ++inside;
    expect(registered, "a lease on nothing");
    expect(range.peek() == wanted, "a lease on another range");
    expect(registered_pages >= oldest, "a lease on pages that are gone");
    step();
    expect(registered, "deregistered under a lease");
    --inside;
    if (word.leave()) tidy();
  }
  bool enter_life(int wanted) {
    if (!word.try_enter()) return refused();
    if (life.load(std::memory_order_relaxed) == wanted) return true;
    if (word.leave()) tidy();
    return false;
  }
  bool refused() {
    if (word.withdraw()) tidy();
    return false;
  }
  bool enter_index(int wanted) {
    if (range.load(std::memory_order_relaxed) != wanted || !changes.caught_up()) return false;
    if (!word.try_enter()) return refused();
    if (range.load(std::memory_order_relaxed) == wanted) return true;
    if (word.leave()) tidy();
    return false;
  }
  /// True: inside. False: there is no room.
  bool make(int wanted) {
    lock();
    while (!changes.caught_up()) wait_until([this] { return !reading; });
    sweep();
    bool in = false;
    if (registered && range.peek() == wanted) {
      in = word.try_enter();
      if (!in && word.withdraw()) untidy.store(true, std::memory_order_seq_cst);
      in = in || word.try_join();
    }
    if (!in) sweep();
    if (!in && registered && word.end_unused() && word.cleared_away()) clear();
    if (!in && !registered) {
      publish(wanted);
      in = true;
    }
    unlock();
    return in;
  }
  void publish(int wanted) {
    const std::uint64_t then = changes.number();
    step();
    registered = true;
    registered_pages = pages;
    step();
    range.store(wanted, std::memory_order_relaxed);
    life.store(++lives, std::memory_order_relaxed);
    word.publish();
    if (!changes.untouched_since(then, 10, 20)) {
      word.end();
    } else {
      static_cast<void>(word.open());
    }
  }

  // --- clearing away ---
  void clear() {
    expect(registered, "deregistered twice");
    expect(inside == 0, "deregistered while in use");
    word.end();
    registered = false;
    range.store(0, std::memory_order_relaxed);
  }
  void sweep() {
    while (untidy.exchange(false, std::memory_order_seq_cst))
      if (registered && !word.is_open() && word.cleared_away()) clear();
  }
  void tidy() {
    untidy.store(true, std::memory_order_seq_cst);
    lock();
    sweep();
    unlock();
  }
  void collect_until_done() {
    for (;;) {
      wait_until([this] { return rung || (working == 0 && news == taken && !reading); });
      if (!rung) return;
      rung = false;
      lock();
      sweep();
      unlock();
    }
  }

  // --- changes ---
  void begin() {
    changes.begin(10, 20);
    if (!word.is_live()) return;
    if (range.load(std::memory_order_relaxed) == 0 || !word.end()) return;
    untidy.store(true, std::memory_order_seq_cst);
    rung = true;
  }
  /// munmap() and mmap(), as the hooks see them.
  void remap_by_call() {
    begin();
    step();
    ++pages;
    step();
    changes.end();
  }
  /// munmap() and mmap() that only the kernel sees.
  void remap_past_us() {
    step();
    const int mine = ++pages;
    ++news;
    wait_until([=, this] { return taken >= mine - 1; });
    unmapped = mine - 1;
  }
  void read_news() {
    for (;;) {
      wait_until([this] { return news != taken || working == 0; });
      if (news == taken) return;
      reading = true;
      changes.fall_behind();
      step();
      taken = news;
      step();
      begin();
      changes.end();
      changes.catch_up();
      reading = false;
    }
  }
  void done() { --working; }

  [[nodiscard]] std::string fault() {
    if (!wrong.empty()) return wrong;
    if (registered && !word.is_open()) return "something ended was not deregistered";
    return {};
  }
};

explored explore_world(int preemptions,
                       const std::function<std::vector<thread_body>(world&)>& make) {
  std::shared_ptr<world> tested;
  const explored e = explore(
      preemptions,
      [&] {
        tested = std::make_shared<world>();
        auto bodies = make(*tested);
        tested->working = static_cast<int>(bodies.size());
        for (thread_body& body : bodies)
          body = [w = tested, work = std::move(body)] {
            work();
            w->done();
          };
        bodies.emplace_back([w = tested] { w->collect_until_done(); });
        if (tested->with_reader) bodies.emplace_back([w = tested] { w->read_news(); });
        return bodies;
      },
      [&] { return tested->fault(); });
  std::printf("%llu schedules\n", static_cast<unsigned long long>(e.schedules));
  return e;
}

/// Acquires: the pages there are now, or newer ones.
void use_what_is_mapped(world& w, int times) {
  world::hint last;
  for (int i = 0; i < times; ++i) w.use(1, w.pages, last);
}
/// Acquires: no pages whose unmapping had returned.
void use_what_was_not_unmapped(world& w, int times) {
  world::hint last;
  for (int i = 0; i < times; ++i) w.use(1, w.unmapped + 1, last);
}

// Three threads, or more uses, take minutes and have shown no more.

TEST(RegistrationModel, NothingOldIsGivenOutAfterACall) {
  const explored e = explore_world(2, [](world& w) -> std::vector<thread_body> {
    return {[&w] { use_what_is_mapped(w, 2); },
            [&w] {
              w.remap_by_call();
              use_what_is_mapped(w, 1);
            }};
  });
  EXPECT_EQ(e.failure, "");
}

TEST(RegistrationModel, NothingOldIsGivenOutAfterTwoCallsAtOnce) {
  const explored e = explore_world(1, [](world& w) -> std::vector<thread_body> {
    return {[&w] { use_what_is_mapped(w, 2); }, [&w] { w.remap_by_call(); },
            [&w] { w.remap_by_call(); }};
  });
  EXPECT_EQ(e.failure, "");
}

TEST(RegistrationModel, NothingOldIsGivenOutOnceAnUnmappingReturned) {
  const explored e = explore_world(1, [](world& w) -> std::vector<thread_body> {
    w.with_reader = true;
    return {[&w] { use_what_was_not_unmapped(w, 1); },
            [&w] {
              w.remap_past_us();
              use_what_was_not_unmapped(w, 1);
            }};
  });
  EXPECT_EQ(e.failure, "");
}

TEST(RegistrationModel, WhoUnmapsAndAcquiresGetsNothingOld) {
  const explored e = explore_world(2, [](world& w) -> std::vector<thread_body> {
    w.with_reader = true;
    return {[&w] {
      world::hint last;
      w.use(1, w.pages, last);
      w.remap_past_us();
      w.use(1, w.pages, last);
    }};
  });
  EXPECT_EQ(e.failure, "");
}

TEST(RegistrationModel, AnEntryThatServesAnotherRangeIsNotMistaken) {
  for (const bool hinted : {false, true}) {
    const explored e = explore_world(2, [=](world& w) -> std::vector<thread_body> {
      return {[=, &w] {
                world::hint last;
                for (int i = 0; i < 2; ++i) {
                  if (!hinted) last = {};
                  w.use(1, 0, last);
                }
              },
              [&w] {
                world::hint last;
                w.use(2, 0, last);
              }};
    });
    EXPECT_EQ(e.failure, "") << hinted;
  }
}

TEST(RegistrationModel, WhoIsRefusedAndGoesElsewhereLeavesNothing) {
  const explored e = explore_world(2, [](world& w) -> std::vector<thread_body> {
    return {[&w] {
              world::hint last;
              w.use(1, 0, last);
              if (!w.enter_life(last.life))
                return;  // as a hint does, and then asks for something else
              if (w.word.leave()) w.tidy();
            },
            [&w] { w.remap_by_call(); }};
  });
  EXPECT_EQ(e.failure, "");
}

}  // namespace
}  // namespace heddle::model
