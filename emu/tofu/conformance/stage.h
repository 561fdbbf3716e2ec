// SPDX-License-Identifier: BSD-3-Clause
// stage.h - where most tests play: a VCQ and memory here, a VCQ and memory at the other end.
#pragma once
#include <cstddef>
#include <cstdint>

#include "test.h"

namespace conformance {

class stage {
 public:
  /// The same number of bytes at both ends, one registration each.
  stage(test& t, std::size_t bytes, unsigned long vcq_flags = 0, origin from = origin::heap);

  [[nodiscard]] utofu_stadd_t from(std::size_t offset = 0) const { return own.stadd() + offset; }
  [[nodiscard]] utofu_stadd_t to(std::size_t offset = 0) const { return theirs.stadd + offset; }

  // One operation, posted again as long as the TOQ is full.
  int put(std::size_t source, std::size_t target, std::size_t bytes, unsigned long flags,
          std::uint64_t edata = 0, void* cbdata = nullptr);
  int put_word(std::uint64_t value, std::size_t target, unsigned long flags,
               std::uint64_t edata = 0, void* cbdata = nullptr);
  int put_data(void* data, std::size_t target, std::size_t bytes, unsigned long flags);
  int get(std::size_t target, std::size_t source, std::size_t bytes, unsigned long flags,
          std::uint64_t edata = 0, void* cbdata = nullptr);
  int add(std::uint64_t value, std::size_t target, unsigned long flags, std::uint64_t edata = 0,
          void* cbdata = nullptr);

  /// Waits for a notice of this type, or the test is over.
  utofu_mrq_notice await(utofu_mrq_notice_type type, const char* what);
  /// The old value that an operation on memory brought back.
  std::uint64_t old_value(int posted, const char* what);
  /// A put of these bytes that has arrived.
  void put_now(std::size_t source, std::size_t target, std::size_t bytes, const char* what);
  void get_now(std::size_t target, std::size_t source, std::size_t bytes, const char* what);

  // The other end's memory.
  [[nodiscard]] std::size_t mismatch(std::size_t offset, std::size_t bytes, std::uint64_t seed) {
    return there.mismatch(far_memory_index, offset, bytes, seed);
  }
  [[nodiscard]] std::size_t differs(std::size_t offset, std::size_t bytes, int value) {
    return there.differs(far_memory_index, offset, bytes, value);
  }
  [[nodiscard]] std::uint64_t word(std::size_t offset) {
    return there.word(far_memory_index, offset);
  }
  void fill(std::size_t offset, std::size_t bytes, std::uint64_t seed) {
    there.fill(far_memory_index, offset, bytes, seed);
  }
  void set(std::size_t offset, std::size_t bytes, int value) {
    there.set(far_memory_index, offset, bytes, value);
  }

  test& t;
  memory mine;
  vcq here;
  registration own;
  peer& there;
  far_vcq far;
  std::uint64_t far_memory_index;
  far_memory theirs;
};

}  // namespace conformance
