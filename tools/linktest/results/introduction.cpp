// SPDX-License-Identifier: BSD-3-Clause
// introduction.cpp - a small JSON text from rank to rank.
#include "linktest/results/introduction.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "json_text.h"
#include "linktest/results/json_file.h"
#include "linktest/results/machine_facts.h"

namespace heddle::linktest {
namespace {

using json = nlohmann::ordered_json;

void add_machine(run_facts& facts, const std::string& host, const json& told) {
  const auto known = [&host](const host_facts& one) { return one.host == host; };
  if (std::any_of(facts.machines.begin(), facts.machines.end(), known)) return;
  host_facts machine{host, {}};
  for (const auto& [name, value] : told.items())
    machine.facts.push_back({name, value.get<std::string>()});
  facts.machines.push_back(std::move(machine));
}

}  // namespace

std::string introduce(bool with_machine) {
  json out = as_json(place_of_process());
  if (with_machine)
    for (const named_text& fact : facts_of_machine()) out["machine"][fact.name] = fact.value;
  return tools::json_text(out);
}

void learn(run_facts& facts, const std::vector<std::string>& told) {
  facts.places.assign(told.size(), {});
  for (std::size_t r = 0; r < told.size(); ++r) {
    const json one = json::parse(told[r], nullptr, false);
    if (!one.is_object()) continue;
    try {
      facts.places[r] = place_from_json(one);
      if (one.contains("machine")) add_machine(facts, facts.hosts[r], one.at("machine"));
    } catch (const json::exception&) {
      continue;  // a rank of another version: what it says is not understood, and not needed
    }
  }
}

}  // namespace heddle::linktest
