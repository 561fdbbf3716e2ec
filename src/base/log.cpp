#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

#include "base/error.h"

namespace heddle::log {
namespace {

spdlog::level::level_enum to_spdlog(level l) noexcept {
  switch (l) {
    case level::debug:
      return spdlog::level::debug;
    case level::info:
      return spdlog::level::info;
    case level::warn:
      return spdlog::level::warn;
    case level::error:
      return spdlog::level::err;
    case level::off:
      break;
  }
  return spdlog::level::off;
}

level parse_level(std::string_view name) {
  if (name == "off") return level::off;
  if (name == "error") return level::error;
  if (name == "warn") return level::warn;
  if (name == "info") return level::info;
  if (name == "debug") return level::debug;
  fail("unknown log level '{}'; it can be off, error, warn, info or debug", name);
}

// Never destroyed: threads may still log while the process's statics go away.
spdlog::logger& logger() {
  static spdlog::logger* const only = [] {
    auto* made = new spdlog::logger("heddle", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::warn);
    made->set_pattern("heddle: %l: %v");
    return made;
  }();
  return *only;
}

}  // namespace

void open(std::string_view level_name, int rank) {
  const level wanted = parse_level(level_name);
  logger().set_level(to_spdlog(wanted));
  logger().set_pattern(rank < 0 ? "heddle: %l: %v" : fmt::format("heddle[{}]: %l: %v", rank));
}

bool enabled(level wanted) noexcept {
  return wanted != level::off && logger().should_log(to_spdlog(wanted));
}

void write(level severity, std::string_view line) noexcept {
  logger().log(to_spdlog(severity), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace heddle::log
