// SPDX-License-Identifier: BSD-3-Clause
// placement.h - where threads of Heddle's own run.
#pragma once
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace heddle::engine {

/// That the calling thread may run on, ascending; empty: unknown.
[[nodiscard]] std::vector<int> usable_cores();

/// The core for dedicated executor `index`, or -1: wherever the scheduler likes.
///
/// `wish`: none, near, or core numbers with commas between them, taken in turn. Near: of the cores
/// this process may use and on which no thread in `all` opened its lane, the one that shares the
/// innermost part of the machine (cache, package) with the first of `mine`; -1 when none is free.
/// Throws error: a core this process may not use.
[[nodiscard]] int choose_core(const std::string& wish, int index, std::span<const int> mine,
                              std::span<const int> all);

/// Lets `thread` use all of `cores` but `core`. False: there is no other, or the system refuses.
bool keep_off(std::thread::native_handle_type thread, std::span<const int> cores,
              int core) noexcept;

/// How many cores one of `ranks` ranks on this host has for itself: those it is tied to, if that is
/// less than an equal share. At least 1.
[[nodiscard]] int share_of_cores(int ranks);
/// How many of `ranks` ranks on this host there are for each of its cores, rounded up.
[[nodiscard]] int ranks_per_core(int ranks);

/// Ties the calling thread to `core`. False: the system refuses.
bool tie_to_core(int core) noexcept;

}  // namespace heddle::engine
