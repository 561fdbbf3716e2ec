// SPDX-License-Identifier: BSD-3-Clause
// utofu_paths.h - what heddle_paths does over uTofu, done by uTofu's own calls: what is left of a
// path's instructions when Heddle is taken away. 64 operations of a VCQ on itself, and then all
// their notices.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "libraries/utofu_calls.h"

namespace heddle::paths::utofu {

using bench::utofu_thread;

inline constexpr int per_batch = 64;
inline constexpr std::size_t most_bytes = 4096;

/// A VCQ that talks to itself, as the world of heddle_paths does.
class loop {
 public:
  loop() { path_.connect(path_.mine()); }
  void put(std::size_t bytes, unsigned long flags) {
    own_.put(source_.data(), registered_.stadd(), 0, bytes, flags);
  }
  void get(std::size_t bytes) { own_.get(registered_.stadd(), 0, bytes); }
  void fetch_add() { own_.fetch_add(1, 0); }
  utofu_thread& own() { return own_; }

 private:
  const bench::utofu_memory table_{most_bytes};
  const bench::utofu_memory source_{most_bytes};
  bench::utofu_path path_{0, 1, table_};
  const bench::utofu_registration registered_{path_.queue(), source_};
  utofu_thread own_{path_, 0, per_batch, false};
};

template <class F>
std::function<void(long)> batches_of(F step) {
  return [step](long times) {
    loop l;
    for (long batch = 0; batch < times / per_batch; ++batch) {
      for (int i = 0; i < per_batch; ++i) step(l);
      l.own().drain();
    }
  };
}

/// As the body of a call of 8 bytes with a header; the notices are the target's.
inline void message(long times) {
  constexpr std::size_t bytes = 32;
  loop l;
  for (long batch = 1; batch <= times / per_batch; ++batch) {
    for (int i = 0; i < per_batch; ++i) l.put(bytes, UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE);
    l.own().await_arrived(static_cast<std::uint64_t>(batch) * per_batch);
  }
}

/// By name: `raw-` and the path of Heddle's they stand beside.
inline auto all() {
  return std::map<std::string, std::function<void(long)>>{
      {"raw-put8", batches_of([](loop& l) { l.put(8, utofu_thread::noticed); })},
      {"raw-put64", batches_of([](loop& l) { l.put(64, utofu_thread::noticed); })},
      {"raw-get8", batches_of([](loop& l) { l.get(8); })},
      {"raw-add8", batches_of([](loop& l) { l.fetch_add(); })},
      {"raw-call", message}};
}

}  // namespace heddle::paths::utofu
