// SPDX-License-Identifier: BSD-3-Clause
// standard_output.h - printing for people where more than what is printed is at stake.
//
// Whoever reads the output may have seen enough (`| head -1`), and a disk may be full. A program
// that has measured for an hour writes its files all the same; what did not arrive is told by its
// exit status.
#pragma once
#include <string_view>

namespace heddle::tools {

/// Writes `text` to standard output at once. Never throws: the first failure is remembered for
/// finish_output().
void print(std::string_view text) noexcept;
/// Writes `text` to standard error. Never throws; nobody could be told of a failure.
void complain(std::string_view text) noexcept;

/// From now on output that nobody reads any more is a failure to print, and a file that gets longer
/// than it may (ulimit -f) a failure to write, and not a signal that ends this process. For
/// processes that have files to write.
void outlive_readers() noexcept;

/// To be called at the end. Returns what a process that has come to `status` ends with: 128 +
/// SIGPIPE where that was success but nobody read all of the output, as if the signal had ended it;
/// `failed`, having said why, where it was success but output did not arrive for another reason.
[[nodiscard]] int finish_output(int status) noexcept;

}  // namespace heddle::tools
