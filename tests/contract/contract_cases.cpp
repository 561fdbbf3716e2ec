// SPDX-License-Identifier: BSD-3-Clause
// contract_cases.cpp - which devices the suite runs over: all that are built, alone and with
// faults; with sanitizers, which take their time, alone and with all faults together.
#include <fmt/format.h>

#include <array>
#include <span>
#include <vector>

#include "backends/registry.h"
#include "contract/contract.h"
#include "contract/loopback_device.h"
#include "support/scale.h"

namespace heddle::test {
namespace {

struct faults {
  const char* name;
  const char* text;
};

constexpr std::array fault_sets{
    faults{"", ""},
    faults{"_all", "seed=4,delay=5,reorder=30,busy=20,split=30"},
    faults{"_late", "seed=1,delay=8,split=50"},
    faults{"_unordered", "seed=2,delay=3,reorder=40"},
    faults{"_crowded", "seed=3,busy=40,split=50"},
};
constexpr std::size_t sets_with_sanitizers = 2;

auto first_device_of(const transport::backend& b) {
  return [b](const transport::context& where) {
    const transport::factory& f = b.get();
    return std::move(f.open(f, where).at(0).device);
  };
}

std::vector<contract_case> find_cases() {
  std::vector<contract_case> cases;
  for (const faults& f :
       std::span(fault_sets).first(sanitized ? sets_with_sanitizers : fault_sets.size())) {
    cases.push_back({fmt::format("loopback{}", f.name), open_loopback, f.text});
    cases.push_back({fmt::format("served{}", f.name), open_served_loopback, f.text});
    cases.push_back({fmt::format("receiving{}", f.name), open_receiving_loopback, f.text});
    for (const transport::backend& b : transport::known_backends(read_settings()))
      cases.push_back({fmt::format("{}{}", b.name, f.name), first_device_of(b), f.text});
  }
  return cases;
}

/// GoogleTest asks for each of the tests anew, and to look for modules takes long.
const std::vector<contract_case>& all_cases() {
  static const std::vector<contract_case> cases = find_cases();
  return cases;
}

}  // namespace

void Contract::SetUp() {
  try {
    const group alone(GetParam(), 1);
  } catch (const error& e) {
    GTEST_SKIP() << GetParam().name << " is not usable here: " << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(, Contract, testing::ValuesIn(all_cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace heddle::test
