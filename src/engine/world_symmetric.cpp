// SPDX-License-Identifier: BSD-3-Clause
#include "engine/world_symmetric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"
#include "engine/key_fields.h"
#include "sync/fork.h"

namespace heddle::engine {
namespace {

/// Withdraws a region of this rank's unless all have agreed on theirs.
class until_agreed {
 public:
  until_agreed(world_memory& memory, memory::region_ref ref, std::span<std::byte> what) noexcept
      : memory_(memory), ref_(ref), what_(what) {}
  ~until_agreed() {
    if (ref_.generation != 0) memory_.withdraw(ref_, what_);
  }
  until_agreed(const until_agreed&) = delete;
  until_agreed& operator=(const until_agreed&) = delete;
  void agreed() noexcept { ref_ = {}; }

 private:
  world_memory& memory_;
  memory::region_ref ref_;
  std::span<std::byte> what_;
};

/// What a rank gives when all expose memory together: its part, or why it has none.
struct offer {
  exposed_part part;
  std::string refusal;
};

/// Never throws error: the others are to hear of it, and wait for it.
offer offered(world_memory& memory, std::span<std::byte> mine, rights allowed) {
  if (mine.data() == nullptr && !mine.empty())
    return {{}, fmt::format("null was given for {} bytes", mine.size())};
  try {
    return {{from_key(memory.expose(mine, allowed).of).ref, mine.size()}, {}};
  } catch (const error& why) {
    return {{}, why.what()};
  }
}

bootstrap::blob packed(const offer& o) {
  constexpr std::size_t longest = 1000;
  const auto part = std::as_bytes(std::span(&o.part, 1));
  const auto text = std::as_bytes(std::span(o.refusal).first(std::min(o.refusal.size(), longest)));
  bootstrap::blob all(part.begin(), part.end());
  all.insert(all.end(), text.begin(), text.end());
  return all;
}

/// Of what `peer` has given. Throws error: it refuses, and why.
exposed_part accepted_part(rank peer, std::span<const std::byte> given) {
  exposed_part part;
  if (given.size() < sizeof part) fail("rank {} makes another call", peer);
  std::memcpy(&part, given.data(), sizeof part);
  const auto text = given.subspan(sizeof part);
  if (part.ref.generation == 0)
    fail("rank {} refuses: {}", peer,
         std::string_view(reinterpret_cast<const char*>(text.data()), text.size()));
  return part;
}

}  // namespace

/// Which numbers are free can differ: a rank may have destroyed its part of an array and another
/// not yet. Each proposes the first that is free for it, until all propose the same.
std::span<std::byte> world_symmetric::add(std::uint64_t bytes, rights allowed,
                                          std::uint64_t& number) {
  sync::refuse_in_child("symmetric memory");
  const world_assembly::turn turn(all_);
  for (std::uint32_t tries = 0; tries < memory::region_table::symmetric_slots; ++tries) {
    const std::span<std::byte> memory = propose(bytes, allowed, number);
    until_agreed mine(memory_, memory::region_table::symmetric_ref(number), memory);
    const auto other = in_context("symmetric memory", [&] {
      return all_.find_dissent(
          {.bytes = bytes, .allowed = static_cast<std::uint64_t>(allowed), .number = number});
    });
    if (!other) {
      mine.agreed();
      return memory;
    }
    if (!other->greatest_number)
      fail(
          "symmetric memory: {} bytes here, another size or other rights on rank {}, or no room: "
          "all ranks must ask for the same, in the same order",
          bytes, other->who);
    next_ = *other->greatest_number + 1;
  }
  fail(
      "symmetric memory: so many arrays are alive that no number is free on all ranks; destroy "
      "some");
}

/// Where there is no room here, the others hear of it, so that they do not wait.
std::span<std::byte> world_symmetric::propose(std::uint64_t bytes, rights allowed,
                                              std::uint64_t& number) {
  try {
    number = memory_.next_symmetric(next_);
    next_ = number + 1;
    return memory_.add_symmetric(number, bytes, allowed);
  } catch (const error&) {
    (void)all_.find_dissent({.bytes = bytes, .allowed = claim::of_no_room});
    throw;
  }
}

/// They meet twice: ranks that are at different calls must not wait for each other's parts.
std::unique_ptr<const exposed_part[]> world_symmetric::expose(std::span<std::byte> memory,
                                                              rights allowed) {
  constexpr const char* doing = "expose symmetric memory";
  sync::refuse_in_child(doing);
  const world_assembly::turn turn(all_);
  const offer given = offered(memory_, memory, allowed);
  until_agreed mine(memory_, given.part.ref, memory);
  return in_context(doing, [&] {
    const auto other =
        all_.find_dissent({.allowed = claim::of_own_memory | static_cast<std::uint64_t>(allowed)});
    if (other)
      fail(
          "rank {} gives other rights or makes another call: all ranks must expose with the same "
          "rights, in the same order",
          other->who);
    const bootstrap::gathered all = all_.gather(packed(given));
    auto parts = std::make_unique<exposed_part[]>(all.size());
    for (std::size_t peer = 0; peer < all.size(); ++peer)
      parts[peer] = accepted_part(static_cast<rank>(peer), all[peer]);
    mine.agreed();
    return std::unique_ptr<const exposed_part[]>(std::move(parts));
  });
}

}  // namespace heddle::engine
