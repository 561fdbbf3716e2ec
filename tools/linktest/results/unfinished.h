// SPDX-License-Identifier: BSD-3-Clause
// unfinished.h - what a folder says of a run that is not over, so that another can go on with it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "linktest/options.h"

namespace heddle::linktest {

struct unfinished_run {
  std::uint64_t number = 0;  ///< told from other runs by it
  std::string started;       ///< UTC
  std::string typed;         ///< the command that began it
  int ranks = 0;
  std::vector<std::string> arguments;  ///< to_arguments() of its options

  /// Throws error where they are not those of a link test.
  [[nodiscard]] options chosen() const;
};

/// A run that begins now, with a number of its own.
[[nodiscard]] unfinished_run begin_run(options chosen, int ranks, const std::string& command);

/// Whether there is one in `folder`.
[[nodiscard]] bool is_unfinished(const std::string& folder);
/// The folder of one: `folder`, or that of a section in it; empty: all is finished.
[[nodiscard]] std::string unfinished_in(const std::string& folder);
/// The one in `folder`. Throws error with cause and cure.
[[nodiscard]] unfinished_run read_unfinished(const std::string& folder);
/// Throws error.
void write_unfinished(const std::string& folder, const unfinished_run& run);
/// The run is over, or is to be replaced: removes its file and all shards that are here.
void forget_unfinished(const std::string& folder) noexcept;

}  // namespace heddle::linktest
