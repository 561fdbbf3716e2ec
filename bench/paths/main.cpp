// SPDX-License-Identifier: BSD-3-Clause
// main.cpp - heddle_paths: what Heddle's hot paths cost in one process that talks to itself.
//
//   heddle_paths            taking a lane: shared, exclusive, beside an atomic read-modify-write
//   heddle_paths PATH N     N times one path, for counting instructions with Callgrind;
//                           raw-...: the same by uTofu itself, beside HEDDLE_BACKENDS=utofu
//                           verbs-...: by libibverbs, beside HEDDLE_BACKENDS=verbs
#include <fmt/core.h>
#include <heddle/heddle.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parts/cache_line.h"
#include "parts/pinning.h"
#include "parts/timing.h"
#ifdef HEDDLE_WITH_UTOFU
#include "paths/utofu_paths.h"
#endif
#ifdef HEDDLE_WITH_VERBS
#include "paths/verbs_paths.h"
#endif

namespace {

using namespace std::chrono_literals;

// --- times of taking a lane ----------------------------------------------------------------

constexpr std::size_t block = 1000;

/// Nothing is in flight: taking the lane, looking, and letting go is all there is.
void enter_and_leave(heddle::lane& l) {
  (void)l.flush(0);
}

double ns_of_lane(heddle::lane& l) {
  return heddle::bare::seconds_per_step(20ms, block, [&] { enter_and_leave(l); }) * 1e9;
}

double ns_of_atomic() {
  alignas(HEDDLE_CACHE_LINE) static std::atomic<std::uint64_t> word{0};
  return heddle::bare::seconds_per_step(20ms, block, [&] { word.fetch_add(1); }) * 1e9;
}

void compare(int rounds) {
  heddle::world w;
  const std::vector<int> cores = heddle::bare::allowed_cores();
  heddle::bare::pin_this_thread(cores.front());
  heddle::lane shared(w), exclusive(w, {.exclusive = true});
  constexpr auto heading = "{:<8}{:>14}{:>14}{:>16}{:>16}\n";
  constexpr auto layout = "{:<8}{:>14.1f}{:>14.1f}{:>16.1f}{:>16.1f}\n";
  fmt::print(heading, "round", "atomic, ns", "shared, ns", "exclusive, ns", "cache line, ns");
  std::array<std::vector<double>, 4> all;
  for (int round = 1; round <= rounds; ++round) {
    const std::array now{
        ns_of_atomic(), ns_of_lane(shared), ns_of_lane(exclusive),
        heddle::bare::cache_line_one_way({cores.front(), cores[1 % cores.size()]}, 20ms) * 1e9};
    for (std::size_t i = 0; i < now.size(); ++i) all.at(i).push_back(now.at(i));
    fmt::print(layout, round, now[0], now[1], now[2], now[3]);
  }
  const auto median = [&](std::size_t i) {
    std::ranges::sort(all.at(i));
    return all.at(i)[all.at(i).size() / 2];
  };
  fmt::print(layout, "median", median(0), median(1), median(2), median(3));
  const double more = median(1) - median(2);
  fmt::print("shared costs {:.1f} ns more than exclusive: {:.2f} atomic read-modify-writes\n", more,
             more / median(0));
}

// --- paths to be counted -------------------------------------------------------------------

constexpr int per_batch = 64;

void repeat(long times, const std::function<void()>& step) {
  for (long i = 0; i < times; ++i) step();
}

void take(heddle::world& w, long times, bool exclusive) {
  heddle::lane l(w, {.exclusive = exclusive});
  repeat(times, [&] { enter_and_leave(l); });
}

void poll(heddle::world& w, long times) {
  heddle::lane l(w);
  repeat(times, [&] { (void)l.poll(); });
}

void put(heddle::world& w, long times) {
  heddle::lane l(w);
  const auto words = w.symmetric<std::uint64_t>(1);
  const auto to = words.at(0, 0);
  for (long i = 0; i < times; ++i) (void)l.put(std::uint64_t{1}, to);
}

/// So many operations at once on this rank's own memory as on a peer's, and then all their ends.
/// Only over a wire that does not map it.
template <class F>
void batches(heddle::world& w, long times, int at_once, F step) {
  heddle::lane l(w);
  const heddle::region table = w.allocate(4096), local = w.allocate(4096);
  const heddle::remote_region there = w.import(table.key());
  heddle::counter ended;
  std::uint64_t posted = 0;
  repeat(times / at_once, [&] {
    for (int i = 0; i < at_once; ++i)
      posted += step(l, local.memory(), there.at(0), ended) == heddle::status::posted ? 1 : 0;
    (void)l.wait(ended, posted);
  });
}

void put_bytes(heddle::world& w, long times, std::size_t bytes, int at_once = per_batch) {
  batches(w, times, at_once, [bytes](heddle::lane& l, auto from, auto to, heddle::counter& c) {
    return l.try_put(from.first(bytes), to, c);
  });
}

void get_bytes(heddle::world& w, long times, std::size_t bytes, int at_once = per_batch) {
  batches(w, times, at_once, [bytes](heddle::lane& l, auto into, auto from, heddle::counter& c) {
    return l.try_get(into.first(bytes), from, c);
  });
}

void fetch_add(heddle::world& w, long times) {
  std::uint64_t old = 0;
  batches(w, times, per_batch, [&old](heddle::lane& l, auto, auto at, heddle::counter& c) {
    return l.try_fetch_add(heddle::remote_ptr<std::uint64_t>{at}, std::uint64_t{1}, old, c);
  });
}

/// Calls to itself, so many at once and then all that came of them.
void call(heddle::world& w, long times, int at_once) {
  heddle::counter arrived;
  const auto handler = [](void* into, heddle::lane&, const heddle::call_message&) noexcept {
    const heddle::completion came = *static_cast<heddle::counter*>(into);
    came({});
  };
  w.set_handler(1, handler, &arrived);
  heddle::lane l(w);
  const std::uint64_t header = 7;
  std::uint64_t sent = 0;
  repeat(times / at_once, [&] {
    for (int i = 0; i < at_once; ++i)
      sent += accepted(l.try_call(0, 1, std::as_bytes(std::span(&header, 1)), {})) ? 1 : 0;
    (void)l.wait(arrived, sent);
  });
}

void tag(heddle::world& w, long times, int at_once) {
  heddle::lane l(w);
  heddle::counter ended;
  const std::uint64_t value = 7;
  std::vector<std::uint64_t> into(static_cast<std::size_t>(at_once));
  std::uint64_t posted = 0;
  const auto count = [&posted](heddle::status s) { posted += s == heddle::status::posted ? 1 : 0; };
  repeat(times / at_once, [&] {
    for (std::uint64_t& slot : into)
      count(l.try_recv(0, 1, std::as_writable_bytes(std::span(&slot, 1)), ended));
    for (int i = 0; i < at_once; ++i)
      count(l.try_send(0, 1, std::as_bytes(std::span(&value, 1)), ended));
    (void)l.wait(ended, posted);
  });
}

using path = std::function<void(heddle::world&, long)>;
const std::map<std::string, path> paths{
    {"shared", [](heddle::world& w, long n) { take(w, n, false); }},
    {"exclusive", [](heddle::world& w, long n) { take(w, n, true); }},
    {"poll", poll},
    {"put", put},
    {"put8", [](heddle::world& w, long n) { put_bytes(w, n, 8); }},
    {"put8-alone", [](heddle::world& w, long n) { put_bytes(w, n, 8, 1); }},
    {"get8-alone", [](heddle::world& w, long n) { get_bytes(w, n, 8, 1); }},
    {"call-alone", [](heddle::world& w, long n) { call(w, n, 1); }},
    {"tag-alone", [](heddle::world& w, long n) { tag(w, n, 1); }},
    {"put64", [](heddle::world& w, long n) { put_bytes(w, n, 64); }},
    {"get8", [](heddle::world& w, long n) { get_bytes(w, n, 8); }},
    {"add8", fetch_add},
    {"call", [](heddle::world& w, long n) { call(w, n, per_batch); }},
    {"tag", [](heddle::world& w, long n) { tag(w, n, per_batch); }}};

/// All by their names; those without Heddle only where it is built with that wire.
std::map<std::string, std::function<void(long)>> all_paths() {
  std::map<std::string, std::function<void(long)>> all;
  for (const auto& [name, run] : paths) {
    all[name] = [&run = run](long times) {
      heddle::world w;
      heddle::bare::pin_this_thread(heddle::bare::allowed_cores().front());
      run(w, times);
    };
  }
#ifdef HEDDLE_WITH_UTOFU
  all.merge(heddle::paths::utofu::all());
#endif
#ifdef HEDDLE_WITH_VERBS
  all.merge(heddle::paths::verbs::all());
#endif
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const auto all = all_paths();
  const auto chosen = argc == 3 ? all.find(argv[1]) : all.end();
  if (argc != 1 && chosen == all.end()) {
    fmt::print(stderr, "heddle_paths [PATH N], where PATH is one of:");
    for (const auto& [name, run] : all) fmt::print(stderr, " {}", name);
    fmt::print(stderr, "\n");
    return 2;
  }
  try {
    if (argc == 1)
      compare(7);
    else
      chosen->second(std::atol(argv[2]));
    return 0;
  } catch (const std::exception& why) {
    fmt::print(stderr, "heddle_paths: {}\n", why.what());
    return 1;
  }
}
