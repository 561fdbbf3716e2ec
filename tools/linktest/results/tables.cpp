// SPDX-License-Identifier: BSD-3-Clause
// tables.cpp - one row per pair, one sample per figure.
#include "linktest/results/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "json_text.h"
#include "linktest/results/json_file.h"
#include "linktest/results/pair_class.h"
#include "linktest/rules/judgement.h"

namespace heddle::linktest {
namespace {

using json = nlohmann::ordered_json;

/// Calls `each(initiator, peer, record)` for all pairs of a size, or for the known ones where files
/// list only those.
template <class Each>
void for_pairs_told(const results& all, std::size_t size_index, const Each& each) {
  if (all.pairs_listed()) return all.for_known(size_index, each);
  for (int r = 0; r < all.ranks(); ++r)
    for (int p = 0; p < all.ranks(); ++p) each(r, p, all.at(size_index, r, p));
}

/// All that is known of a pair at a size.
json row_of(const run_facts& facts, const results& all, std::size_t s, int r, int p,
            const pair_record& one) {
  const auto host = [&](int rank) { return facts.hosts[static_cast<std::size_t>(rank)]; };
  json row{{"kernel", name_of(facts.chosen.kernel)},
           {"op", name_of(facts.chosen.op)},
           {"backend", facts.chosen.layer},
           {"mode", name_of(facts.chosen.mode)},
           {"bytes", all.sizes()[s]},
           {"initiator", r},
           {"peer", p},
           {"initiator_host", host(r)},
           {"peer_host", host(p)},
           {"class", word_of(class_of(facts, r, p))},
           {"state", name_of(one.state)}};
  for (const metric m : all_metrics) {
    const double value = all.value_of(s, one, m);
    row[std::string(name_of(m))] = std::isnan(value) ? json(nullptr) : json(shortest(value));
  }
  return row;
}

/// Calls `each` with such a row for every size and pair.
template <class Each>
void for_rows(const run_facts& facts, const results& all, const Each& each) {
  for (std::size_t s = 0; s < all.sizes().size(); ++s)
    for_pairs_told(all, s, [&](int r, int p, const pair_record& one) {
      if (r != p) each(row_of(facts, all, s, r, p, one));
    });
}

std::string csv_field(const json& value) {
  if (value.is_null()) return {};
  if (!value.is_string()) return tools::json_text(value);
  std::string text = value.get<std::string>();
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '"');
  return '"' + text + '"';
}

// --- Prometheus ---

/// A label's value, as the format wants it between quotes: UTF-8.
std::string label(std::string_view text) {
  std::string out;
  for (const char c : tools::utf8_text(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out;
}

/// All of them have the same labels in front, which tell the sections of a run apart.
class samples {
 public:
  explicit samples(const options& of)
      : section_(fmt::format("kernel=\"{}\",op=\"{}\",backend=\"{}\",mode=\"{}\"",
                             name_of(of.kernel), name_of(of.op), label(of.layer),
                             name_of(of.mode))) {}
  void family(std::string_view name, std::string_view help) {
    name_ = fmt::format("heddle_linktest_{}", name);
    out_ += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name_, help);
  }
  /// `labels`: what stands behind those.
  void add(const std::string& labels, double value) {
    if (std::isnan(value)) return;
    // Counts are whole: a monitoring system compares them.
    const std::string text = value == std::floor(value) && std::abs(value) < 1e15
                                 ? fmt::format("{:.0f}", value)
                                 : fmt::format("{:.6g}", value);
    out_ +=
        fmt::format("{}{{{}{}{}}} {}\n", name_, section_, labels.empty() ? "" : ",", labels, text);
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string section_, name_, out_;
};

template <class Pick>
void add_by_class(samples& out, const run_facts& facts, const results& all, const Pick& pick) {
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    for (const class_figures& f : figures_by_class(facts, all, s)) {
      const spread& value = pick(f);
      for (const auto& [which, number] :
           {std::pair{"min", value.min}, std::pair{"median", value.median},
            std::pair{"max", value.max}})
        out.add(fmt::format("bytes=\"{}\",class=\"{}\",over_pairs=\"{}\"", all.sizes()[s],
                            word_of(f.what), which),
                number);
    }
  }
}

void add_verdicts(samples& out, const run_facts& facts) {
  constexpr culprit kinds[]{culprit::node_tx, culprit::node_rx, culprit::node,
                            culprit::rail,    culprit::link,    culprit::contention};
  const std::optional<diagnosis>& slow = facts.slow;
  out.family("diagnosed", "1 when slow nodes, rails and links were looked for.");
  out.add("", slow ? 1 : 0);
  if (!slow) return;
  out.family("verdicts", "Slow parts that were found, by their kind.");
  for (const culprit kind : kinds)
    out.add(
        fmt::format("what=\"{}\"", name_of(kind)),
        static_cast<double>(std::count_if(slow->verdicts.begin(), slow->verdicts.end(),
                                          [kind](const verdict& v) { return v.what == kind; })));
  const auto host = [&facts](int r) {
    const auto index = static_cast<std::size_t>(r);
    return r >= 0 && index < facts.hosts.size() ? label(facts.hosts[index]) : "";
  };
  out.family("slow_factor", "How many times as long as usual a slow part takes.");
  for (const verdict& v : slow->verdicts)
    out.add(
        fmt::format("what=\"{}\",host=\"{}\",rank=\"{}\",peer_host=\"{}\",peer_rank=\"{}\",rail="
                    "\"{}\"",
                    name_of(v.what), host(v.node), v.node, host(v.peer), v.peer, v.rail),
        v.factor);
}

/// A rule may be given twice, but no two samples may have the same labels.
void add_rules(samples& out, const run_facts& facts) {
  out.family("rules", "Rules of --expect, and the baseline, that were asked for.");
  const std::size_t given = facts.chosen.search.expect.size();
  out.add("", static_cast<double>(given + (facts.chosen.search.baseline.empty() ? 0 : 1)));
  out.family("missed_rules", "How often one of them is missed: by pairs of a size, or as a whole.");
  out.add("", static_cast<double>(facts.missed.size()));
  out.family("missed_pairs", "Ordered pairs that miss a rule.");
  std::set<std::string> told;
  for (const broken_rule& b : facts.missed) {
    const std::string labels = fmt::format("rule=\"{}\",bytes=\"{}\"", label(b.rule), b.bytes);
    if (told.insert(labels).second) out.add(labels, static_cast<double>(b.pairs));
  }
}

}  // namespace

void write_csv(const text_sink& out, const run_facts& facts, const results& all) {
  const auto line = [&out](const json& row, const auto& field) {
    std::string text;
    for (const auto& [name, value] : row.items())
      text += (text.empty() ? "" : ",") + field(name, value);
    out(text + '\n');
  };
  line(row_of(facts, all, 0, 0, 1, {}), [](const std::string& name, const json&) { return name; });
  for_rows(facts, all, [&line](const json& row) {
    line(row, [](const std::string&, const json& value) { return csv_field(value); });
  });
}

void write_json_lines(const text_sink& out, const run_facts& facts, const results& all) {
  out(tools::json_text(facts_as_json(facts, all)) + '\n');
  for_rows(facts, all, [&out](const json& row) { out(tools::json_text(row) + '\n'); });
}

std::string to_prometheus(const run_facts& facts, const results& all) {
  samples out(facts.chosen);
  out.family("time_seconds", "Time per message: the pairs' medians, over all pairs of a class.");
  add_by_class(out, facts, all, [](const class_figures& f) { return f.time; });
  out.family("bandwidth_bytes_per_second", "Bandwidth, over all pairs of a class.");
  add_by_class(out, facts, all, [](const class_figures& f) { return f.bandwidth; });
  out.family("pairs", "Ordered pairs and sizes by how their measurement went.");
  for (const pair_state state :
       {pair_state::measured, pair_state::unmeasured, pair_state::lost, pair_state::corrupted})
    out.add(fmt::format("state=\"{}\"", name_of(state)), static_cast<double>(all.count(state)));
  out.family("ranks", "Ranks that took part.");
  out.add("", all.ranks());
  out.family("hosts", "Hosts that took part.");
  out.add("", static_cast<double>(each_host(facts.hosts).size()));
  out.family("elapsed_seconds", "How long the run took.");
  out.add("", facts.elapsed_s);
  out.family("complete", "1 when every pair was measured and all data arrived as it was sent.");
  out.add("", verdict_of(all) == success ? 1 : 0);
  add_verdicts(out, facts);
  add_rules(out, facts);
  out.family("exit_status", "What the program ended with, unless by a signal.");
  out.add("", status_of(facts, all));
  return out.take();
}

}  // namespace heddle::linktest
