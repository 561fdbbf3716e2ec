// SPDX-License-Identifier: BSD-3-Clause
// visit_log.h - what this rank has measured as initiator, in earlier sittings of the run and in
// this one, and its way into the host's shard.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "linktest/results/descriptor.h"
#include "linktest/results/shard.h"

namespace heddle::linktest {

/// Which run a log belongs to, and where its shards are.
struct log_place {
  std::string run_folder;
  std::uint64_t run = 0;
  std::string section = {};  ///< which has a folder in the run's; empty: it is the only one

  [[nodiscard]] std::string folder() const {
    return section.empty() ? run_folder : run_folder + '/' + section;
  }
};

/// One thread. Memory: the times of earlier sittings, and 4 bytes for each rank.
class visit_log {
 public:
  /// Knows nothing and keeps nothing.
  visit_log() = default;
  /// `hosts` by rank; those that are called as this rank's share its shard. Reads what is there of
  /// this rank, where the pair's hosts are still called as they were.
  visit_log(log_place where, int self, std::span<const std::string> hosts, std::size_t sizes);

  /// Whether a visit need not be made again.
  [[nodiscard]] bool has(std::size_t size_index, int peer, std::uint64_t repetition) const noexcept;
  /// Visits of earlier sittings.
  [[nodiscard]] std::size_t earlier() const noexcept { return earlier_.size(); }
  /// Gives `into` what earlier sittings measured.
  void restore(row& into) const;
  /// Takes a visit of this rank; who asks fills in all but the run and the hosts. It comes into the
  /// shard by the next flush(), or by itself when a fifth of a second has passed since the last.
  void keep(measured_visit visit);
  /// What was kept until now survives this process.
  void flush();
  /// Why nothing more can be kept: the errno; 0: it can.
  [[nodiscard]] int problem() const noexcept { return problem_; }
  /// Where it is kept.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The run is over: removes the host's shard, and the folders where nothing else is in them.
  void forget() noexcept;

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds between_writes{200};

  void read_earlier();

  log_place where_;
  int self_ = 0;
  std::vector<std::uint32_t> marks_;  // by peer, hosts_mark() of the pair
  std::string path_;
  std::size_t sizes_ = 0;
  std::map<std::pair<int, std::size_t>, std::uint32_t>
      visits_;                           // of earlier ones, by peer and size
  std::vector<measured_visit> earlier_;  // by peer and size, in order
  std::string pending_;
  descriptor file_;
  int problem_ = 0;
  clock::time_point written_ = clock::now();
};

}  // namespace heddle::linktest
