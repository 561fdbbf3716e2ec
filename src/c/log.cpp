// SPDX-License-Identifier: BSD-3-Clause
// log.cpp - c.h: lines of the log, for C.
#include <mutex>
#include <string>
#include <string_view>

#include "c/convert.h"

namespace {

/// What C is called by, for texts that end with a zero byte.
struct log_listener {
  heddle_log_handler function;
  void* context;
  static void hear(void* self, heddle::log_level level, std::string_view subsystem,
                   std::string_view line) noexcept {
    const auto& l = *static_cast<const log_listener*>(self);
    l.function(l.context, static_cast<int>(level), std::string(subsystem).c_str(),
               std::string(line).c_str());
  }
};

/// All there ever were: one that was replaced may be running still.
log_listener* keep(heddle_log_handler function, void* context) {
  static std::mutex mutex;
  static auto* const all = new std::vector<std::unique_ptr<log_listener>>;
  const std::lock_guard adding(mutex);
  all->push_back(std::make_unique<log_listener>(log_listener{function, context}));
  return all->back().get();
}

}  // namespace

int heddle_set_log_handler(heddle_log_handler function, void* context) {
  return heddle::c::or_failed(-1, [&] {
    if (function == nullptr)
      heddle::set_log_handler(nullptr);
    else
      heddle::set_log_handler(&log_listener::hear, keep(function, context));
    return 0;
  });
}
