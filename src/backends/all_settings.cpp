// SPDX-License-Identifier: BSD-3-Clause
#include "backends/all_settings.h"

#include <heddle/info.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/registry.h"
#include "base/error.h"

namespace heddle {
namespace transport {
namespace {

constexpr std::array<launcher_variable, 6> from_launchers{{
    {"HEDDLE_BOOT",
     "chooses how a rank joins its job where more than one way is open: run, "
     "rendezvous, pmix, pmi1 or alone"},
    {"HEDDLE_BOOT_FD", "`heddle run`'s own: the descriptor by which a rank talks to it"},
    {"HEDDLE_RANK",
     "this rank's number, from 0: set by `heddle run` for its ranks, and by whoever "
     "starts ranks for HEDDLE_RENDEZVOUS"},
    {"HEDDLE_SIZE", "how many ranks the job has: as HEDDLE_RANK"},
    {"HEDDLE_RENDEZVOUS", "HOST:PORT where ranks that no launcher has started meet rank 0"},
    {"HEDDLE_SECRET_FILE",
     "the file of the job's secret, the same on all of its hosts, for "
     "HEDDLE_RENDEZVOUS"},
}};
constexpr std::string_view name_prefix = "HEDDLE_";

bool is_from_launcher(std::string_view name) {
  return std::ranges::find(from_launchers, name, &launcher_variable::name) != from_launchers.end();
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
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known) {
  const auto different = [&](std::string_view k) {  // of 1000 letters
    const std::size_t letters = std::max(own_part(name).size(), own_part(k).size());
    return edit_distance(own_part(name), own_part(k)) * 1000 / std::max<std::size_t>(letters, 1);
  };
  const auto best = *std::ranges::min_element(known, {}, different);
  return different(best) <= 333 ? best : std::string_view{};
}

/// A backend's settings, or none where its module cannot be loaded.
std::span<const setting> settings_of(const backend& b) noexcept {
  try {
    return b.get().settings;
  } catch (const error&) {
    return {};
  }
}

/// What all names of a backend's settings begin with.
std::string prefix_of(const backend& b) {
  std::string prefix(name_prefix);
  for (const char c : b.name)
    prefix += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return prefix + '_';
}

/// Every name that some setting has, and those in `given` that are a backend's which cannot be
/// asked.
std::vector<std::string_view> known_names(const std::vector<backend>& backends,
                                          const std::vector<std::string_view>& given) {
  // Without HEDDLE_BOOT, the first: HEDDLE_ROOT is no slip.
  std::vector<std::string_view> known;
  for (const launcher_variable& v : std::span(from_launchers).subspan(1)) known.push_back(v.name);
  for (const setting_value& v : core_settings()) known.push_back(v.what->name);
  for (const backend& b : backends) {
    const auto is_its = [prefix = prefix_of(b)](std::string_view n) {
      return n.starts_with(prefix);
    };
    if (b.built_in == nullptr && std::ranges::none_of(given, is_its))
      continue;  // not loaded for it
    const auto own = settings_of(b);
    for (const setting& s : own) known.push_back(s.name);
    if (own.empty()) std::ranges::copy_if(given, std::back_inserter(known), is_its);
  }
  return known;
}

std::string described(std::string_view name, std::string_view meant) {
  return meant.empty() ? std::string(name) : fmt::format("{} (did you mean {}?)", name, meant);
}

}  // namespace

settings read_all_settings(const settings& defaults) {
  settings found = read_settings(this_environment(), defaults);
  for (const backend& b : known_backends(found)) {
    if (b.built_in == nullptr && !is_listed(found, b.name)) continue;
    for (const setting& s : settings_of(b)) (void)text_of(s, found);
  }
  const std::string unknown = found.strict != 0 ? unknown_settings() : std::string{};
  if (!unknown.empty())
    fail(
        "{}: no settings of Heddle; `heddle info` lists those. HEDDLE_STRICT=1 makes this an error",
        unknown);
  return found;
}

std::span<const launcher_variable> launcher_variables() noexcept {
  return from_launchers;
}

std::vector<given_setting> given_settings(const settings& config) {
  const environment variables = this_environment();
  std::vector<given_setting> all;
  const auto add = [&](std::string_view name, const std::string& value) {
    const bool outside = variables.contains(std::string(name));
    all.push_back({std::string(name), value, outside ? "environment" : "program"});
  };
  const std::vector<setting_value> usual = core_settings(), now = core_settings(config);
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::string_view name = now[i].what->name;
    if (now[i].value != usual[i].value || variables.contains(std::string(name)))
      add(name, now[i].value);
  }
  for (const auto& [name, value] : config.others)
    if (!is_from_launcher(name)) add(name, value);
  return all;
}

std::string unknown_settings() {
  return unknown_settings(this_environment());
}

std::string unknown_settings(const environment& variables) {
  const settings found = read_settings(variables);
  std::vector<std::string_view> given;
  for (const auto& [name, value] : found.others)
    if (!is_from_launcher(name)) given.push_back(name);
  if (given.empty()) return {};
  const auto backends = known_backends(found);
  const auto known = known_names(backends, given);
  std::string all;
  for (const std::string_view name : given) {
    if (std::ranges::find(known, name) != known.end()) continue;
    if (!all.empty()) all += ", ";
    all += described(name, nearest(name, known));
  }
  return all;
}

}  // namespace transport

std::vector<setting_row> list_settings() {
  const settings now = transport::read_all_settings();
  const environment given = this_environment();
  std::vector<setting_row> rows;
  const auto add = [&](const setting& s, std::string value) {
    const bool set = given.contains(std::string(s.name));
    rows.push_back({std::string(s.name), std::move(value), set ? "environment" : "default",
                    std::string(s.help)});
  };
  for (const setting_value& v : core_settings(now)) add(*v.what, v.value);
  for (const transport::backend& b : transport::known_backends(now))
    for (const setting& s : transport::settings_of(b)) {
      const std::string value = text_of(s, now);
      add(s, s.is_number() ? s.print(s.number_in(value)) : value);
    }
  return rows;
}

std::vector<std::string> list_backends() {
  const environment given = this_environment();
  settings plain;
  if (const auto path = given.find("HEDDLE_MODULE_PATH"); path != given.end())
    plain.module_path = path->second;
  std::vector<std::string> names;
  for (const transport::backend& b : transport::known_backends(plain)) names.push_back(b.name);
  return names;
}

}  // namespace heddle
