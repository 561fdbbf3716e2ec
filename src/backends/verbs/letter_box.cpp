// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/letter_box.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"

namespace heddle::transport::verbs {

letter_box::letter_box() : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!bell_) fail_errno(errno, "no descriptors left (ulimit -n)");
}

void letter_box::put(letter l) {
  {
    const std::scoped_lock lock(mutex_);
    letters_.push_back(l);
    some_here_.set();
  }
  (void)::eventfd_write(bell_.get(), 1);
}

std::vector<letter> letter_box::take_all() noexcept {
  eventfd_t count = 0;
  (void)::eventfd_read(bell_.get(), &count);
  const std::scoped_lock lock(mutex_);
  some_here_.clear();
  return std::exchange(letters_, {});
}

}  // namespace heddle::transport::verbs
