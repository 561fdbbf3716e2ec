// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/slots.h"

#include <cerrno>

#include "base/error.h"

namespace heddle::transport::verbs {

slots::slots(const card& on, std::size_t count, std::size_t bytes)
    : bytes_(bytes), memory_("heddle-verbs-slots", count * bytes, memory::peers::none) {
  registered_.reset(ibv_reg_mr(on.domain(), memory_.memory().data(), memory_.memory().size(),
                               int{IBV_ACCESS_LOCAL_WRITE}));
  if (registered_ == nullptr)
    fail_errno(errno,
               "{}: {} bytes cannot be registered; raise the limit on locked memory (ulimit -l)",
               on.name(), memory_.memory().size());
  free_.resize(count);
  for (std::size_t n = count; n-- != 0;) give_back(at(n));
}

}  // namespace heddle::transport::verbs
