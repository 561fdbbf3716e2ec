// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/results/section_list.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "json_text.h"
#include "linktest/diagnose/verdict_json.h"
#include "linktest/results/json_file.h"
#include "linktest/results/writing.h"

namespace heddle::linktest {
namespace {

using json = nlohmann::ordered_json;

json as_json(const impact_of_figure& of, int ranks) {
  json out{{"overall", number(of.overall)},
           {"median", number(of.over_pairs.median)},
           {"max", number(of.over_pairs.max)},
           {"factors", json::array()}};
  const bool listed = of.factors.size() == of.peers.size();
  const auto side = static_cast<std::size_t>(ranks);
  for (std::size_t r = 0; !listed && r < side; ++r)
    out["factors"].push_back(all_numbers(std::span(of.factors).subspan(r * side, side)));
  if (listed) {
    out["factors"] = all_numbers(of.factors);
    out["initiator"] = of.initiators;
    out["peer"] = of.peers;
  }
  return out;
}

json entry_of(const std::string& section, const run_facts& facts, const results& all,
              const std::vector<impact>& against, section_end how) {
  json out{{"name", section},
           {"kernel", name_of(facts.chosen.kernel)},
           {"op", name_of(facts.chosen.op)},
           {"backend", facts.chosen.layer},
           {"routes", facts.routes},
           {"mode", name_of(facts.chosen.mode)},
           {"complete", verdict_of(all) == success},
           {"interrupted", facts.interrupted},
           {"whole", how.whole},
           {"status", how.status}};
  for (const impact& size : against) {
    const int ranks = static_cast<int>(facts.hosts.size());
    out["impact"].push_back({{"bytes", size.bytes},
                             {"mean", as_json(size.mean, ranks)},
                             {"p99", as_json(size.p99, ranks)}});
  }
  return out;
}

json as_json(const wire_findings& of) {
  json verdicts = json::array();
  for (const verdict& v : of.verdicts) verdicts.push_back(as_json(v));
  json slower = json::array();
  for (const slower_rail& one : of.slower)
    slower.push_back({{"rail", one.rail},
                      {"than", one.than},
                      {"bytes", one.bytes},
                      {"class", word_of(one.between)},
                      {"times", one.times}});
  return {{"backend", of.backend},
          {"rails", of.rails},
          {"not_judged", of.not_judged},
          {"verdicts", std::move(verdicts)},
          {"slower", std::move(slower)}};
}

json medians_of(const layer_findings& one, const std::vector<std::uint64_t>& sizes) {
  json out = json::array();
  for (std::size_t s = 0; s < one.figures.size(); ++s)
    for (const class_figures& f : one.figures[s])
      out.push_back({{"bytes", sizes.at(s)},
                     {"class", word_of(f.what)},
                     {"pairs", f.pairs},
                     {"time", f.time.median},
                     {"bandwidth", f.bandwidth.median}});
  return out;
}

json as_json(const layer_comparison& of, const run_facts& facts) {
  json layers = json::array(), wires = json::array();
  for (const layer_findings& one : of.layers)
    layers.push_back({{"name", one.layer},
                      {"diagnosed", one.slow.has_value()},
                      {"medians", medians_of(one, facts.chosen.sizes)}});
  for (const wire_findings& wire : of.wires) wires.push_back(as_json(wire));
  return {
      {"layers", std::move(layers)}, {"wires", std::move(wires)}, {"words", in_words(of, facts)}};
}

json* entry_in(json& document, const std::string& section) {
  json& sections = document.at("sections");
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](const json& one) { return one.at("name") == section; });
  return found == sections.end() ? nullptr : &*found;
}

json empty_list(const std::string& command) {
  return {{"format", "heddle-linktest-sections"},
          {"schema_version", 1},
          {"command", command},
          {"sections", json::array()}};
}

std::string list_in(const std::string& folder) {
  return folder + '/' + section_file;
}

}  // namespace

section_list::section_list(std::string path, existing what)
    : path_(path.empty() ? claim_directory() : std::move(path)), into_(path_, 64 * 1024, what) {}

void section_list::go_on() {
  if (!sections_in(path_).empty()) document_ = read_text(list_in(path_));
}

void section_list::forget_earlier() {
  std::vector<std::string> names;
  try {
    names = sections_in(path_);
  } catch (const error&) {  // of whatever it is a list, it is not this run's
  }
  for (const std::string& name : names)
    if (std::filesystem::path(name).filename() == name) drop_results(path_ + '/' + name);
  into_.drop(section_file);
}

std::optional<section_end> section_list::end_of(const std::string& section) const {
  if (document_.empty()) return std::nullopt;
  const json document = json::parse(document_);
  for (const json& one : document.at("sections"))
    if (one.at("name") == section)
      return section_end{one.value("whole", false), one.value("status", 0)};
  return std::nullopt;
}

void section_list::add(const std::string& section, const run_facts& facts, const results& all,
                       const std::vector<impact>& against, section_end how) {
  json document = document_.empty() ? empty_list(facts.command) : json::parse(document_);
  json* const before = entry_in(document, section);
  json& place = before != nullptr ? *before : document.at("sections").emplace_back();
  place = entry_of(section, facts, all, against, how);
  document_ = tools::json_text(document, 1) + '\n';
  write();
}

void section_list::compare(const std::string& section, const layer_comparison& found,
                           const run_facts& facts) {
  if (document_.empty()) return;
  json document = json::parse(document_);
  json* const place = entry_in(document, section);
  if (place == nullptr) return;
  (*place)["comparison"] = as_json(found, facts);
  document_ = tools::json_text(document, 1) + '\n';
  write();
}

void section_list::write() {
  (void)into_.put(section_file, [this](const std::string& path) { write_text(path, document_); });
  drop_other_formats(into_, {});
}

std::vector<std::string> sections_in(const std::string& folder) {
  const std::string path = list_in(folder);
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
