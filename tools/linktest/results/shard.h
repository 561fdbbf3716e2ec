// SPDX-License-Identifier: BSD-3-Clause
// shard.h - what the ranks of a host have measured so far, in a file that survives them: records
// that are only ever appended, each with its length and checksum.
//
// The ranks of a host append to one file, each with a single write, which the kernel does not mix
// with another's. A record that was cut off, by a full disk or the end of the machine, is known by
// its checksum; the search for the next one goes on behind it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linktest/results/metrics.h"
#include "linktest/results/results.h"

namespace heddle::linktest {

/// What the initiator of one visit has measured.
struct measured_visit {
  std::uint64_t run = 0;    ///< the run's number
  std::uint32_t hosts = 0;  ///< hosts_mark() of the pair's hosts
  std::int32_t initiator = 0, peer = 0;
  std::uint32_t size_index = 0, repetition = 0;
  pair_state state = pair_state::measured;
  std::vector<float> times;  ///< seconds per message of each measurement of this visit
  sketch singles;            ///< of single messages; n is 0 without any
};

/// Tells the pair of two hosts from other pairs, in every process of every machine alike.
[[nodiscard]] std::uint32_t hosts_mark(std::string_view initiator, std::string_view peer);

/// The bytes of a record.
[[nodiscard]] std::string to_record(const measured_visit& visit);
/// All records that are whole, in their order; the bytes between them are left out.
[[nodiscard]] std::vector<measured_visit> visits_in(std::string_view bytes);

/// The name of the file for a host's ranks, of which these are the lowest and the highest.
[[nodiscard]] std::string shard_name(int lowest, int highest);
/// The files of a folder that may hold records of `rank`; none where there is no such folder.
[[nodiscard]] std::vector<std::string> shards_with(const std::string& folder, int rank);
/// All of them.
[[nodiscard]] std::vector<std::string> shards_in(const std::string& folder);
/// Removes them: they are of a run that is over, or is to be replaced.
void forget_shards(const std::string& folder) noexcept;

}  // namespace heddle::linktest
