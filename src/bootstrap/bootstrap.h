// SPDX-License-Identifier: BSD-3-Clause
// bootstrap.h - joining a job: who am I, how many are we, and one exchange of small addresses.
//
// The engine sees only `session`. One file pair per way to join (own launcher, meeting point, PMIx,
// PMI-1, in-process for tests); ways.h says which one a process takes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/gathered.h"
#include "bootstrap/secret.h"

namespace heddle::bootstrap {

struct job {
  int rank = 0;
  int size = 1;
  int local_ranks = 1;    ///< of this job on this host, as far as known
  secret_bytes secret{};  ///< random, known to the job's ranks only
};

/// A process's membership in a job. One thread at a time.
class session {
 public:
  virtual ~session() = default;
  [[nodiscard]] virtual const job& info() const noexcept = 0;
  /// Collective: gives `mine` (at most 4096 bytes), returns everybody's. Throws error when a rank
  /// died or the launcher went away.
  virtual gathered exchange(std::span<const std::byte> mine) = 0;
  /// Collective. Throws like exchange.
  virtual void barrier() = 0;
  /// This rank needs nothing more to start. What it waits for from now on it waits for without
  /// limit: when a program calls a barrier is its own affair.
  virtual void joined() {}
  /// Asks the launcher to end all ranks, and itself with `status`, 1 to 255; `why` is for people.
  /// Where there is none, nothing happens. Any thread, also while another one meets the ranks.
  virtual void abort(int status, std::string_view why) noexcept = 0;
  /// Whether exchange() and barrier() are to be had after joined() too. False: this is a way to
  /// start only, and from then on the ranks meet by means of their own.
  [[nodiscard]] virtual bool meets_after_joining() const noexcept { return true; }
};

/// Joins the job this process was launched in, by way_to_join(); alone where there is none.
/// Until session::joined(), exchange and barrier throw error when they have waited for `limit_ms`
/// (rounded up to seconds; 0: without limit), naming who is missing where the way can tell. A
/// launcher that says nothing for a little longer than that ends them too, and the join itself.
/// Throws error as way_to_join() does.
[[nodiscard]] std::unique_ptr<session> join(std::uint64_t limit_ms = 0);

/// N sessions of one job inside this process, for tests: exchange and barrier meet in memory; where
/// they do not after joining, they throw error.
[[nodiscard]] std::vector<std::unique_ptr<session>> local_group(int size,
                                                                bool meets_after_joining = true);

}  // namespace heddle::bootstrap
