#include "base/settings.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace heddle {
namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

struct row {
  std::string_view name;
  std::string_view help;
  std::string_view accepts;  ///< in words; for choices, the choices with " | " between them
  bool (*parse)(const row& self, const std::string& value, settings& out);
  std::string (*print)(const settings& from);
  std::uint64_t least = 0, most = 0;  ///< numbers and bytes
};

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || problem != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

std::optional<std::uint64_t> try_parse_bytes(std::string_view text) {
  std::uint64_t unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'k':
      case 'K':
        unit = kib;
        break;
      case 'm':
      case 'M':
        unit = mib;
        break;
      case 'g':
      case 'G':
        unit = gib;
        break;
      default:
        break;
    }
  }
  if (unit != 1) text.remove_suffix(1);
  const auto number = parse_number(text);
  if (!number || *number > UINT64_MAX / unit) return {};
  return *number * unit;
}

std::string print_bytes(std::uint64_t bytes) {
  if (bytes == 0) return "0";
  if (bytes % gib == 0) return fmt::format("{}G", bytes / gib);
  if (bytes % mib == 0) return fmt::format("{}M", bytes / mib);
  if (bytes % kib == 0) return fmt::format("{}K", bytes / kib);
  return fmt::format("{}", bytes);
}

// Calls `use` with each part of `list`; stops and returns false when `use` does.
template <class Use>
bool each_part(std::string_view list, std::string_view separator, Use&& use) {
  for (;;) {
    const std::size_t end = list.find(separator);
    if (!use(list.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    list.remove_prefix(end + separator.size());
  }
}

template <auto Member>
std::string print_text(const settings& from) {
  return from.*Member;
}

// Kinds of row. Each parse leaves `out` alone when it returns false.

template <std::string settings::*Member>
constexpr row text(std::string_view name, std::string_view help) {
  const auto parse = [](const row&, const std::string& value, settings& out) {
    out.*Member = value;
    return true;
  };
  return {name, help, "any text", parse, print_text<Member>};
}

template <std::string settings::*Member>
constexpr row list(std::string_view name, std::string_view help, std::string_view accepts) {
  const auto parse = [](const row&, const std::string& value, settings& out) {
    const auto named = [](std::string_view part) {
      return !part.empty() && part.find_first_of(" \t") == std::string_view::npos;
    };
    if (!each_part(value, ",", named)) return false;
    out.*Member = value;
    return true;
  };
  return {name, help, accepts, parse, print_text<Member>};
}

/// near, none, or core numbers.
template <std::string settings::*Member>
constexpr row cores(std::string_view name, std::string_view help, std::string_view accepts) {
  const auto parse = [](const row&, const std::string& value, settings& out) {
    const auto core = [](std::string_view part) {
      const auto number = parse_number(part);
      return number && *number < 4096;
    };
    if (value != "near" && value != "none" && !each_part(value, ",", core)) return false;
    out.*Member = value;
    return true;
  };
  return {name, help, accepts, parse, print_text<Member>};
}

template <std::string settings::*Member>
constexpr row choice(std::string_view name, std::string_view help, std::string_view choices) {
  const auto parse = [](const row& self, const std::string& value, settings& out) {
    if (each_part(self.accepts, " | ", [&](std::string_view one) { return one != value; }))
      return false;
    out.*Member = value;
    return true;
  };
  return {name, help, choices, parse, print_text<Member>};
}

template <std::uint64_t settings::*Member>
constexpr row bytes(std::string_view name, std::string_view help, std::uint64_t least,
                    std::uint64_t most) {
  const auto parse = [](const row& self, const std::string& value, settings& out) {
    const auto found = try_parse_bytes(value);
    if (!found || *found < self.least || *found > self.most) return false;
    out.*Member = *found;
    return true;
  };
  const auto print = [](const settings& from) { return print_bytes(from.*Member); };
  return {name, help, "bytes, with K, M or G for powers of 1024", parse, print, least, most};
}

template <std::uint64_t settings::*Member>
constexpr row number(std::string_view name, std::string_view help, std::uint64_t least,
                     std::uint64_t most) {
  const auto parse = [](const row& self, const std::string& value, settings& out) {
    const auto found = parse_number(value);
    if (!found || *found < self.least || *found > self.most) return false;
    out.*Member = *found;
    return true;
  };
  const auto print = [](const settings& from) { return fmt::format("{}", from.*Member); };
  return {name, help, "a whole number", parse, print, least, most};
}

/// For how it reads and prints.
template <std::uint64_t settings::*Member>
constexpr row plain_number = number<Member>({}, {}, 0, 0);

/// A number, or what is found out when a world starts.
template <std::uint64_t settings::*Member>
constexpr row number_or_auto(std::string_view name, std::string_view help, std::uint64_t least,
                             std::uint64_t most) {
  row r = number<Member>(name, help, least, most);
  r.accepts = "auto, or a whole number";
  r.parse = [](const row& self, const std::string& value, settings& out) {
    if (value != "auto") return plain_number<Member>.parse(self, value, out);
    out.*Member = automatic;
    return true;
  };
  r.print = [](const settings& from) {
    return from.*Member == automatic ? "auto" : plain_number<Member>.print(from);
  };
  return r;
}

static_assert(std::is_same_v<std::size_t, std::uint64_t>, "bytes() and number() serve both");

// The table: the only place that ties a name to a member. In the order of `heddle info`.
constexpr std::array table{
    list<&settings::backends>("HEDDLE_BACKENDS", "backends that may be used, best first",
                              "names of backends with commas between them, like shm,tcp"),
    text<&settings::host>("HEDDLE_HOST", "stands in for this host's identity and name"),
    text<&settings::tcp_iface>("HEDDLE_TCP_IFACE",
                               "network interfaces for tcp, comma-separated, each one a rail; "
                               "empty: choose"),
    choice<&settings::cma>("HEDDLE_SHM_CMA", "copy straight out of and into other processes",
                           "auto | off"),
    number<&settings::utofu_lanes>(
        "HEDDLE_UTOFU_LANES",
        "lanes of this process over Tofu; 0: up to 24, fewer with several ranks on a node", 0, 162),
    number<&settings::utofu_cqs>(
        "HEDDLE_UTOFU_CQS",
        "queues (CQs) of each TNI that lanes take for themselves; the rest "
        "is left to MPI and shared lanes",
        0, 12),
    bytes<&settings::utofu_stage_bytes>(
        "HEDDLE_UTOFU_STAGE_BYTES",
        "puts and gets up to this are copied through registered memory, longer ones registered", 32,
        64 * kib),
    bytes<&settings::utofu_ring_bytes>("HEDDLE_UTOFU_RING_BYTES",
                                       "size of a message ring over Tofu, per pair, lane and "
                                       "direction",
                                       16 * kib, 2 * mib),
    number<&settings::utofu_mrq>("HEDDLE_UTOFU_MRQ",
                                 "notices that a receive queue (MRQ) surely holds; more than it "
                                 "does is fatal",
                                 128, 2 * mib),
    choice<&settings::log>("HEDDLE_LOG", "least severity of messages on stderr",
                           "off | error | warn | info | debug"),
    bytes<&settings::eager_bytes>(
        "HEDDLE_EAGER_BYTES", "larger messages go by rendezvous; 0: the backend decides", 0, gib),
    bytes<&settings::ring_bytes>("HEDDLE_SHM_RING_BYTES",
                                 "size of a message ring, per pair, lane and direction", 4 * kib,
                                 gib),
    bytes<&settings::credit_bytes>(
        "HEDDLE_CREDIT_BYTES",
        "unexpected messages held, per peer and lane; beyond that a send waits for its receive",
        4 * kib, 64 * gib),
    number<&settings::records>("HEDDLE_RECORDS", "operations in flight per lane", 16, 1u << 20),
    bytes<&settings::chunk_bytes>("HEDDLE_TCP_CHUNK_BYTES",
                                  "piece of a large transfer sent in one go", 4 * kib, gib),
    number<&settings::peer_timeout_ms>(
        "HEDDLE_PEER_TIMEOUT_MS", "a peer silent for longer is lost (milliseconds)", 1, 86'400'000),
    number<&settings::join_timeout_ms>(
        "HEDDLE_JOIN_TIMEOUT_MS",
        "a world that is made waits no longer for ranks that do not come; 0: no limit "
        "(milliseconds)",
        0, 86'400'000),
    number<&settings::linger_ms>(
        "HEDDLE_LINGER_MS", "longest flush at the end of a world (milliseconds)", 0, 86'400'000),
    number_or_auto<&settings::spin_us>("HEDDLE_SPIN_US",
                                       "polling before a wait sleeps (microseconds); auto: as long "
                                       "as two wakes take",
                                       0, 1'000'000),
    choice<&settings::progress>("HEDDLE_PROGRESS", "who moves transfers forward",
                                "adaptive | inline | dedicated | idle"),
    number<&settings::executors>(
        "HEDDLE_EXECUTORS", "threads of Heddle's own, in progress modes dedicated and idle", 1, 64),
    cores<&settings::executor_cores>(
        "HEDDLE_EXECUTOR_CORES", "where dedicated executors run",
        "near (a free core by their lanes), none, or core numbers with commas between them"),
    choice<&settings::checks>("HEDDLE_CHECKS",
                              "a mistake in the use of lanes and completions ends the program with "
                              "a message",
                              "off | on"),
    choice<&settings::lane_lock>("HEDDLE_LANE_LOCK",
                                 "to compare with: a plain lock around every call and poll of a "
                                 "lane",
                                 "off | on"),
    choice<&settings::rcache>(
        "HEDDLE_RCACHE",
        "memory stays registered with RDMA devices while it is mapped; auto: "
        "where userfaultfd tells of unmapping; hooks: calls of munmap alone do",
        "auto | hooks | off"),
    number<&settings::rcache_entries>("HEDDLE_RCACHE_ENTRIES",
                                      "registrations kept, per queue of a device; as many "
                                      "again of what peers only read",
                                      1, 16384),
    bytes<&settings::rcache_bytes>("HEDDLE_RCACHE_BYTES",
                                   "memory kept registered, per queue of a device; as much again "
                                   "of what peers only read; 0: no limit",
                                   0, 1024 * gib),
    number<&settings::backstop_ms>(
        "HEDDLE_BACKSTOP_MS",
        "a sleeping wait looks by itself at least this often, at first every "
        "4; 0: never, for tests of the wake-ups (milliseconds)",
        0, 86'400'000),
    number<&settings::strict>(
        "HEDDLE_STRICT", "1: a HEDDLE_* name that is no setting is an error; 0: a warning", 0, 1),
    text<&settings::faults>("HEDDLE_FAULTS",
                            "for tests: what goes wrong, like "
                            "seed=42,delay=3,reorder=30,busy=20,split=50,kill=2@500"),
};

// Set for each rank by `heddle run`; not settings.
constexpr std::array<std::string_view, 3> launcher_names{"HEDDLE_BOOT_FD", "HEDDLE_RANK",
                                                         "HEDDLE_SIZE"};
constexpr std::string_view name_prefix = "HEDDLE_";

std::string accepted_by(const row& r) {
  auto text = std::string(r.accepts);
  if (r.most == 0) return text;
  const bool sized = r.accepts.starts_with("bytes");
  return fmt::format("{}, from {} to {}", text,
                     sized ? print_bytes(r.least) : fmt::format("{}", r.least),
                     sized ? print_bytes(r.most) : fmt::format("{}", r.most));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> line(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) line[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(line[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t swapped = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(line[j], std::min({line[j] + 1, line[j - 1] + 1, swapped}));
    }
  }
  return line[b.size()];
}

/// What tells names apart: HEDDLE_ is common to all.
std::string_view own_part(std::string_view name) {
  return name.substr(name_prefix.size());
}

/// The setting that `name` may have been meant for; empty when none is like it. Up to a third of
/// the letters may differ: HEDDLE_DIR and HEDDLE_HOME are names that others give, not slips.
std::string_view nearest_setting(std::string_view name) {
  const auto distance = [&](const row& r) {
    return edit_distance(own_part(name), own_part(r.name));
  };
  const auto nearest =
      std::min_element(table.begin(), table.end(),
                       [&](const row& a, const row& b) { return distance(a) < distance(b); });
  const std::size_t letters = std::max(own_part(name).size(), own_part(nearest->name).size());
  return distance(*nearest) <= letters / 3 ? nearest->name : std::string_view{};
}

bool is_known(std::string_view name) {
  const auto same = [&](const row& r) { return r.name == name; };
  return std::any_of(table.begin(), table.end(), same) ||
         std::find(launcher_names.begin(), launcher_names.end(), name) != launcher_names.end();
}

const char* from_environment(const char* name) {
  return std::getenv(name);
}

}  // namespace

const char* default_backends() noexcept {
  return HEDDLE_DEFAULT_BACKENDS;
}

settings read_settings(const std::function<const char*(const char*)>& get,
                       const settings& defaults) {
  settings found = defaults;
  for (const row& r : table) {
    const char* value = get(r.name.data());  // literals: they end with a null
    if (value == nullptr || r.parse(r, value, found)) continue;
    fail("{}={}: accepted is {}", r.name, value, accepted_by(r));
  }
  return found;
}

settings read_settings(const settings& defaults) {
  settings found = read_settings(from_environment, defaults);
  const std::string unknown = found.strict != 0 ? unknown_settings() : std::string{};
  if (!unknown.empty())
    fail(
        "{}: no settings of Heddle; `heddle info` lists those. HEDDLE_STRICT=1 makes this an error",
        unknown);
  return found;
}

std::string unknown_settings() {
  std::string all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view pair = *entry;
    const std::string_view name = pair.substr(0, pair.find('='));
    if (!name.starts_with(name_prefix) || is_known(name)) continue;
    const std::string_view meant = nearest_setting(name);
    if (!all.empty()) all += ", ";
    all += name;
    if (!meant.empty()) all += fmt::format(" (did you mean {}?)", meant);
  }
  return all;
}

std::vector<setting_row> list_settings() {
  const settings now = read_settings();
  std::vector<setting_row> rows;
  for (const row& r : table) {
    const bool set = from_environment(r.name.data()) != nullptr;
    rows.push_back(
        {std::string(r.name), r.print(now), set ? "environment" : "default", std::string(r.help)});
  }
  return rows;
}

std::uint64_t parse_bytes(const std::string& text) {
  const auto found = try_parse_bytes(text);
  if (!found) fail("'{}' is not a size; write bytes, with K, M or G for powers of 1024", text);
  return *found;
}

}  // namespace heddle
