// SPDX-License-Identifier: BSD-3-Clause
// launcher_output.h - where a launcher's own messages go, and what its ranks print.
#pragma once
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "run/event_loop.h"
#include "run/output.h"

namespace heddle::tools {

/// One thread.
class launcher_output {
 public:
  using taker = std::function<void(std::string_view)>;

  /// `take`, if there is one, gets what the ranks print in place of this process's output.
  /// `relays`: it comes by way of this process in any case. `loop` must outlive it.
  launcher_output(event_loop& loop, taker take, bool relays)
      : errors_(loop, 2), out_(loop, 1, &errors_), relays_(relays || take) {
    if (take) taken_.emplace(std::move(take));
  }

  /// Else the ranks print where this process does.
  [[nodiscard]] bool relays() const noexcept { return relays_; }
  [[nodiscard]] sink& of_ranks() noexcept {
    if (taken_) return *taken_;
    return out_;
  }
  /// The launcher's own messages, and the ranks' errors.
  [[nodiscard]] sink& errors() noexcept { return errors_; }

  /// All of it has been written.
  [[nodiscard]] bool empty() const noexcept { return out_.empty() && errors_.empty(); }
  /// errno of the first write that failed; 0: none did.
  [[nodiscard]] int problem() const noexcept {
    return out_.problem() != 0 ? out_.problem() : errors_.problem();
  }

 private:
  file_sink errors_, out_;
  std::optional<taking_sink> taken_;  ///< in place of out_
  const bool relays_;
};

}  // namespace heddle::tools
