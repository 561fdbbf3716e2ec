// SPDX-License-Identifier: BSD-3-Clause
#include "engine/world_assembly.h"

#include <cstring>

#include "base/error.h"

namespace heddle::engine {

world_assembly::turn::turn(world_assembly& of)
    : counted_(of.waiting_), lock_(of.mutex_), keeper_(of.keeper_) {
  if (keeper_ != nullptr) keeper_->start();
}

world_assembly::turn::~turn() {
  if (keeper_ != nullptr) keeper_->stop();
}

std::optional<dissent> world_assembly::find_dissent(const claim& mine) {
  if (!session_.meets_after_joining()) return meeting_.meet(lanes_.zero(), mine);
  const auto all = session_.exchange(std::as_bytes(std::span(&mine, 1)));
  claim_range claims(mine, session_.info().rank);
  for (std::size_t peer = 0; peer < all.size(); ++peer) {
    claim theirs;
    if (all[peer].size() != sizeof theirs) return dissent{.who = static_cast<rank>(peer)};
    std::memcpy(&theirs, all[peer].data(), sizeof theirs);
    claims.add({theirs, static_cast<rank>(peer)});
  }
  return claims.dissent_from(mine);
}

void world_assembly::barrier() {
  const turn here(*this);
  if (session_.meets_after_joining()) return session_.barrier();
  in_context("barrier", [this] {
    if (const auto other = find_dissent({}))
      fail(
          "rank {} makes another call: all ranks must make the calls that wait for every rank in "
          "the same order",
          other->who);
  });
}

/// They meet twice: ranks that are at different calls must not wait for each other's parts. At each
/// exchange, because a rank whose new world fails in between goes on with other calls.
bootstrap::gathered world_assembly::exchange(std::span<const std::byte> mine) {
  const turn here(*this);
  if (const auto other = find_dissent({.allowed = claim::of_a_world}))
    fail(
        "rank {} makes another call, and no world beside this one: all ranks must make the same "
        "calls that wait for every rank, in the same order",
        other->who);
  return gather(mine);
}

bootstrap::gathered world_assembly::gather(std::span<const std::byte> mine) {
  return session_.meets_after_joining() ? session_.exchange(mine)
                                        : meeting_.gather(lanes_.zero(), mine);
}

}  // namespace heddle::engine
