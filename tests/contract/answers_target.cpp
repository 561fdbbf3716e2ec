// SPDX-License-Identifier: BSD-3-Clause
#include "contract/answers_target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "support/pattern.h"

namespace heddle::test {
namespace {

constexpr std::uint64_t theirs = 3;  // the pattern of all memory that peers may address
constexpr std::array all_rights{rights::all, rights::write | rights::atomic,
                                rights::read | rights::atomic, rights::read | rights::write,
                                rights::none};
std::atomic<int> handled = 0;

bool region_ends(const answer_row& row) {
  return row.when == state::withdrawn || row.when == state::withdrawn_before ||
         row.when == state::replaced;
}

}  // namespace

side::side(world& w) : in(w), on(w) {
  for (const rights allowed : all_rights)
    arrays.push_back(w.symmetric<std::byte>(region_bytes, allowed));
  doomed.emplace(w.symmetric<std::byte>(region_bytes));
  w.set_handler(1, [](void*, lane&, const call_message&) noexcept { ++handled; });
}

symmetric<std::byte>& side::array(rights allowed) {
  const auto at = std::ranges::find(all_rights, allowed) - all_rights.begin();
  return arrays[static_cast<std::size_t>(at)];
}

int handled_calls() {
  return handled;
}

target::target(const answer_row& row, memory_kind kind, side& here, side& owner) {
  if (row.when == state::nowhere) {
    start_ = here.array(rights::all).at(row.peer).address;
  } else if (kind == memory_kind::symmetric) {
    take_array(row, here, owner);
  } else {
    make_region(row, kind, here, owner);
  }
  start_.offset += row.offset;
  fill_pattern(memory_, theirs);
}

bool target::untouched() const {
  return is_pattern(memory_, theirs);
}

void target::take_array(const answer_row& row, side& here, side& owner) {
  if (region_ends(row)) {
    start_ = here.doomed->at(owner.in.rank()).address;
    owner.doomed.reset();
  } else {
    start_ = here.array(row.allowed).at(owner.in.rank()).address;
    memory_ = owner.array(row.allowed).local();
  }
}

void target::make_region(const answer_row& row, memory_kind kind, side& here, side& owner) {
  const auto plain = std::span(owner.plain).subspan(row.base, region_bytes);
  const bool exposed = kind == memory_kind::exposed;
  region_ =
      exposed ? owner.in.expose(plain, row.allowed) : owner.in.allocate(region_bytes, row.allowed);
  memory_ = region_.memory();
  const key known = region_.key();
  if (row.when != state::withdrawn_before) imported_ = here.in.import(known);
  if (region_ends(row)) {
    region_.withdraw();
    if (!exposed) memory_ = {};  // it is gone
  }
  if (row.when == state::withdrawn_before) import_late(here, known);
  if (row.when == state::replaced) region_ = owner.in.expose(plain, row.allowed);
  start_ = imported_.at(0);
}

/// Backends that learn of the withdrawal from the key alone say so at once.
void target::import_late(side& here, const key& known) {
  try {
    imported_ = here.in.import(known);
  } catch (const error& e) {
    refused_ = true;
    EXPECT_NE(std::string(e.what()).find("withdrawn"), std::string::npos) << e.what();
  }
}

/// Arrays are withdrawn by their owner alone, who has no address of them any more; what is nowhere
/// is of no kind; and all but exposed memory begins at a page.
bool exists(const answer_row& row, memory_kind kind, const side& here, const side& owner) {
  if (row.when == state::nowhere) return kind == memory_kind::symmetric && &owner != &here;
  if (row.when == state::in_a_forks_child || row.base != 0) return kind == memory_kind::exposed;
  return kind != memory_kind::symmetric || &owner != &here || !region_ends(row);
}

}  // namespace heddle::test
