// SPDX-License-Identifier: BSD-3-Clause
// pmi1_wire.h - the lines that a rank and a PMI-1 launcher say to each other, and the parser for
// it.
//
//   rank      cmd=put kvsname=kvs_7 key=a value=1
//   launcher  cmd=put_result rc=0 msg=success
//
// Words NAME=VALUE with a space between; of `value` only, the rest of the line belongs to it.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::bootstrap::pmi1 {

/// Longer lines are no answer of a launcher: values have at most 1024 bytes.
inline constexpr std::size_t max_line_bytes = 65536;
/// The least that a launcher has to take as a value.
inline constexpr std::size_t min_value_bytes = 64;
/// How long pieces of a value are, of which a launcher takes `vallen_max` bytes, min_value_bytes or
/// more: their number goes with each, and what it answers with one is a line.
[[nodiscard]] std::size_t piece_bytes(std::size_t vallen_max) noexcept;

/// The words of a line.
using words = std::map<std::string, std::string, std::less<>>;

/// Total: nothing for any line that does not follow the above, has a name twice, has no `cmd` or
/// holds bytes that are not printable.
[[nodiscard]] std::optional<words> parse(std::string_view line);

/// Cuts a byte stream into lines.
class line_cutter {
 public:
  void push(std::string_view received) { buffered_ += received; }
  /// The next whole line without its end, if there is one.
  [[nodiscard]] std::optional<std::string> next();
  /// More bytes than a line can have are there, and no end of it.
  [[nodiscard]] bool broken() const noexcept { return buffered_.size() > max_line_bytes; }

 private:
  std::string buffered_;
};

/// How many ranks are where `rank` is, by PMI_process_mapping: "(vector,(0,4,2),...)", where each
/// triple is first node, nodes, ranks on each, repeated until all ranks are placed. Nothing when
/// `mapping` is not that.
[[nodiscard]] std::optional<int> ranks_beside(std::string_view mapping, int rank, int size);

}  // namespace heddle::bootstrap::pmi1
