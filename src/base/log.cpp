// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "base/error.h"

namespace heddle::log {
namespace {

constexpr std::array<std::string_view, 5> level_names{"debug", "info", "warn", "error", "off"};
/// In lines.
constexpr std::array<std::string_view, 4> severities{"debug", "info", "warning", "error"};

constexpr std::array<subsystem_row, subsystems> table{{
    {"job", "joining a job and leaving it, the launcher, settings, whether it can be asked"},
    {"wire", "backends that can be used or not, ways to peers, connections, rails given up"},
    {"memory", "what cannot be mapped, copied or registered, and goes a slower way"},
    {"progress", "lanes, executors and helpers"},
    {"peer", "peers that are lost, and those that leave"},
}};

// Relaxed: a line more or less while the levels change is nobody's matter.
std::array<std::atomic<level>, subsystems> levels_now{level::warn, level::warn, level::warn,
                                                      level::warn, level::warn};
std::atomic<int> rank_now{-1};

/// Constant initialised, and never destroyed in effect: threads may log while statics go away.
constinit std::mutex mutex;
constinit log_handler handler = nullptr;
constinit void* handler_context = nullptr;

std::optional<level> level_named(std::string_view name) noexcept {
  const auto found = std::ranges::find(level_names, name);
  if (found == level_names.end()) return {};
  return static_cast<level>(found - level_names.begin());
}

/// One part of HEDDLE_LOG.
bool set_part(std::string_view part, levels& into) noexcept {
  const std::size_t sign = part.find('=');
  if (sign == std::string_view::npos) {
    const auto all = level_named(part);
    if (all) into.fill(*all);
    return all.has_value();
  }
  const auto about = std::ranges::find(table, part.substr(0, sign), &subsystem_row::name);
  const auto wanted = level_named(part.substr(sign + 1));
  if (about == table.end() || !wanted) return false;
  into[static_cast<std::size_t>(about - table.begin())] = *wanted;
  return true;
}

/// In one call, so that lines of several threads and processes do not mix.
void write_to_stderr(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // nobody reads, or the disk is full: there is nowhere else to tell
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

const std::array<subsystem_row, subsystems>& subsystem_table() noexcept {
  return table;
}

std::optional<levels> parse_levels(std::string_view text) noexcept {
  levels found;
  found.fill(level::warn);
  for (;;) {
    const std::size_t end = text.find(',');
    if (!set_part(text.substr(0, end), found)) return {};
    if (end == std::string_view::npos) return found;
    text.remove_prefix(end + 1);
  }
}

void open(std::string_view text, int rank) {
  const auto wanted = parse_levels(text);
  if (!wanted)
    fail(
        "'{}' is no log level: give off, error, warn, info or debug, or SUBSYSTEM=LEVEL with "
        "commas between them",
        text);
  for (std::size_t i = 0; i < subsystems; ++i)
    levels_now[i].store((*wanted)[i], std::memory_order_relaxed);
  rank_now.store(rank, std::memory_order_relaxed);
}

bool enabled(subsystem about, level wanted) noexcept {
  const auto i = static_cast<std::size_t>(about);
  return wanted != level::off && wanted >= levels_now[i].load(std::memory_order_relaxed);
}

void write(subsystem about, level severity, std::string_view line) noexcept {
  const std::string_view name = table[static_cast<std::size_t>(about)].name;
  try {
    std::unique_lock lock(mutex);
    const auto [function, context] = std::pair(handler, handler_context);
    lock.unlock();
    if (function != nullptr) return function(context, static_cast<log_level>(severity), name, line);
    const int rank = rank_now.load(std::memory_order_relaxed);
    const std::string_view word = severities[static_cast<std::size_t>(severity)];
    write_to_stderr(rank < 0 ? fmt::format("heddle: {}: {}: {}\n", word, name, line)
                             : fmt::format("heddle[{}]: {}: {}: {}\n", rank, word, name, line));
  } catch (const std::exception&) {  // no memory for a line
  }
}

}  // namespace heddle::log

void heddle::set_log_handler(log_handler function, void* context) noexcept {
  const std::lock_guard lock(log::mutex);
  log::handler = function;
  log::handler_context = context;
}
