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
std::unique_ptr<exchange> make_kernel(Library& self, const role& r) {
  using path_of = std::remove_reference_t<decltype(*self.make_path(0))>;
  const spec& s = r.what;
  const bool ping = s.what == kind::latency;
  std::unique_ptr<path_of> path;
  if (!s.background) path = self.make_path(r.thread);
  if constexpr (requires { self.make_aside(0); }) {
    if (s.background) path = self.make_aside(r.thread);
  }
  if (!path) throw not_offered();
  if constexpr (has_tags<path_of>) {
    if constexpr (requires { self.make_stream(0); }) {
      auto stream = s.beside_bytes > 0 ? self.make_stream(r.thread) : nullptr;
      using beside = std::remove_reference_t<decltype(*stream)>;
      if (stream)
        return std::make_unique<tag_ping<path_of, beside>>(std::move(path), std::move(stream));
    }
    if (s.op == operation::tag && ping) return std::make_unique<tag_ping<path_of>>(std::move(path));
    if (s.op == operation::tag)
      return std::make_unique<message_flood<path_of, operation::tag>>(std::move(path));
  }
  if constexpr (has_calls<path_of>) {
    const auto call = [](path_of& p, message m) { p.call(m); };
    if (s.op == operation::am && ping)
      return std::make_unique<counted_ping<path_of, decltype(call)>>(
          std::move(path), path_of::handler_answers && !s.background, call);
    if (s.op == operation::am)
      return std::make_unique<message_flood<path_of, operation::am>>(std::move(path));
  }
  if constexpr (has_table<path_of>) {
    if (s.op == operation::am || s.op == operation::tag) throw not_offered();
    if (!ping) return std::make_unique<table_flood<path_of>>(std::move(path), r);
    if (s.op != operation::put) return std::make_unique<round_trip<path_of>>(std::move(path), r);
    if (s.bytes <= sizeof(std::uint64_t))
      return std::make_unique<word_ping<path_of>>(std::move(path), r);
    const auto slot = path->at(table_layout::for_spec(s).slot_of(r.thread));
    const auto put = [slot](path_of& p, message) { p.put_told(slot); };
    return std::make_unique<counted_ping<path_of, decltype(put)>>(std::move(path), false, put);
  }
  throw not_offered();
}

/// The rounds' exchanges of one rank, one for each thread.
template <class Library>
auto make_kernels(Library& self, const spec& s, bool crowded) {
  std::vector<std::unique_ptr<exchange>> all;
  for (int t = 0; t < s.threads; ++t)
    all.push_back(make_kernel(self, {.what = s, .thread = t, .crowded = crowded}));
  return all;
}

/// Every thread's path, in their order.
template <class Library>
auto make_paths(Library& self, int threads) {
  std::vector<decltype(self.make_path(0))> all;
  for (int t = 0; t < threads; ++t) all.push_back(self.make_path(t));
  return all;
}

/// A round of whatever a spec says, to be called by both ranks of a pair; the one that leads learns
/// the figures.
using measurement = std::function<round_result()>;

template <class Library>
measurement measure_overlap(Library& self, const spec& s, bool leads) {
  if constexpr (has_tags<typename Library::path>) {
    auto side = std::make_shared<tag_side<typename Library::path>>(self.make_path(0), leads);
    return [&self, s, leads, side]() -> round_result {
      const side_round mine = overlap_round(*side, s, leads);
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
    auto all = std::make_shared<get_timing<typename Library::path>>(
        self, make_paths(self, s.threads), s, leads);
    return [all] { return all->round(); };
  }
  throw not_offered();
}

/// Updates by both ranks, over the whole of their tables.
template <class Library>
measurement measure_gups(Library& self, const spec& s, int rank) {
  using path = typename Library::path;
  if constexpr (has_updates<path> && requires { self.table(); }) {
    auto paths = std::make_shared<std::vector<std::unique_ptr<path>>>(make_paths(self, s.threads));
    const auto bytes = self.table();
    const std::span words(reinterpret_cast<std::uint64_t*>(bytes.data()),
                          gups_words(s.memory_bytes));
    auto all = std::make_shared<gups_rounds>(
        both_ranks(self), words, s, 2, rank, [paths, s, rank](const gups_plan& plan, int t) {
          path& own = *(*paths)[static_cast<std::size_t>(t)];
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
