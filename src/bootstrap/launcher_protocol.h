// SPDX-License-Identifier: BSD-3-Clause
// launcher_protocol.h - what a rank and `heddle run` say to each other, and the parser for it.
//
// Each rank inherits one end of a SOCK_SEQPACKET pair, named by HEDDLE_BOOT_FD. Wrapper scripts
// may share it, so it carries one kind of message only: "join", with a stream socket attached on
// which everything else is said. The end of that socket means the process that joined is gone.
//
//   rank      join (+ socket)   exchange {blob}      barrier     leave     abort {status, why}
//   launcher  welcome           everything {blobs}   released              failed {why}
//             starting
//
// A large answer to an exchange comes as a file, whose descriptor is attached to a frame without
// payload, so that the ranks of a host map one table.
//
// Between "joining {limit}" and "joined", which are not answered, a rank takes part in the job's
// start: meetings that wait for others for longer than the limit fail. "starting" is no answer: it
// tells those that wait that not all ranks are started yet, and that the limit counts from now on.
//
// A rank may be joined several times, one process after the other: the ranks' n-th joins meet each
// other. Numbers are in the machine's own byte order: both ends are on one host.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace heddle::bootstrap::protocol {

inline constexpr const char* fd_variable = "HEDDLE_BOOT_FD";
inline constexpr const char* rank_variable = "HEDDLE_RANK";
inline constexpr const char* size_variable = "HEDDLE_SIZE";

inline constexpr std::uint8_t version = 4;
inline constexpr std::size_t max_blob_bytes = 4096;
/// A job's size is believed up to here. A frame's length has 32 bits, and what so many ranks give
/// at most still fits (see max_everything()); the largest machines of today run a sixth of it.
inline constexpr int max_ranks = 1'000'000;
inline constexpr std::size_t max_text_bytes = 4096;

/// Throws error: a rank may not give so many bytes at once.
void check_blob(std::span<const std::byte> given);

enum class frame_kind : std::uint8_t {
  join = 1,
  welcome,
  exchange,
  everything,
  barrier,
  released,
  failed,
  leave,
  joining,
  joined,
  abort,
  starting,
};

struct frame {
  frame_kind kind;
  std::vector<std::byte> payload;
};

/// Of a frame's beginning.
inline constexpr std::size_t head_bytes = 8;
/// What encode() has made.
[[nodiscard]] frame_kind kind_of(std::span<const std::byte> whole_frame) noexcept;
/// The frame's bytes as they travel.
[[nodiscard]] std::vector<std::byte> encode(frame_kind kind, std::span<const std::byte> payload);

/// Cuts a byte stream into frames. Total: any bytes are either frames or make it broken.
class frame_parser {
 public:
  /// Frames with more than `max_payload` bytes break the stream.
  explicit frame_parser(std::size_t max_payload) noexcept : max_payload_(max_payload) {}
  /// From the next frame on.
  void limit(std::size_t max_payload) noexcept { max_payload_ = max_payload; }

  void push(std::span<const std::byte> received);
  /// The next whole frame, if there is one.
  [[nodiscard]] std::optional<frame> next();
  /// True once the stream was not this protocol; next() then gives nothing any more.
  [[nodiscard]] bool broken() const noexcept { return broken_; }

 private:
  std::size_t max_payload_;
  std::vector<std::byte> buffered_;
  std::size_t taken_ = 0;  ///< of buffered_, by frames already given out
  bool broken_ = false;
};

/// What the launcher answers to a join.
struct welcome {
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::int32_t local_ranks = 0;
  std::array<std::byte, 32> secret{};
};
[[nodiscard]] std::vector<std::byte> encode(const welcome& w);
/// Nothing when the payload is not a welcome to a possible rank of a possible job.
[[nodiscard]] std::optional<welcome> decode_welcome(std::span<const std::byte> payload);

/// The payload of `everything`: a table of one blob per rank, as in gathered.h.
[[nodiscard]] std::vector<std::byte> encode_blobs(std::span<const std::vector<std::byte>> blobs);
/// Largest payload of `everything` in a job of `size` ranks.
[[nodiscard]] constexpr std::size_t max_everything(std::size_t size) noexcept {
  return size * (2 * sizeof(std::uint32_t) + max_blob_bytes);
}
static_assert(max_everything(max_ranks) <= UINT32_MAX);

/// The payload of `joining`: milliseconds, 0 for no limit.
[[nodiscard]] std::vector<std::byte> encode_limit(std::uint64_t ms);
/// Nothing when the payload is no limit.
[[nodiscard]] std::optional<std::uint64_t> decode_limit(std::span<const std::byte> payload);

/// The payload of `abort`: how the launcher is to end, 1 to 255, and why.
struct ending {
  int status = 1;
  std::string why;
};
[[nodiscard]] std::vector<std::byte> encode(const ending& e);
/// Nothing when the payload is no such ending.
[[nodiscard]] std::optional<ending> decode_ending(std::span<const std::byte> payload);

[[nodiscard]] std::vector<std::byte> encode_text(std::string_view text);
[[nodiscard]] std::string decode_text(std::span<const std::byte> payload);

/// Sends `join` with `connection` attached over an inherited socket. Returns 0 or an errno value.
[[nodiscard]] int send_join(int inherited, int connection) noexcept;

/// What receive_join found.
struct join_request {
  enum class result_t { joined, nothing, not_a_join, no_room, ended };
  result_t result = result_t::nothing;
  unique_fd connection;      ///< when joined: CLOEXEC
  std::uint8_t version = 0;  ///< when joined: what the rank speaks
};
/// Takes one join without waiting. `ended`: no process holds the other end any more. `no_room`: one
/// is lost, since this process may have no more descriptors.
[[nodiscard]] join_request receive_join(int inherited) noexcept;

}  // namespace heddle::bootstrap::protocol
