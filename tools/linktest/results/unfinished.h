// SPDX-License-Identifier: BSD-3-Clause
// unfinished.h - what a run's folder says until all of its sections are measured, so that another
// sitting can go on with it.
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

/// What the options of `run` and those of this sitting, which say how it is to be shown, make
/// together. Throws error as chosen().
[[nodiscard]] options gone_on_with(const unfinished_run& run, const options& now);

/// Whether there is one in `folder`.
[[nodiscard]] bool is_unfinished(const std::string& folder);
/// The one in `folder`. Throws usage_error where there is none, and error where it is damaged, with
/// cause and cure.
[[nodiscard]] unfinished_run read_unfinished(const std::string& folder);
/// Throws error.
void write_unfinished(const std::string& folder, const unfinished_run& run);
/// The run is over, or is to be replaced.
void forget_unfinished(const std::string& folder) noexcept;

/// For a file or another process.
[[nodiscard]] std::string to_text(const unfinished_run& run);
/// Throws error, also one of JSON, for what to_text() did not make.
[[nodiscard]] unfinished_run unfinished_from(const std::string& text);

}  // namespace heddle::linktest
