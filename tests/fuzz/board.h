// SPDX-License-Identifier: BSD-3-Clause
// board.h - what the ranks of a fuzzed job tell, in memory that outlives them: facts, no judgement.
//
// A file that every rank and the watcher map. It is no part of what is tested, so ranks also meet
// here where Heddle's own barrier cannot be trusted: after a rank was lost.
#pragma once
#include <heddle/memory.h>
#include <heddle/status.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/plan.h"

namespace heddle::fuzz {

enum class stage : std::uint8_t { not_begun, begun, posted, ended };

/// What became of a step on a rank. Written by that rank alone, but for `heard`.
struct record {
  std::atomic<stage> at{stage::not_begun};
  status answer = status::done;           ///< of the call
  status code = status::done;             ///< of the completion; the answer, if there was none
  std::atomic<std::uint32_t> ends{0};     ///< how often the completion was delivered
  std::int32_t peer = 0;                  ///< receives and probes: the source
  std::int32_t lane = 0;                  ///< receives and probes: of the source
  std::uint64_t tag = 0;                  ///< receives and probes
  std::uint64_t bytes = 0;                ///< receives and probes: the length
  std::uint64_t value = 0;                ///< atomics: what was fetched; receives: the digest
  std::uint64_t wrong = 0;                ///< 1 + offset of the first byte that is wrong; 0: none
  std::atomic<std::uint32_t> heard{0};    ///< at the target: how often the handler ran
  std::atomic<std::uint32_t> garbled{0};  ///< at the target: with wrong bytes, or before its data
};

/// What a rank found in its part of an area after a phase.
struct area_record {
  bool checked = false;
  std::uint64_t wrong = 0;  ///< 1 + offset of the first byte that is wrong; 0: none
  std::array<std::uint64_t, word_bytes / 8> words{};
};

struct rank_record {
  std::atomic<std::int32_t> pid{0};
  std::atomic<bool> gone{false};          ///< it is about to be killed, or stopped for ever
  std::atomic<std::uint64_t> wake_at{0};  ///< it stops now; the watcher continues it at this time
  std::atomic<std::uint32_t> meetings{0};
  std::atomic<bool> finished{false};                 ///< it came to the end of its part
  std::atomic<std::uint32_t> lost{0};                ///< bit r: it was told that rank r is lost
  std::array<std::atomic<std::int32_t>, 8> doing{};  ///< by thread: id of the step; -1: none
  std::array<char, 400> failure{};                   ///< what set-up threw
  /// What it has not done by now it never will.
  [[nodiscard]] bool has_ended() const { return gone || failure[0] != '\0'; }
};

/// Not to be copied: the place of everything follows from the plan.
class board {
 public:
  /// Makes the file, for a watcher, or maps it, for a rank. Throws error.
  board(const std::string& file, const plan& p, bool make);
  ~board();
  board(const board&) = delete;
  board& operator=(const board&) = delete;

  [[nodiscard]] record& of(int step, int rank) const;
  [[nodiscard]] area_record& of_area(int phase, int area, int rank) const;
  [[nodiscard]] key& key_of(int area, int rank) const;
  [[nodiscard]] rank_record& of_rank(int rank) const;

  /// Something happened: whoever watches for silence begins to count again.
  void moved() const { moves_->fetch_add(1); }
  [[nodiscard]] std::uint64_t moves() const { return moves_->load(); }
  /// Waits until all ranks that are not gone have come here as often.
  void meet(int rank) const;

 private:
  int ranks_, areas_;
  std::size_t bytes_ = 0;
  std::byte* memory_ = nullptr;
  std::atomic<std::uint64_t>* moves_ = nullptr;
  rank_record* rank_records_ = nullptr;
  record* records_ = nullptr;
  area_record* area_records_ = nullptr;
  key* keys_ = nullptr;
};

}  // namespace heddle::fuzz
