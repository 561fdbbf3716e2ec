// SPDX-License-Identifier: BSD-3-Clause
// steering.h - the owner's side of a CQ's steering table: registering memory and finding it again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "address_space.h"
#include "settings.h"
#include "shared_cq.h"

namespace tofu {

/// Any thread, any time: registration is not a queue operation, so it has its own lock.
class steering_table {
 public:
  /// `first`: the automatic tag to begin with, counted from the first one.
  steering_table(shared_cq& shared, unsigned cq, unsigned first, const settings& set);
  ~steering_table();

  /// Both return a utofu_return_code and set `stadd` on success.
  int register_any(std::uint64_t address, std::size_t bytes, bool writable, std::uint64_t& stadd);
  int register_as(unsigned tag, std::uint64_t address, std::size_t bytes, bool writable,
                  std::uint64_t& stadd);
  int deregister(std::uint64_t stadd);
  /// Withdraws the reserved tags of a cmp_id.
  void deregister_reserved(unsigned cmp);

  /// The poster's way: where `bytes` at `stadd` lie, during the visit. nullptr: not registered
  /// memory of this CQ, and `error` says why (UTOFU_ERR_TCQ_*).
  [[nodiscard]] std::byte* find(std::uint64_t stadd, std::size_t bytes, bool to_write,
                                stag_visit& visit, int& error) const noexcept;

 private:
  /// A range of pages with one kind of access.
  using page_range = std::tuple<std::uint64_t, std::uint64_t, bool>;
  struct registration {
    page_range pages;
    host::file_identity file;  ///< inode 0: private memory
    unsigned users = 0;        ///< only counted with SOFTTOFU_DEREG=counted
  };
  [[nodiscard]] page_range round_out(std::uint64_t address, std::size_t bytes,
                                     bool writable) const noexcept;
  bool describe(std::uint64_t address, std::size_t bytes, bool writable, region_facts& facts);
  [[nodiscard]] unsigned free_tag(bool writable) noexcept;
  void withdraw(unsigned tag) noexcept;

  shared_cq& shared_;
  const unsigned cq_;
  const unsigned tags_;
  const std::uint64_t page_;
  const bool counted_;

  std::mutex mutex_;  // guards all below
  std::map<page_range, unsigned> automatic_;
  std::map<unsigned, registration> registered_;
  file_finder files_;
  unsigned next_[2];  // by writable
};

}  // namespace tofu
