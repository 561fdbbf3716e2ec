// SPDX-License-Identifier: BSD-3-Clause
// hello.h - what two processes say to each other, in single datagrams, before two of their lanes
// are connected. A datagram may get lost, come twice or late: asking again is answered again, and
// the answer is the same.
#pragma once
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "backends/verbs/card.h"

namespace heddle::transport::verbs {

struct hello {
  enum class kind_t : std::uint8_t {
    ask,     ///< my stream to your lane begins at this queue pair: which is yours?
    answer,  ///< this one, and it is ready
    refuse,  ///< there is none to be had
  };
  kind_t kind = kind_t::ask;
  std::uint8_t pad = 0;
  std::uint16_t from_lane = 0, to_lane = 0;  ///< of the one who asked, and of the other
  std::uint16_t pad2 = 0;
  std::int32_t from = 0, to = 0;               ///< ranks: who speaks, to whom
  std::uint64_t from_nonce = 0, to_nonce = 0;  ///< which process of that rank
  std::uint32_t question = 0;                  ///< the asker's number of it
  std::uint32_t stream = 0;                    ///< the asker's number of its stream
  std::uint32_t inlet = 0;                     ///< the answerer's of the other end
  std::uint32_t window = 0;                    ///< answer: messages that may wait there
  far_end end;                                 ///< the speaker's
};
static_assert(sizeof(hello) == 56);

inline constexpr std::size_t proof_bytes = 16;
using hello_image = std::array<std::byte, 8 + sizeof(hello) + proof_bytes>;

/// With a proof that the speaker knows the job's secret.
[[nodiscard]] hello_image encode(const hello& h,
                                 std::span<const std::byte, 32> job_secret) noexcept;
/// Nothing, when it is of another job, another version, or no hello at all. Total.
[[nodiscard]] std::optional<hello> parse_hello(std::span<const std::byte> bytes,
                                               std::span<const std::byte, 32> job_secret) noexcept;

}  // namespace heddle::transport::verbs
