// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/results/section_list.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "linktest/results/json_file.h"
#include "linktest/results/writing.h"

namespace heddle::linktest {
namespace {

using json = nlohmann::ordered_json;

json as_json(const impact_of_figure& of, int ranks) {
  json rows = json::array();
  const auto side = static_cast<std::size_t>(ranks);
  for (std::size_t r = 0; r < side; ++r)
    rows.push_back(all_numbers(std::span(of.factors).subspan(r * side, side)));
  return {{"overall", all_numbers(std::span(&of.overall, 1)).front()},
          {"median", all_numbers(std::span(&of.over_pairs.median, 1)).front()},
          {"max", all_numbers(std::span(&of.over_pairs.max, 1)).front()},
          {"factors", rows}};
}

}  // namespace

section_list::section_list(std::string path, existing what)
    : path_(path.empty() ? claim_directory() : std::move(path)), into_(path_, 64 * 1024, what) {}

std::string section_list::folder_of(const std::string& section) const {
  return path_ + '/' + section;
}

void section_list::add(const std::string& section, const run_facts& facts, const results& all,
                       const std::vector<impact>& against) {
  entries_.push_back({section, facts, verdict_of(all) == success, against});
  (void)into_.put(section_file, [this](const std::string& path) { write_text(path, text()); });
  drop_other_formats(into_, {});
}

std::string section_list::text() const {
  json out{{"format", "heddle-linktest-sections"},
           {"schema_version", 1},
           {"command", entries_.front().facts.command},
           {"sections", json::array()}};
  for (const entry& e : entries_) {
    json one{{"name", e.name},
             {"kernel", name_of(e.facts.chosen.kernel)},
             {"op", name_of(e.facts.chosen.op)},
             {"backend", e.facts.chosen.backend},
             {"routes", e.facts.routes},
             {"mode", name_of(e.facts.chosen.mode)},
             {"complete", e.complete},
             {"interrupted", e.facts.interrupted}};
    for (const impact& size : e.against) {
      const int ranks = static_cast<int>(e.facts.hosts.size());
      one["impact"].push_back({{"bytes", size.bytes},
                               {"mean", as_json(size.mean, ranks)},
                               {"p99", as_json(size.p99, ranks)}});
    }
    out["sections"].push_back(std::move(one));
  }
  return out.dump(1) + '\n';
}

std::vector<std::string> sections_in(const std::string& folder) {
  const std::string path = folder + '/' + section_file;
  if (!std::filesystem::exists(path)) return {};
  try {
    std::vector<std::string> names;
    const json document = json::parse(read_text(path));
    for (const json& one : document.at("sections")) names.push_back(one.at("name"));
    return names;
  } catch (const json::exception& why) {
    throw error(fmt::format("{}: this is not a list of sections: {}", path, why.what()));
  }
}

}  // namespace heddle::linktest
