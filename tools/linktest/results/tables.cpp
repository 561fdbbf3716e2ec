// SPDX-License-Identifier: BSD-3-Clause
// tables.cpp - one row per pair, one sample per figure.
#include "linktest/results/tables.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "linktest/results/json_file.h"
#include "linktest/results/pair_class.h"

namespace heddle::linktest {
namespace {

using json = nlohmann::ordered_json;

/// Calls `each` with an object of all that is known of it for every size and pair.
template <class Each>
void for_rows(const run_facts& facts, const results& all, const Each& each) {
  const auto host = [&](int r) { return facts.hosts[static_cast<std::size_t>(r)]; };
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    for (int r = 0; r < all.ranks(); ++r) {
      for (int p = 0; p < all.ranks(); ++p) {
        if (r == p) continue;
        json row{{"kernel", name_of(facts.chosen.kernel)},
                 {"op", name_of(facts.chosen.op)},
                 {"backend", facts.chosen.backend},
                 {"mode", name_of(facts.chosen.mode)},
                 {"bytes", all.sizes()[s]},
                 {"initiator", r},
                 {"peer", p},
                 {"initiator_host", host(r)},
                 {"peer_host", host(p)},
                 {"class", word_of(class_of(facts, r, p))},
                 {"state", name_of(all.at(s, r, p).state)}};
        for (const metric m : all_metrics) {
          const double value = all.value(s, r, p, m);
          row[std::string(name_of(m))] = std::isnan(value) ? json(nullptr) : json(shortest(value));
        }
        each(row);
      }
    }
  }
}

std::string csv_field(const json& value) {
  if (value.is_null()) return {};
  if (!value.is_string()) return value.dump();
  std::string text = value.get<std::string>();
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '"');
  return '"' + text + '"';
}

// --- Prometheus ---

/// All of them have the same labels in front, which tell the sections of a run apart.
class samples {
 public:
  explicit samples(const options& of)
      : section_(fmt::format("kernel=\"{}\",op=\"{}\",backend=\"{}\",mode=\"{}\"",
                             name_of(of.kernel), name_of(of.op), of.backend, name_of(of.mode))) {}
  void family(std::string_view name, std::string_view help) {
    name_ = fmt::format("heddle_linktest_{}", name);
    out_ += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name_, help);
  }
  /// `labels`: what stands behind those.
  void add(const std::string& labels, double value) {
    if (std::isnan(value)) return;
    out_ += fmt::format("{}{{{}{}{}}} {:.6g}\n", name_, section_, labels.empty() ? "" : ",", labels,
                        value);
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

}  // namespace

std::string to_csv(const run_facts& facts, const results& all) {
  std::string out;
  for_rows(facts, all, [&out](const json& row) {
    std::string names, values;
    for (const auto& [name, value] : row.items()) {
      const char* const comma = names.empty() ? "" : ",";
      names += comma + name;
      values += comma + csv_field(value);
    }
    if (out.empty()) out = names + '\n';
    out += values + '\n';
  });
  return out;
}

std::string to_json_lines(const run_facts& facts, const results& all) {
  std::string out = facts_as_json(facts, all).dump() + '\n';
  for_rows(facts, all, [&out](const json& row) { out += row.dump() + '\n'; });
  return out;
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
  return out.take();
}

}  // namespace heddle::linktest
