// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/results/layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "linktest/layer.h"
#include "linktest/results/metrics.h"

namespace heddle::linktest {
namespace {

const class_figures* figures_of(const layer_findings& over, std::size_t size_index, pair_class c) {
  const std::vector<class_figures>& all = over.figures.at(size_index);
  const auto found =
      std::find_if(all.begin(), all.end(), [c](const class_figures& f) { return f.what == c; });
  return found == all.end() ? nullptr : &*found;
}

constexpr int label_columns = 30;

/// A layer's column is as wide as its name, or as a figure.
std::string table_line(const std::string& label, const std::vector<std::string>& values,
                       const std::vector<layer_findings>& layers) {
  constexpr std::size_t figure = 9;
  std::string out = fmt::format("{:<{}}", label, label_columns);
  for (std::size_t i = 0; i < layers.size(); ++i)
    out += fmt::format("  {:>{}}", values[i], std::max(figure, layers[i].layer.size()));
  return out + '\n';
}

/// Beside the fastest rail of the wire.
void look_for_slower(wire_findings& wire, const std::vector<layer_findings>& layers,
                     const run_facts& facts, std::size_t size_index, pair_class between) {
  std::vector<std::pair<int, const class_figures*>> rails;
  for (const layer_findings& one : layers)
    if (const layer of = layer_named(one.layer); of.backend == wire.backend && of.rail >= 0)
      if (const class_figures* const f = figures_of(one, size_index, between))
        rails.emplace_back(of.rail, f);
  const auto fastest = std::min_element(
      rails.begin(), rails.end(),
      [](const auto& a, const auto& b) { return a.second->time.median < b.second->time.median; });
  for (const auto& [rail, figures] : rails) {
    const double usual = fastest->second->time.median, times = figures->time.median / usual;
    if (!(times >= facts.chosen.search.slow && figures->time.min > usual)) continue;
    const slower_rail found{rail, fastest->first, facts.chosen.sizes[size_index], between, times};
    const auto known =
        std::find_if(wire.slower.begin(), wire.slower.end(), [&found](const slower_rail& other) {
          return other.rail == found.rail && other.between == found.between;
        });
    if (known == wire.slower.end())
      wire.slower.push_back(found);
    else if (known->times < times)
      *known = found;
  }
}

/// A row for each class of pairs that some layer has.
std::string lines_of(const layer_comparison& of, const run_facts& facts, std::size_t size_index,
                     bool is_time) {
  std::string out;
  for (const pair_class c : all_classes) {
    std::vector<std::string> values;
    bool any = false;
    for (const layer_findings& one : of.layers) {
      const class_figures* const f = figures_of(one, size_index, c);
      any |= f != nullptr;
      values.push_back(f == nullptr ? "-"
                       : is_time    ? format_seconds(f->time.median)
                                    : format_bandwidth(f->bandwidth.median));
    }
    if (any)
      out += table_line(
          fmt::format("{}, {}", format_size(facts.chosen.sizes[size_index]), name_of(facts, c)),
          values, of.layers);
  }
  return out;
}

std::string in_words(const wire_findings& of, const run_facts& facts) {
  std::string out;
  for (const verdict& v : of.verdicts) out += in_words(v, names_of_ranks(facts.hosts));
  if (out.empty()) out = "Nothing found\n";
  for (const slower_rail& one : of.slower)
    out += fmt::format(
        "Rail {} takes {:.2f} times as long as rail {} for all ({}, {}): a switch, or made so\n",
        one.rail, one.times, one.than, format_size(one.bytes), name_of(facts, one.between));
  if (!of.not_judged.empty())
    out += fmt::format("Not all was judged over rail {}\n", fmt::join(of.not_judged, ", "));
  return fmt::format("Rails {} of {}\n{}", fmt::join(of.rails, ", "), of.backend, out);
}

}  // namespace

layer_findings findings_over(const run_facts& facts, const results& all) {
  layer_findings out{facts.chosen.layer, {}, facts.slow, facts.slow && facts.disturbed.empty()};
  for (std::size_t s = 0; s < all.sizes().size(); ++s)
    out.figures.push_back(figures_by_class(facts, all, s));
  return out;
}

layer_comparison compare(std::vector<layer_findings> layers, const run_facts& facts) {
  std::map<std::string, std::vector<rail_findings>> by_wire;
  for (const layer_findings& one : layers)
    if (const layer of = layer_named(one.layer); of.rail >= 0)
      by_wire[of.backend].push_back({of.rail, one.slow, one.all_judged});
  layer_comparison out{std::move(layers), {}};
  for (const auto& [backend, rails] : by_wire) {
    const bool judged = std::any_of(rails.begin(), rails.end(),
                                    [](const rail_findings& one) { return one.slow.has_value(); });
    if (rails.size() < 2 || !judged) continue;
    wire_findings& wire = out.wires.emplace_back();
    wire.backend = backend;
    for (const rail_findings& one : rails) {
      wire.rails.push_back(one.rail);
      if (!one.slow || !one.all_judged) wire.not_judged.push_back(one.rail);
    }
    wire.verdicts = verdicts_on_rails(rails, facts.chosen.kernel == kernel::uni);
    for (std::size_t s = 0; s < facts.chosen.sizes.size(); ++s)
      for (const pair_class c : all_classes)
        if (!on_one_host(c)) look_for_slower(wire, out.layers, facts, s, c);
  }
  return out;
}

std::string in_words(const layer_comparison& of, const run_facts& facts) {
  std::vector<std::string> names;
  for (const layer_findings& one : of.layers) names.push_back(one.layer);
  const std::size_t last = facts.chosen.sizes.size() - 1;
  std::string out = table_line("Layers, medians", names, of.layers) + lines_of(of, facts, 0, true) +
                    lines_of(of, facts, last, false);
  for (const wire_findings& wire : of.wires) out += '\n' + in_words(wire, facts);
  return out;
}

}  // namespace heddle::linktest
