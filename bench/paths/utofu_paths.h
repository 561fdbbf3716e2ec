// SPDX-License-Identifier: BSD-3-Clause
// utofu_paths.h - what heddle_paths does over uTofu, done by uTofu's own calls: what is left of a
// path's instructions when Heddle is taken away. 64 operations of a VCQ on itself, and then all
// their notices.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "libraries/utofu_calls.h"

namespace heddle::paths::utofu {

inline constexpr int per_batch = 64;

/// `step(path)` 64 times, and then all notices, by a VCQ that talks to itself, as the world of
/// heddle_paths does.
template <class F>
std::function<void(long)> batches(std::uint64_t bytes, F step) {
  return [=](long times) {
    const bench::task t{.what = {.what = bench::kind::rate, .bytes = bytes, .window = per_batch}};
    const bench::utofu_memory table(t.table_bytes());
    bench::all_paths paths;
    paths.push_back(std::make_unique<bench::utofu_path>(0, 1, table));
    paths.front()->connect(paths.front()->mine());
    bench::tofu_path own(t, paths, table, 0);
    for (long batch = 0; batch < times / per_batch; ++batch) {
      for (int i = 0; i < per_batch; ++i) step(own);
      own.drain();
      own.await_arrived(own.sent());
    }
  };
}

/// By name: `raw-` and the path of Heddle's they stand beside. A call of 8 bytes has a header.
inline auto all() {
  using path = bench::tofu_path;
  return std::map<std::string, std::function<void(long)>>{
      {"raw-put8", batches(8, [](path& own) { own.put_word(1, 0); })},
      {"raw-put64", batches(64, [](path& own) { own.put(0); })},
      {"raw-get8", batches(8, [](path& own) { own.get(0); })},
      {"raw-add8", batches(8, [](path& own) { own.fetch_add(0); })},
      {"raw-call", batches(32, [](path& own) { own.call(bench::message::data); })}};
}

}  // namespace heddle::paths::utofu
