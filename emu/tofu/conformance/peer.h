// SPDX-License-Identifier: BSD-3-Clause
// peer.h - another process, as a test sees it: it opens, registers, looks and posts when asked.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>

#include "process.h"
#include "servant.h"

namespace conformance {

/// The other process is gone or does not answer.
struct peer_lost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using coords = std::array<std::uint8_t, 6>;

/// A VCQ of a peer.
struct far_vcq {
  int code = UTOFU_ERR_NOT_PROCESSED;
  std::uint64_t index = 0;
  utofu_vcq_id_t id = 0;
  int cq = -1;
};

/// Memory of a peer registered with one of its VCQs.
struct far_memory {
  int code = UTOFU_ERR_NOT_PROCESSED;
  std::uint64_t registration = 0;
  utofu_stadd_t stadd = 0;
};

/// What a peer counted in one of its MRQs.
struct tally {
  std::uint64_t notices = 0;
  std::uint64_t disorder = 0;  ///< number of the first notice whose edata was not its turn; none
  int failure = 0;             ///< first code that was not SUCCESS
};

/// Which message belongs to which VCQ.
struct flood_order {
  std::uint64_t from = 0;  ///< index of the peer's VCQ
  utofu_vcq_id_t to = 0;
  utofu_stadd_t at = 0;
  std::uint64_t count = 0;
  unsigned long flags = 0;
};

class peer {
 public:
  /// Does everything in this process, when it is asked.
  peer();
  /// Talks over `there`; the process is this object's if given.
  peer(std::shared_ptr<way> there, std::unique_ptr<process> child);
  ~peer() { leave(); }
  /// Tells it to leave. Says how it ended if that was not well.
  std::string leave();

  [[nodiscard]] bool is_this_process() const { return self_ != nullptr; }
  /// The process, if this program started it.
  process* child() { return child_.get(); }

  coords where();
  far_vcq open(utofu_tni_id_t tni, unsigned long flags = 0, std::uint64_t cmp = none);
  int close(const far_vcq& which);
  std::uint64_t allocate(std::size_t bytes, origin from = origin::heap);
  far_memory enroll(const far_vcq& with, std::uint64_t memory, std::size_t offset,
                    std::size_t bytes, unsigned long flags = 0, std::uint64_t tag = none);
  int strike(const far_memory& which);

  void fill(std::uint64_t memory, std::size_t offset, std::size_t bytes, std::uint64_t seed);
  void set(std::uint64_t memory, std::size_t offset, std::size_t bytes, int value);
  std::size_t mismatch(std::uint64_t memory, std::size_t offset, std::size_t bytes,
                       std::uint64_t seed);
  std::size_t differs(std::uint64_t memory, std::size_t offset, std::size_t bytes, int value);
  std::uint64_t word(std::uint64_t memory, std::size_t offset);

  noticed notice(const far_vcq& of, double seconds = patience);
  /// Takes notices until `want` have come or none comes for that long.
  tally count_notices(const far_vcq& of, std::uint64_t want, double seconds = patience);
  /// Looks at nothing for so long, starting now. Returns at once.
  void rest(double seconds);

  /// Adds 1 to a word `count` times through armw8, then waits for the last. start and finish.
  void start_adding(const flood_order& order);
  /// Puts of 8 bytes, one after the other, taking TCQ entries when full but never the MRQ.
  void start_flood(const flood_order& order);

  void start(verb what, std::initializer_list<std::uint64_t> args = {});
  reply finish(double seconds = 30);
  reply ask(verb what, std::initializer_list<std::uint64_t> args = {});
  /// The same, but an end of the other process is an answer, too.
  bool finish_or_end(reply& answer, double seconds);

 private:
  std::unique_ptr<process> child_;
  std::shared_ptr<way> way_;
  std::uint64_t asked_ = 0;
  std::unique_ptr<servant> self_;
  reply own_answer_;
};

}  // namespace conformance
