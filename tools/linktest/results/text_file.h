// SPDX-License-Identifier: BSD-3-Clause
// text_file.h - where the text of a file goes while it is made: a piece at a time, so that no file
// has to fit into memory.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "linktest/results/descriptor.h"

namespace heddle::linktest {

/// Takes the next piece of a text. May throw error.
using text_sink = std::function<void(std::string_view piece)>;

/// A file that grows by pieces. One thread; all functions throw error with path and cause.
class text_file {
 public:
  /// Empties the file at `path`, or makes it.
  explicit text_file(std::string path);
  /// Kept in memory until there is enough for a write.
  void add(std::string_view piece);
  /// Writes the rest. Without this the file is not whole.
  void close();

 private:
  void check(int problem) const;
  void flush();

  std::string path_, pending_;
  descriptor file_;
};

}  // namespace heddle::linktest
