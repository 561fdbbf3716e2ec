// SPDX-License-Identifier: BSD-3-Clause
// kernels.h - which kernel measures what a spec says, for any library.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/rounds.h"
#include "kernels/gups.h"
#include "kernels/overhead.h"
#include "kernels/overlap.h"
#include "kernels/passive.h"
#include "kernels/ping.h"

namespace heddle::bench {

/// Of one thread, which makes it itself. Throws not_offered.
template <class Library>
exchange make_kernel(Library& self, const role& r) {
  using path_of = std::remove_reference_t<decltype(*self.make_path(0))>;
  const spec& s = r.what;
  const bool ping = s.what == kind::latency;
  std::shared_ptr<path_of> path;
  if (!s.background) path = self.make_path(r.thread);
  if constexpr (requires { self.make_aside(0); }) {
    if (s.background) path = self.make_aside(r.thread);
  }
  if (!path) throw not_offered();
  if constexpr (has_tags<path_of>) {
    if constexpr (requires { self.make_stream(0); }) {
      if (s.beside_bytes > 0) return tag_ping(path, std::shared_ptr(self.make_stream(r.thread)));
    }
    if (s.op == operation::tag) return ping ? tag_ping(path) : tag_flood(path);
  }
  if constexpr (has_calls<path_of>) {
    if (s.op == operation::am && !ping) return call_flood(path);
    if (s.op == operation::am)
      return counted_ping(path, path_of::handler_answers && !s.background,
                          [path](message m) { path->call(m); });
  }
  if constexpr (has_table<path_of>) {
    constexpr auto get = &path_of::get;
    constexpr auto add = &path_of::fetch_add;
    if (s.op == operation::get) return ping ? round_trip<get>(path, r) : table_flood<get>(path, r);
    if (s.op == operation::fetch_add)
      return ping ? round_trip<add>(path, r) : table_flood<add>(path, r);
    if (s.op != operation::put) throw not_offered();
    if (!ping) return table_flood<&path_of::put>(path, r);
    if (s.bytes <= sizeof(std::uint64_t)) return word_ping(path, r);
    const auto slot = path->at(table_layout::for_spec(s).slot_of(r.thread));
    if constexpr (requires { path->put_told(slot); })
      return counted_ping(path, false, [=](message) { path->put_told(slot); });
  }
  throw not_offered();
}

/// The rounds' exchanges of one rank, one for each thread.
template <class Library>
auto make_kernels(Library& self, const spec& s, bool crowded) {
  std::vector<exchange> all;
  for (int t = 0; t < s.threads; ++t)
    all.push_back(make_kernel(self, {.what = s, .thread = t, .crowded = crowded}));
  return all;
}

/// Every thread's path, in their order.
template <class Library>
auto make_paths(Library& self, int threads) {
  std::vector<std::shared_ptr<typename Library::path>> all;
  for (int t = 0; t < threads; ++t) all.push_back(self.make_path(t));
  return all;
}

/// A round of whatever a spec says, to be called by both ranks of a pair; the one that leads learns
/// the figures.
using measurement = std::function<round_result()>;

template <class Library>
measurement measure_overlap(Library& self, const spec& s, bool leads) {
  if constexpr (has_tags<typename Library::path>) {
    const std::shared_ptr<typename Library::path> path = self.make_path(0);
    return [&self, s, leads, side = tag_side(path, leads)]() -> round_result {
      const side_round mine = overlap_round(side, s, leads);
      const side_round theirs = swap(self, mine);
      if (!leads) return {};
      return {overlap_figures(s, mine, theirs)};
    };
  }
  throw not_offered();
}

template <class Library>
measurement measure_gets(Library& self, const spec& s, bool leads) {
  if constexpr (has_table<typename Library::path>) {
    return [&self, s, leads, paths = make_paths(self, s.threads)] {
      return round_of_gets(self, paths, s, leads);
    };
  }
  throw not_offered();
}

/// Updates by both ranks, over the whole of their tables.
template <class Library>
measurement measure_gups(Library& self, const spec& s, int rank) {
  using path = typename Library::path;
  if constexpr (has_updates<path> && requires { self.table(); }) {
    const auto paths = make_paths(self, s.threads);
    const auto bytes = self.table();
    const std::span words(reinterpret_cast<std::uint64_t*>(bytes.data()),
                          gups_words(s.memory_bytes));
    auto all = std::make_shared<gups_rounds>(
        both_ranks(self), words, s, 2, rank, [paths, s, rank](const gups_plan& plan, int t) {
          path& own = *paths[static_cast<std::size_t>(t)];
          gups_updates(own, plan, rank, t, s.atomic,
                       [&](int, std::uint64_t i) { return own.at(i * sizeof i); });
        });
    return [all] { return all->next(); };
  }
  throw not_offered();
}

/// Throws not_offered. `self` is a partner, gives paths by make_path(thread), in the order of
/// threads and the same at both ranks, and, for gups, its table's bytes by table().
template <class Library>
measurement make_measurement(Library& self, const spec& s, int rank, bool crowded) {
  const bool leads = rank % 2 == 0;
  if (s.what == kind::overlap) return measure_overlap(self, s, leads);
  if (s.what == kind::overhead) return measure_gets(self, s, leads);
  if (s.what == kind::gups) return measure_gups(self, s, rank);
  auto all = std::make_shared<rounds>(self, s, make_kernels(self, s, crowded));
  return [all, leads]() -> round_result {
    if (leads) return all->lead();
    all->follow();
    return {};
  };
}

}  // namespace heddle::bench
