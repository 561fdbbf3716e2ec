// SPDX-License-Identifier: BSD-3-Clause
// equipment.h - the buffers of one benchmark on one rank, and the partner's that it may address.
#pragma once
#include <heddle/heddle.h>

#include <cstddef>
#include <memory>
#include <span>

#include "harness/slots.h"
#include "libraries/station.h"

namespace heddle::bench {

/// Bytes that are plain memory or Heddle's own, and registered when peers shall address them.
class buffer {
 public:
  /// Throws heddle::error.
  buffer(world& job, std::size_t bytes, buffer_kind where, bool addressable);
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  /// Only when addressable.
  [[nodiscard]] const heddle::key& key() const noexcept { return region_.key(); }

 private:
  std::unique_ptr<page_buffer> plain_;
  region region_;
  std::span<std::byte> bytes_;
};

/// Collective between partners.
class equipment {
 public:
  /// Throws heddle::error.
  equipment(station& at, const spec& s);

  [[nodiscard]] const table_layout& layout() const noexcept { return layout_; }
  [[nodiscard]] std::byte* table() const noexcept { return table_.bytes().data(); }
  [[nodiscard]] const remote_region& their_table() const noexcept { return their_table_; }
  /// What thread `t` sends: spec's bytes.
  [[nodiscard]] std::span<std::byte> source(int t) const noexcept;
  /// Where thread `t` receives: spec's bytes for each slot of its window.
  [[nodiscard]] std::span<std::byte> landing(int t, std::size_t slot) const noexcept;

 private:
  std::size_t bytes_;
  std::size_t window_;
  table_layout layout_;
  buffer table_;
  buffer sources_;
  buffer landings_;
  remote_region their_table_;
};

}  // namespace heddle::bench
