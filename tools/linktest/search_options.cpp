// SPDX-License-Identifier: BSD-3-Clause
// search_options.cpp - their limits and help.
#include "linktest/search_options.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>

#include "linktest/checked_by.h"
#include "linktest/rules/expectation.h"
#include "linktest/simulate/fabric.h"
#include "linktest/simulate/simulated_network.h"
#include "real_range.h"

namespace heddle::linktest {
namespace {

constexpr std::array<const char*, 3> diagnosis_words{"auto", "always", "never"};

void declare_choice_of_pairs(CLI::App& command, search_options& into) {
  command
      .add_option("--pairs", into.pairs,
                  "Measure so many random partners of each rank; 0: all pairs")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1'000'000'000}).description(""))
      ->type_name("K")
      ->capture_default_str();
  command
      .add_option_function<std::string>(
          "--time", [&into](const std::string& text) { into.time_s = parse_duration(text); },
          "Measure random partners until the time is up: 90s, 5m, 1h")
      ->check(checked_by(parse_duration))
      ->type_name("TIME");
  command.add_flag("--dry-run", into.dry_run, "Print steps, time, memory and bytes; start nothing");
  command.add_option("--ranks-per-host", into.ranks_per_host, "For --dry-run and --simulate")
      ->check(CLI::Range(1, 65'536).description(""))
      ->type_name("N")
      ->capture_default_str();
}

void declare_judgement(CLI::App& command, search_options& into) {
  add_real(command, "--slow", into.slow, 1.05, 1000, "FACTOR",
           "How many times as long as usual counts as slow");
  command
      .add_option_function<std::string>(
          "--diagnosis",
          [&into](const std::string& word) {
            into.diagnose = static_cast<diagnosis_choice>(
                std::find(diagnosis_words.begin(), diagnosis_words.end(), word) -
                diagnosis_words.begin());
          },
          "Look for slow nodes and links; auto: unless ranks share cores")
      ->check(CLI::Validator(CLI::IsMember(std::vector<std::string>(diagnosis_words.begin(),
                                                                    diagnosis_words.end())))
                  .description(""))
      ->type_name("auto|always|never")
      ->default_str("auto");
  command
      .add_option("--baseline", into.baseline,
                  "Earlier run to compare with: its folder, or its linktest.json")
      ->type_name("PATH");
  command
      .add_option_function<std::vector<std::string>>(
          "--expect",
          [&into](const std::vector<std::string>& given) {
            for (const std::string& value : given)
              for (const std::string& rule : expectations_of(value)) into.expect.push_back(rule);
          },
          "A rule for every pair, like 'median>=0.93*ref', of some sections, like "
          "'tcp/time<=1e-5', "
          "or a file of them; may be repeated")
      ->check(checked_by([](const std::string& value) { (void)expectations_of(value); }))
      ->type_name("RULE|@FILE")
      ->take_all();
}

/// The starter of a job reads the file, and its ranks get what it says: they may not see it.
void declare_groups(CLI::App& command, search_options& into) {
  command
      .add_option_function<std::string>(
          "--groups", [&into](const std::string& path) { into.groups = read_groups(path); },
          "File of the hosts that share a switch or cabinet, as lines like 'rack1: n[01-16]'")
      ->check(checked_by([](const std::string& path) { (void)read_groups(path); }))
      ->type_name("FILE");
  command
      .add_option_function<std::vector<std::string>>(
          "--group",
          [&into](const std::vector<std::string>& given) {
            for (const std::string& text : given) into.groups.push_back(parse_group(text));
          })
      ->check(checked_by([](const std::string& text) { (void)parse_group(text); }))
      ->take_all()
      ->group("");
}

void declare_simulation(CLI::App& command, search_options& into) {
  command
      .add_option("--simulate", into.simulate,
                  "Diagnose a made-up network: fattree, torus or dragonfly, :k=N behind it")
      ->check(checked_by([](const std::string& text) { (void)fabric::parse(text, 1); }))
      ->type_name("FORM");
  command.add_option("--faults", into.faults, "Of the simulated network: node_tx=5:2,link=1-4:3")
      ->check(checked_by([](const std::string& text) { (void)parse_simulated_faults(text); }))
      ->type_name("LIST");
  command.add_option("--rails", into.rails, "Of the simulated network")
      ->check(CLI::Range(1, 64).description(""))
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace

double parse_duration(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (problem != std::errc{} || scale == 0 || !(value > 0) || value * scale > 1e8)
    throw error(
        fmt::format("'{}' is not a time; give seconds, minutes or hours like 90s, 5m, 1h", text));
  return value * scale;
}

void add_real(CLI::App& command, const std::string& name, double& into, double least, double most,
              const std::string& unit, const std::string& help) {
  command.add_option(name, into, help)
      ->check(tools::real_range(least, most).description(""))
      ->type_name(unit)
      ->capture_default_str();
}

void declare_search_options(CLI::App& command, search_options& into) {
  declare_choice_of_pairs(command, into);
  declare_judgement(command, into);
  declare_groups(command, into);
  declare_simulation(command, into);
}

void add_arguments(const search_options& chosen, std::vector<std::string>& out) {
  const auto add = [&out](const char* name, const auto& value) {
    out.emplace_back(name);
    out.push_back(fmt::format("{}", value));
  };
  add("--pairs", chosen.pairs);
  if (chosen.time_s > 0) add("--time", chosen.time_s);
  add("--slow", chosen.slow);
  add("--diagnosis", diagnosis_words[static_cast<std::size_t>(chosen.diagnose)]);
  if (!chosen.baseline.empty()) add("--baseline", chosen.baseline);
  for (const std::string& rule : chosen.expect) add("--expect", rule);
  for (const host_group& group : chosen.groups) add("--group", text_of(group));
}

}  // namespace heddle::linktest
