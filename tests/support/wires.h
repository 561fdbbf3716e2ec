// SPDX-License-Identifier: BSD-3-Clause
// wires.h - for tests: the wires there are, as the registry knows them, and which can be used here.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "memory/region_table.h"

namespace heddle::test {

struct known_wire {
  std::string name;
  bool is_module;
};

/// GoogleTest asks for each of the tests anew, and to look for modules takes long.
inline const std::vector<known_wire>& wires() {
  static const std::vector<known_wire> all = [] {
    std::vector<known_wire> found;
    for (const transport::backend& b : transport::known_backends(read_settings()))
      found.push_back({b.name, b.built_in == nullptr});
    return found;
  }();
  return all;
}

/// Why it cannot be used here: its module or its card is missing. Empty: it can, or has to, since
/// it is built in or HEDDLE_TEST_NEEDS names it.
inline const std::string& why_not_over(const std::string& wire) {
  static std::map<std::string, std::string> known;  // a test program asks in one thread
  const auto [at, is_new] = known.try_emplace(wire);
  const auto is_built_in = [&](const known_wire& w) { return w.name == wire && !w.is_module; };
  const char* const needed = std::getenv("HEDDLE_TEST_NEEDS");
  if (!is_new || wire == (needed != nullptr ? needed : "") ||
      std::ranges::any_of(wires(), is_built_in))
    return at->second;
  try {
    settings config = read_settings();
    config.backends = wire;
    constexpr std::array<std::byte, 32> secret{};
    memory::region_table regions;
    const transport::factory& f = transport::known_backends(config).front().get();
    (void)f.open(f, {.job_secret = secret, .config = &config, .regions = &regions});
  } catch (const error& e) {
    at->second = e.what();
  }
  return at->second;
}

/// At the beginning of a test over this wire.
#define HEDDLE_NEEDS_WIRE(name)                                                  \
  if (const std::string& why = ::heddle::test::why_not_over(name); !why.empty()) \
  GTEST_SKIP() << (name) << " is not usable here: " << why

}  // namespace heddle::test
