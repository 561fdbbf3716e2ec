// SPDX-License-Identifier: BSD-3-Clause
// letter_box.h - answers to what a lane has asked peers: the device's thread puts them in, the
// lane's takes them out.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/verbs/hello.h"
#include "base/fd.h"
#include "sync/release_acquire.h"

namespace heddle::transport::verbs {

/// The answer to a question of a lane's.
struct letter {
  std::uint32_t stream = 0, question = 0;
  std::optional<hello> answer;  ///< nothing: nobody has answered, or the peer refuses
};

/// Threads: any.
class letter_box {
 public:
  /// Throws error: no descriptors left.
  letter_box();

  /// Readable while there is a letter. Constant.
  [[nodiscard]] int bell() const noexcept { return bell_.get(); }
  /// Throws std::bad_alloc.
  void put(letter l);
  /// Whether there may be a letter: nothing but a load.
  [[nodiscard]] bool has_letters() const noexcept { return some_here_.is_set(); }
  [[nodiscard]] std::vector<letter> take_all() noexcept;

 private:
  unique_fd bell_;
  sync::release_acquire_flag some_here_;
  std::mutex mutex_;
  std::vector<letter> letters_;  // guarded by it
};

}  // namespace heddle::transport::verbs
