// SPDX-License-Identifier: BSD-3-Clause
// json_document.cpp - facts and figures at once, matrices and columns as they go.
#include "linktest/results/json_document.h"

#include <nlohmann/json.hpp>

#include "linktest/results/json_file.h"
#include "linktest/results/json_stream.h"
#include "linktest/results/pair_class.h"

namespace heddle::linktest {
namespace {

using json = nlohmann::ordered_json;

json slowest_of(const run_facts& facts, const results& all, std::size_t size_index) {
  json out = json::array();
  for (const slow_pair& p : slowest_in_class(facts, all, size_index, facts.chosen.slowest)) {
    out.push_back({{"initiator", p.initiator},
                   {"peer", p.peer},
                   {"initiator_host", facts.hosts[static_cast<std::size_t>(p.initiator)]},
                   {"peer_host", facts.hosts[static_cast<std::size_t>(p.peer)]},
                   {"class", word_of(class_of(facts, p.initiator, p.peer))},
                   {"time_s", p.time_s},
                   {"bandwidth", number(p.bandwidth)},
                   {"times_median", p.times_median}});
  }
  return out;
}

json summary_of(const run_facts& facts, const results& all, std::size_t size_index) {
  json out{{"bytes", all.sizes()[size_index]}};
  out["summary"]["time"] = spread_as_json(all.summary(size_index, metric::time_median));
  out["summary"]["bandwidth"] = spread_as_json(all.summary(size_index, metric::bandwidth));
  out["classes"] = json::object();
  for (const class_figures& f : figures_by_class(facts, all, size_index))
    out["classes"][std::string(word_of(f.what))] = {{"pairs", f.pairs},
                                                    {"time", spread_as_json(f.time)},
                                                    {"bandwidth", spread_as_json(f.bandwidth)}};
  if (size_index < facts.bare.size()) out["bare_time_s"] = number(facts.bare[size_index]);
  out["slowest"] = slowest_of(facts, all, size_index);
  return out;
}

std::string_view state_of(const pair_record& one) {
  return name_of(one.state);
}

/// `of` gives a value for each two.
template <class Of>
void write_square(json_stream& out, std::string_view name, std::size_t side, const Of& of) {
  out.key(name);
  out.begin_array();
  for (std::size_t i = 0; i < side; ++i) {
    json row = json::array();
    for (std::size_t j = 0; j < side; ++j) row.push_back(of(i, j));
    out.value(row);
  }
  out.end();
}

/// `of` gives a value for each known pair.
template <class Of>
void write_column(json_stream& out, std::string_view name, const results& all,
                  std::size_t size_index, const Of& of) {
  out.key(name);
  out.begin_array();
  all.for_known(size_index,
                [&](int r, int p, const pair_record& one) { out.value(of(r, p, one)); });
  out.end();
}

void write_pairs(json_stream& out, const results& all, std::size_t s) {
  const auto column = [&](std::string_view name, const auto& of) {
    write_column(out, name, all, s, of);
  };
  column("initiator", [](int r, int, const pair_record&) { return r; });
  column("peer", [](int, int p, const pair_record&) { return p; });
  column("state", [](int, int, const pair_record& one) { return state_of(one); });
  for (const metric m : all_metrics)
    column(name_of(m),
           [&](int, int, const pair_record& one) { return number(all.value_of(s, one, m)); });
}

void write_matrices(json_stream& out, const results& all, std::size_t s) {
  const auto matrix = [&](std::string_view name, const auto& of) {
    write_square(out, name, static_cast<std::size_t>(all.ranks()), [&](auto r, auto p) {
      return of(all.at(s, static_cast<int>(r), static_cast<int>(p)));
    });
  };
  for (const metric m : all_metrics)
    matrix(name_of(m), [&](const pair_record& one) { return number(all.value_of(s, one, m)); });
  matrix("state", state_of);
}

void write_host_matrices(json_stream& out, const run_facts& facts, const results& all,
                         std::size_t s) {
  const std::vector<std::string> hosts = each_host(facts.hosts);
  if (hosts.size() < 2 || hosts.size() > most_ranks_of_matrices) return;
  out.key("host_matrices");
  out.begin_object();
  for (const metric m : {metric::time_median, metric::bandwidth}) {
    const std::vector<double> values = host_matrix(facts, all, hosts, s, m);
    write_square(out, name_of(m), hosts.size(),
                 [&](auto i, auto j) { return number(values[i * hosts.size() + j]); });
  }
  out.end();
}

void write_measured(json_stream& out, const run_facts& facts, const results& all, std::size_t s) {
  write_host_matrices(out, facts, all, s);
  const bool listed = all.pairs_listed();
  out.key(listed ? "pairs" : "matrices");
  out.begin_object();
  if (listed)
    write_pairs(out, all, s);
  else
    write_matrices(out, all, s);
  out.end();
}

json metrics_as_json() {
  json out;
  for (const metric m : all_metrics)
    out[std::string(name_of(m))] = {{"unit", unit_of(m)}, {"definition", definition_of(m)}};
  return out;
}

void write_entries(json_stream& out, const json& object) {
  for (const auto& [name, value] : object.items()) {
    out.key(name);
    out.value(value);
  }
}

void write_document(const text_sink& to, const run_facts& facts, const results& all,
                    bool with_matrices) {
  json_stream out(to);
  out.begin_object();
  write_entries(out, facts_as_json(facts, all));
  write_entries(out, {{"metrics", metrics_as_json()}});
  out.key("sizes");
  out.begin_array();
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    out.begin_object();
    write_entries(out, summary_of(facts, all, s));
    if (with_matrices) write_measured(out, facts, all, s);
    out.end();
  }
  out.end();
  out.end();
  to("\n");
}

}  // namespace

void write_json(const text_sink& out, const run_facts& facts, const results& all) {
  write_document(out, facts, all, true);
}

void write_json_summary(const text_sink& out, const run_facts& facts, const results& all) {
  write_document(out, facts, all, false);
}

}  // namespace heddle::linktest
