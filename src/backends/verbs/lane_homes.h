// SPDX-License-Identifier: BSD-3-Clause
// lane_homes.h - which lanes this process has for those who ask for one, and the asks for lanes
// that it does not have yet.
//
// Threads: one at a time (the device's mutex).
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "backends/verbs/hello.h"
#include "backends/verbs/lane_home.h"

namespace heddle::transport::verbs {

class lane_homes {
 public:
  /// Throws std::bad_alloc.
  void add(int lane, const std::shared_ptr<lane_home>& home) { places_[lane] = {home, true}; }
  [[nodiscard]] bool was_made(int lane) const noexcept;
  /// Of a lane that was made. Null: it has ended.
  [[nodiscard]] std::shared_ptr<lane_home> find(int lane) const noexcept;
  [[nodiscard]] std::size_t without_doorbell() const noexcept;

  /// An ask for a lane that was not made yet is kept, once. What there are too many of is asked
  /// again. Throws std::bad_alloc.
  void keep_early(const hello& ask);
  [[nodiscard]] bool has_early() const noexcept { return !early_.empty(); }
  [[nodiscard]] std::vector<hello> take_early() noexcept;
  /// A lane that is asked for early and was not named before; -1: there is none.
  [[nodiscard]] int name_wanted() noexcept;

 private:
  struct place {
    std::weak_ptr<lane_home> home;
    bool was_made = false;
  };
  std::map<int, place> places_;  // by lane, of those made or asked for
  std::vector<hello> early_;
};

}  // namespace heddle::transport::verbs
