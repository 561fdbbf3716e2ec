// SPDX-License-Identifier: BSD-3-Clause
// compare_hosts.cpp - what several hosts have told, for people.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "info/host_facts.h"
#include "run/hosts.h"

namespace heddle::tools {
namespace {

using json = nlohmann::ordered_json;

json part_of(const host_report& host, const char* name) {
  return host.told.value(name, json::object());
}

/// A value, and who has it.
struct opinion {
  std::string value;
  std::vector<std::string> hosts{};
};

std::vector<opinion> opinions_on(const std::string& fact, const std::vector<host_report>& hosts) {
  std::vector<opinion> all;
  for (const host_report& host : hosts) {
    const std::string value = part_of(host, "facts").value(fact, "not told");
    const auto same = [&](const opinion& o) { return o.value == value; };
    auto found = std::find_if(all.begin(), all.end(), same);
    if (found == all.end()) found = all.insert(all.end(), {value});
    found->hosts.push_back(host.name);
  }
  std::stable_sort(all.begin(), all.end(), [](const opinion& a, const opinion& b) {
    return a.hosts.size() > b.hosts.size();
  });
  return all;
}

constexpr std::size_t most_names = 8;

/// In the order of the first host that tells them.
std::vector<std::string> facts_told(const std::vector<host_report>& hosts) {
  std::vector<std::string> names;
  for (const host_report& host : hosts) {
    const json facts = part_of(host, "facts");
    for (const auto& [name, value] : facts.items())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

template <class Names>
std::size_t widest(const Names& names) {
  std::size_t most = 0;
  for (const std::string& name : names) most = std::max(most, name.size());
  return most;
}

std::string rows_of(const std::string& fact, std::size_t width,
                    const std::vector<opinion>& opinions) {
  if (opinions.size() == 1) return fmt::format("  {:{}}  {}\n", fact, width, opinions[0].value);
  std::vector<std::string> values;
  for (const opinion& o : opinions) values.push_back(o.value);
  const std::size_t value_width = widest(values);
  std::string rows;
  for (const opinion& o : opinions)
    rows += fmt::format("{} {:{}}  {:{}}  {}\n", rows.empty() ? '!' : ' ', rows.empty() ? fact : "",
                        width, o.value, value_width, some_of(o.hosts, most_names));
  return rows;
}

std::string addresses_of(const host_report& host, std::size_t width) {
  const json all = part_of(host, "addresses");
  std::string rows;
  for (const auto& [interface, addresses] : all.items())
    rows += fmt::format("  {:{}}  {}  {}\n", rows.empty() ? host.name : "", width, interface,
                        fmt::join(addresses.get<std::vector<std::string>>(), " "));
  return rows.empty() ? fmt::format("  {:{}}  none but its own (loopback)\n", host.name, width)
                      : rows;
}

}  // namespace

std::string compare_hosts(const std::vector<host_report>& hosts) {
  std::vector<std::string> names;
  for (const host_report& host : hosts) names.push_back(host.name);
  const auto facts = facts_told(hosts);
  const std::size_t width = widest(facts);
  std::string rows;
  int differences = 0;
  for (const std::string& fact : facts) {
    const auto opinions = opinions_on(fact, hosts);
    if (opinions.size() > 1) ++differences;
    rows += rows_of(fact, width, opinions);
  }
  std::string text = fmt::format("{} host{}: {}\n{}Addresses\n", hosts.size(),
                                 hosts.size() == 1 ? "" : "s", some_of(names, most_names), rows);
  for (const host_report& host : hosts) text += addresses_of(host, widest(names));
  return text + (differences == 0 ? "The hosts do not differ.\n"
                                  : fmt::format("! {} of {} facts differ between the hosts\n",
                                                differences, facts.size()));
}

}  // namespace heddle::tools
