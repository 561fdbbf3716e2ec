// SPDX-License-Identifier: BSD-3-Clause
// row_file.h - rows of results that memory is not to be filled with: a file without a name, of
// which the system keeps in memory what it has room for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "linktest/results/descriptor.h"

namespace heddle::linktest {

/// One thread. Gone with its object, however the process ends.
class row_file {
 public:
  /// In `folder`, which is there. Throws error with path, cause and cure, as add() does.
  explicit row_file(std::string folder);
  ~row_file();
  row_file(const row_file&) = delete;
  row_file& operator=(const row_file&) = delete;

  /// Puts `bytes` behind all others; returns where they begin.
  std::uint64_t add(std::span<const std::byte> bytes);
  /// What was added with this beginning; valid until the next add().
  [[nodiscard]] const std::byte* at(std::uint64_t place) const noexcept { return mapped_ + place; }

 private:
  void map();
  [[noreturn]] void fail(int cause) const;

  std::string folder_;
  descriptor file_;
  std::uint64_t size_ = 0, mapped_bytes_ = 0;  // the latter may go beyond what is there
  const std::byte* mapped_ = nullptr;
};

}  // namespace heddle::linktest
