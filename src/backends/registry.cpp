// SPDX-License-Identifier: BSD-3-Clause
// registry.cpp - the one list of backends.
#include "backends/registry.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include "backends/module_loader.h"
#include "backends/shm/shm.h"
#include "backends/tcp/tcp.h"

namespace heddle::transport {
namespace {

struct row {
  std::string name;
  const factory* built_in;  // null: a module, known by name also where it was not built
};

const std::vector<row>& rows() {
  static const std::vector<row> all{{"shm", &shm_factory()},
                                    {"utofu", nullptr},
                                    {"verbs", nullptr},
                                    {"tcp", &tcp::tcp_factory()}};
  return all;
}

std::vector<std::string> listed_names(const settings& config) {
  std::vector<std::string> names;
  std::istringstream list(config.backends);
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  return names;
}

backend named(const std::string& name, const settings& config) {
  const auto found = std::ranges::find(rows(), name, &row::name);
  if (found != rows().end() && found->built_in != nullptr) return {name, found->built_in, {}};
  std::filesystem::path module = find_module(name, config.module_path);
  std::error_code none;
  const bool known = found != rows().end() || std::filesystem::exists(module, none);
  return {name, nullptr, std::move(module), known};
}

}  // namespace

const factory& backend::get() const {
  return built_in != nullptr ? *built_in : load_module(module);
}

std::vector<backend> known_backends(const settings& config) {
  std::vector<std::string> names = listed_names(config);
  for (const row& r : rows()) names.push_back(r.name);
  std::ranges::copy(list_modules(config.module_path), std::back_inserter(names));
  std::vector<backend> all;
  for (const std::string& name : names)
    if (std::ranges::find(all, name, &backend::name) == all.end())
      all.push_back(named(name, config));
  return all;
}

std::string names_of_backends(const settings& config) {
  settings plain;
  plain.module_path = config.module_path;
  std::string names;
  for (const backend& b : known_backends(plain))
    if (b.known) names += (names.empty() ? "" : ", ") + b.name;
  return names;
}

bool is_listed(const settings& config, std::string_view name) {
  const auto names = listed_names(config);
  return std::ranges::find(names, name) != names.end();
}

}  // namespace heddle::transport
