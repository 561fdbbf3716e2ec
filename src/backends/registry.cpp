// SPDX-License-Identifier: BSD-3-Clause
// registry.cpp - the one list of backends.
#include "backends/registry.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
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

/// A word of HEDDLE_BACKENDS: "x", or for one of its rails "x.rail1".
struct listed {
  std::string name;
  std::optional<std::size_t> rail;
};

listed parse_word(const std::string& word) {
  constexpr std::string_view mark = ".rail";
  const std::size_t at = word.rfind(mark);
  if (at == std::string::npos) return {word, {}};
  const std::string_view digits = std::string_view(word).substr(at + mark.size());
  std::size_t rail = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), rail);
  const bool number = problem == std::errc{} && end == digits.data() + digits.size();
  return number ? listed{word.substr(0, at), rail} : listed{word, {}};
}

std::vector<listed> all_listed(const settings& config) {
  std::vector<listed> all;
  std::istringstream words(config.backends);
  for (std::string word; std::getline(words, word, ',');) all.push_back(parse_word(word));
  return all;
}

/// None, which means all, also where the backend is named as a whole.
std::vector<std::size_t> rails_of(const std::string& name, const std::vector<listed>& words) {
  std::vector<std::size_t> rails;
  for (const listed& word : words) {
    if (word.name != name) continue;
    if (!word.rail) return {};
    rails.push_back(*word.rail);
  }
  return rails;
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

std::vector<std::size_t> backend::chosen_of(std::size_t devices) const {
  std::vector<std::size_t> chosen;
  for (std::size_t d = 0; d < devices; ++d)
    if (rails.empty() || std::ranges::find(rails, d) != rails.end()) chosen.push_back(d);
  return chosen;
}

std::vector<backend> known_backends(const settings& config) {
  const std::vector<listed> words = all_listed(config);
  std::vector<std::string> names;
  for (const listed& word : words) names.push_back(word.name);
  for (const row& r : rows()) names.push_back(r.name);
  std::ranges::copy(list_modules(config.module_path), std::back_inserter(names));
  std::vector<backend> all;
  for (const std::string& name : names) {
    if (std::ranges::find(all, name, &backend::name) != all.end()) continue;
    all.push_back(named(name, config));
    all.back().rails = rails_of(name, words);
  }
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
  const auto words = all_listed(config);
  return std::ranges::find(words, name, &listed::name) != words.end();
}

}  // namespace heddle::transport
