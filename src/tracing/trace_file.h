// SPDX-License-Identifier: BSD-3-Clause
// trace_file.h - HEDDLE_TRACE: the record of a rank's operations, written as Chrome's trace format
// (JSON), which Perfetto reads, when the rank ends.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "tracing/recorder.h"

namespace heddle::trace {

/// What a file's head tells of its rank.
struct traced_rank {
  std::int32_t self = 0;
  int size = 1;
  std::string host;
};

/// Where `pattern` leads for a rank: %r is its number; of a job of several that has none, the
/// number goes before the last dot of the name, or behind it.
[[nodiscard]] std::string path_for(const std::string& pattern, std::int32_t self, int size);

/// One world's. Nothing that goes wrong with the file is more than a warning.
class trace_file {
 public:
  /// Opens the file, so that it is known now whether it can be, and begins to record. `sample`,
  /// `events`: as recording.
  trace_file(const std::string& pattern, std::int32_t self, int size, std::uint32_t sample,
             std::size_t events);

  /// Any thread, once; what happens later is in no file.
  void write(const traced_rank& of) noexcept;

 private:
  [[nodiscard]] bool put(std::string_view text) noexcept;
  void give_up(int code) noexcept;

  const std::string path_;
  const std::uint32_t sample_;
  unique_fd file_;
  recording all_;
};

}  // namespace heddle::trace
