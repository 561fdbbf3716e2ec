// SPDX-License-Identifier: BSD-3-Clause
#include "base/settings.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

#include "base/error.h"

namespace heddle {
namespace {

struct row {
  setting what;
  std::variant<std::string settings::*, std::uint64_t settings::*> member;
};
static_assert(std::is_same_v<std::size_t, std::uint64_t>, "one kind of member serves both");

using kind = setting::kind_t;

constexpr row text(std::string_view name, std::string settings::*member, std::string_view help) {
  return {text_setting(name, {}, help), member};
}
constexpr row choice(std::string_view name, std::string settings::*member, std::string_view help,
                     std::string_view choices) {
  return {choice_setting(name, {}, help, choices), member};
}
constexpr row bytes(std::string_view name, std::uint64_t settings::*member, std::string_view help,
                    std::uint64_t least, std::uint64_t most) {
  return {bytes_setting(name, {}, help, least, most), member};
}
constexpr row number(std::string_view name, std::uint64_t settings::*member, std::string_view help,
                     std::uint64_t least, std::uint64_t most) {
  return {number_setting(name, {}, help, least, most), member};
}

// The table: the only place that ties a name to a member. In the order of `heddle info`.
constexpr std::array table{
    row{{kind::list, "HEDDLE_BACKENDS",
         "backends that may be used, best first: the first that reaches a peer is its route", "",
         "names of backends with commas between them, or of one rail of one, counted from 0, as in "
         "NAME.rail0; `heddle info` lists those there are"},
        &settings::backends},
    text("HEDDLE_MODULE_PATH", &settings::module_path,
         "folders with modules of backends, colons between them, besides the library's own"),
    text("HEDDLE_HOST", &settings::host, "stands in for this host's identity and name"),
    row{{kind::log, "HEDDLE_LOG",
         "least severity of messages on stderr, for all of Heddle or for subsystems", "",
         "off | error | warn | info | debug, or SUBSYSTEM=LEVEL (job, wire, memory, progress, "
         "peer), "
         "or several with commas between them"},
        &settings::log},
    bytes("HEDDLE_EAGER_BYTES", &settings::eager_bytes,
          "larger messages go by rendezvous; 0: the backend decides", 0, gib),
    bytes("HEDDLE_STRIPE_BYTES", &settings::stripe_bytes,
          "transfers of at least this go over all rails to a peer at once; 0: over the first only",
          0, 64 * gib),
    bytes("HEDDLE_CREDIT_BYTES", &settings::credit_bytes,
          "unexpected messages that a sender may cause at once, per peer and lane; more does not "
          "make a flood faster",
          4 * kib, 64 * gib),
    bytes("HEDDLE_UNEXPECTED_BYTES", &settings::unexpected_bytes,
          "unexpected small messages fetched beyond the credit, per lane; beyond that a send waits "
          "for its receive",
          0, 64 * gib),
    number("HEDDLE_RECORDS", &settings::records, "operations in flight per lane", 16, 1u << 20),
    number("HEDDLE_PEER_TIMEOUT_MS", &settings::peer_timeout_ms,
           "a peer silent for longer is lost (milliseconds)", 1, 86'400'000),
    number("HEDDLE_JOIN_TIMEOUT_MS", &settings::join_timeout_ms,
           "a world that is made waits no longer for ranks that do not come; 0: no limit "
           "(milliseconds)",
           0, 86'400'000),
    number("HEDDLE_LINGER_MS", &settings::linger_ms,
           "longest flush at the end of a world (milliseconds)", 0, 86'400'000),
    row{{kind::number_or_auto, "HEDDLE_SPIN_US",
         "polling before a wait sleeps (microseconds); auto: as long as four wakes take", "",
         "auto, or a whole number", 0, 1'000'000},
        &settings::spin_us},
    choice("HEDDLE_PROGRESS", &settings::progress, "who moves transfers forward",
           "adaptive | inline | dedicated | idle"),
    number("HEDDLE_EXECUTORS", &settings::executors,
           "threads of Heddle's own, in progress modes dedicated and idle", 1, 64),
    row{{kind::cores, "HEDDLE_EXECUTOR_CORES", "where dedicated executors run", "",
         "near (a free core by their lanes), none, or core numbers with commas between them"},
        &settings::executor_cores},
    choice("HEDDLE_CHECKS", &settings::checks,
           "a mistake in the use of lanes and completions ends the program with a message",
           "off | on"),
    choice("HEDDLE_RCACHE", &settings::rcache,
           "memory stays registered with RDMA devices while it is mapped; auto: where userfaultfd "
           "tells of unmapping; hooks: calls of munmap alone do",
           "auto | hooks | off"),
    choice("HEDDLE_MEM_HOOKS", &settings::mem_hooks,
           "backends that keep memory registered redirect the program's calls of mmap, munmap, brk "
           "and the like; others never do",
           "on | off"),
    number("HEDDLE_RCACHE_ENTRIES", &settings::rcache_entries,
           "registrations kept, per queue of a device; as many again of what peers only read", 1,
           16384),
    bytes("HEDDLE_RCACHE_BYTES", &settings::rcache_bytes,
          "memory kept registered, per queue of a device; as much again of what peers only read; "
          "0: no limit",
          0, 1024 * gib),
    number("HEDDLE_BACKSTOP_MS", &settings::backstop_ms,
           "a sleeping wait looks by itself at least this often, at first every 4; 0: never, for "
           "tests of the wake-ups (milliseconds)",
           0, 86'400'000),
    text(
        "HEDDLE_TRACE", &settings::trace,
        "a file for what this rank's operations did, %r for its number: Chrome's trace format, for "
        "Perfetto and `heddle trace`"),
    number("HEDDLE_TRACE_SAMPLE", &settings::trace_sample, "of so many operations one is traced", 1,
           1'000'000),
    number("HEDDLE_TRACE_EVENTS", &settings::trace_events,
           "events of each thread that are kept for the trace, the newest; 56 bytes each", 64,
           1u << 26),
    number("HEDDLE_STRICT", &settings::strict,
           "1: a HEDDLE_* name that is no setting is an error; 0: a warning", 0, 1),
    text("HEDDLE_FAULTS", &settings::faults,
         "for tests: what goes wrong, like "
         "seed=42,delay=3,reorder=30,busy=20,split=50,kill=2@500,late=1>2:50"),
};

constexpr std::string_view name_prefix = "HEDDLE_";

void assign(const row& r, const std::string& value, settings& into) {
  r.what.check(value);
  if (const auto* text_member = std::get_if<0>(&r.member))
    into.** text_member = value;
  else
    into.*std::get<1>(r.member) = r.what.number_in(value);
}

std::string print(const row& r, const settings& from) {
  if (const auto* text_member = std::get_if<0>(&r.member)) return from.**text_member;
  return r.what.print(from.*std::get<1>(r.member));
}

const std::string* find(const std::string_view name, const environment& in) {
  const auto found = in.find(std::string(name));
  return found != in.end() ? &found->second : nullptr;
}

}  // namespace

const char* default_backends() noexcept {
  return HEDDLE_DEFAULT_BACKENDS;
}

environment this_environment() {
  environment found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view pair = *entry;
    const std::size_t end = pair.find('=');
    if (pair.starts_with(name_prefix) && end != std::string_view::npos)
      found.emplace(pair.substr(0, end), pair.substr(end + 1));
  }
  return found;
}

settings read_settings(const environment& given, const settings& defaults) {
  settings found = defaults;
  for (const auto& [name, value] : given) found.others[name] = value;
  for (const row& r : table) {
    if (const std::string* value = find(r.what.name, given)) assign(r, *value, found);
    found.others.erase(std::string(r.what.name));
  }
  return found;
}

std::vector<setting_value> core_settings(const settings& from) {
  std::vector<setting_value> all;
  for (const row& r : table) all.push_back({&r.what, print(r, from)});
  return all;
}

std::string text_of(const setting& of, const settings& all) {
  const std::string* const given = find(of.name, all.others);
  if (given == nullptr) return std::string(of.initial);
  of.check(*given);
  return *given;
}

std::uint64_t number_of(const setting& of, const settings& all) {
  return of.number_in(text_of(of, all));
}

}  // namespace heddle
