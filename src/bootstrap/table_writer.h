// SPDX-License-Identifier: BSD-3-Clause
// table_writer.h - makes the table of an exchange in a file that the ranks of a host share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/fd.h"
#include "bootstrap/gathered.h"

namespace heddle::bootstrap {

/// A file in memory, written from its beginning, then sealed. One thread.
class table_file {
 public:
  /// Throws error: no descriptors, no memory.
  table_file();

  /// Throws error: no memory.
  void append(std::span<const std::byte> bytes);
  void write_at(std::size_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// From now on nobody can change it. The last call.
  [[nodiscard]] unique_fd seal();

 private:
  void flush();

  unique_fd file_;
  std::size_t size_ = 0;  // with what is in buffer_
  blob buffer_;
};

/// What gathered::map() takes, from gifts in any order. One thread.
class table_writer {
 public:
  /// Throws error as table_file does.
  explicit table_writer(std::size_t count);

  [[nodiscard]] bool has(std::size_t rank) const noexcept { return begins_[rank] != 0; }
  /// What one rank has given; no more than once.
  void add(std::size_t rank, std::span<const std::byte> given);
  /// Throws error: somebody's is missing. The last call.
  [[nodiscard]] unique_fd finish();

 private:
  table_file file_;
  std::vector<std::uint32_t> begins_;  // by rank; 0: it is missing
};

}  // namespace heddle::bootstrap
