// descriptor.h - one command for a VCQ, in one form whichever way it is posted.
#pragma once
#include <heddle/types.h>
#include <utofu.h>

#include <cstddef>
#include <cstdint>

#include "backends/utofu/stream.h"

namespace heddle::transport::utofu {

inline constexpr std::size_t max_piggyback = 32;
/// A put or get that is longer goes in pieces: the hardware takes 16 MiB - 1, and one user saw a
/// longer one hang instead of fail (research: utofu.md 1.1).
inline constexpr std::size_t max_piece = 8 * 1024 * 1024;
/// What cannot be registered goes through staging memory, in pieces of this size.
inline constexpr std::size_t staged_piece = 64 * 1024;

struct descriptor {
  enum class form : std::uint8_t { piggyback, put, get, atomic };
  form what = form::put;
  atomic_op atomic = atomic_op::add;
  std::uint8_t width = 8;  ///< atomic
  std::uint8_t edata = 0;
  std::uint32_t flags = 0;
  utofu_vcq_id_t to = 0;
  utofu_stadd_t here = 0;  ///< put, get
  utofu_stadd_t there = 0;
  std::size_t bytes = 0;
  const void* data = nullptr;              ///< piggyback
  std::uint64_t operand = 0, compare = 0;  ///< atomic
  void* cookie = nullptr;                  ///< comes back from utofu_poll_tcq
};

/// Which operations' notices count together.
[[nodiscard]] constexpr queue_name queue_of(descriptor::form f) noexcept {
  if (f == descriptor::form::get) return queue_name::gets;
  return f == descriptor::form::atomic ? queue_name::atomics : queue_name::puts;
}

/// Posts it. A uTofu return code.
[[nodiscard]] int issue(utofu_vcq_hdl_t vcq, const descriptor& d) noexcept;

/// Writes it to `at`, for utofu_post_toq; `size` gets its bytes. A uTofu return code.
[[nodiscard]] int prepare(utofu_vcq_hdl_t vcq, const descriptor& d, void* at,
                          std::size_t& size) noexcept;

}  // namespace heddle::transport::utofu
