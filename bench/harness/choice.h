// SPDX-License-Identifier: BSD-3-Clause
// choice.h - an option of a command line that takes one of some names.
#pragma once
#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "harness/spec.h"

namespace heddle::bench {

template <class E>
std::vector<std::string> names_in(const std::map<std::string, E>& names) {
  std::vector<std::string> result;
  for (const auto& [name, value] : names) result.push_back(name);
  return result;
}

/// One of choices<E>(), or of those `allowed`; the default is what `into` is now.
template <class E>
CLI::Option* add_choice(CLI::App& app, const char* name, E& into, const char* help,
                        const std::vector<std::string>& allowed = names_in(choices<E>())) {
  const auto set = [&into](const std::string& chosen) { into = choices<E>().at(chosen); };
  return app.add_option_function<std::string>(name, set, help)
      ->check(CLI::IsMember(allowed))
      ->default_str(name_of(into));
}

}  // namespace heddle::bench
