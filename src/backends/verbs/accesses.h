// SPDX-License-Identifier: BSD-3-Clause
// accesses.h - puts, gets and atomics as flights: through a slot, or from and to the program's own
// memory, registered for as long as it takes and kept for the next time.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/verbs/regions.h"
#include "backends/verbs/words.h"

namespace heddle::transport::verbs {

class accesses {
 public:
  accesses(regions& known, slots& through, memory::registration_cache& cache,
           std::uint32_t max_inline)
      : regions_(known), slots_(through), cache_(cache), max_inline_(max_inline) {}

  /// Adds it to its stream, which has room, or finds it over. Throws std::bad_alloc.
  [[nodiscard]] status start(peer_lane& p, op& o);
  /// It is there, as the card says. False: it was only a try, and another one follows it.
  [[nodiscard]] bool finish(stream& s, flight& f) noexcept;

 private:
  [[nodiscard]] static status check(const peer_region& r, const op& o, std::size_t bytes,
                                    rights needed) noexcept;
  template <op_kind Kind>
  [[nodiscard]] status move(peer_lane& p, const peer_region& r, op& o);
  [[nodiscard]] status act(peer_lane& p, const peer_region& r, op& o) noexcept;
  [[nodiscard]] static bool try_again(stream& s, flight& f, std::uint64_t found) noexcept;

  regions& regions_;
  slots& slots_;
  memory::registration_cache& cache_;
  memory::registration_cache::hint last_;
  const std::uint32_t max_inline_;
};

}  // namespace heddle::transport::verbs
