// SPDX-License-Identifier: BSD-3-Clause
// split.h - groups by color and key: everyone tells everyone what it wants, and works out the same.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "collectives/allgather.h"

namespace heddle::collectives {

/// What one rank says. `number`: of a group that nobody else gets from it, should it be member 0.
struct wish {
  std::int32_t color = 0, key = 0;
  std::uint64_t number = 0;
};
static_assert(sizeof(wish) == 16);

/// The group of `chosen` ranks of `parent`, this one among them; `number` is from the first of
/// them.
template <class Lane>
std::unique_ptr<detail::membership> made_of(const basic_async_group<Lane>& parent,
                                            const std::vector<rank>& chosen, std::uint64_t number) {
  std::vector<rank> members;
  members.reserve(chosen.size());
  for (const rank r : chosen) members.push_back(parent.world_rank(r));
  const auto self = std::ranges::find(chosen, parent.self()) - chosen.begin();
  const std::uint64_t context = detail::membership::context_of(members.front(), number);
  return std::make_unique<detail::membership>(std::move(members), static_cast<rank>(self), context);
}

/// `into` is null after `done` where `color` is negative.
template <class Lane>
task<status> split(basic_async_group<Lane> on, int color, int key,
                   std::unique_ptr<detail::membership>& into) {
  const wish mine{color, key, on.on()->next_group()};
  std::vector<wish> wishes(static_cast<std::size_t>(on.ranks()));
  const status told = co_await collectives::allgather(on, std::as_bytes(std::span(&mine, 1)),
                                                      std::as_writable_bytes(std::span(wishes)));
  if (told != status::done) co_return told;
  into = nullptr;
  if (color < 0) co_return status::done;
  const auto wish_of = [&](rank r) -> const wish& { return wishes[static_cast<std::size_t>(r)]; };
  std::vector<rank> chosen;
  for (rank r = 0; r < on.ranks(); ++r) {
    if (wish_of(r).color == color) chosen.push_back(r);
  }
  std::ranges::stable_sort(chosen, {}, [&](rank r) { return wish_of(r).key; });
  into = made_of(on, chosen, wish_of(chosen.front()).number);
  co_return status::done;
}

}  // namespace heddle::collectives
