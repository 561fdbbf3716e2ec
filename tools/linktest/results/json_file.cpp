// SPDX-License-Identifier: BSD-3-Clause
// json_file.cpp - builds and reads the JSON document.
#include "linktest/results/json_file.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "json_text.h"
#include "linktest/diagnose/verdict_json.h"
#include "linktest/results/pair_class.h"
#include "linktest/results/pair_list.h"
#include "linktest/results/rebuild.h"
#include "linktest/rules/judgement.h"

namespace heddle::linktest {
namespace {

using json = nlohmann::ordered_json;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

json number(double value) {
  return std::isnan(value) ? json(nullptr) : json(shortest(value));
}

json as_json(const std::vector<named_text>& texts) {
  json out = json::object();
  for (const named_text& text : texts) out[text.name] = text.value;
  return out;
}

json options_of(const options& o) {
  return {{"backend", o.layer},
          {"mode", name_of(o.mode)},
          {"kernel", name_of(o.kernel)},
          {"op", name_of(o.op)},
          {"window", o.window},
          {"buffers", o.buffers},
          {"sizes", o.sizes},
          {"messages", o.messages},
          {"warmup", o.warmup},
          {"repetitions", o.repetitions},
          {"most_repetitions", o.most_repetitions},
          {"ci_percent", o.interval_percent},
          {"budget_ms", o.budget_ms},
          {"singles", o.singles},
          {"check", o.check},
          {"drift", o.drift},
          {"seed", o.seed},
          {"shuffle", o.shuffle},
          {"bisection", text_of(o.halves)},
          {"all_to_all", o.all_to_all},
          {"slowest", o.slowest},
          {"timeout_s", o.timeout_s},
          {"slow", o.search.slow},
          {"expect", o.search.expect},
          {"baseline", o.search.baseline}};
}

json spread_as_json(const spread& s) {
  return {{"min", number(s.min)}, {"median", number(s.median)}, {"max", number(s.max)}};
}

template <class Value, class Convert>
json square(const std::vector<Value>& values, std::size_t side, Convert convert) {
  json rows = json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % side == 0) rows.push_back(json::array());
    rows.back().push_back(convert(values[i]));
  }
  return rows;
}

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

void add_pairs(json& pairs, const results& all, std::size_t size_index) {
  const pair_list known = known_pairs(all, size_index);
  pairs["initiator"] = known.initiators;
  pairs["peer"] = known.peers;
  pairs["state"] = json::array();
  for (const std::uint8_t s : known.states)
    pairs["state"].push_back(name_of(static_cast<pair_state>(s)));
  for (const metric m : all_metrics)
    pairs[std::string(name_of(m))] = all_numbers(values_of_known(all, size_index, m));
}

void add_matrices(json& size, const run_facts& facts, const results& all, std::size_t size_index) {
  const auto ranks = static_cast<std::size_t>(all.ranks());
  const std::vector<std::string> hosts = each_host(facts.hosts);
  if (hosts.size() > 1 && hosts.size() <= most_ranks_of_matrices)
    for (const metric m : {metric::time_median, metric::bandwidth})
      size["host_matrices"][std::string(name_of(m))] =
          square(host_matrix(facts, all, hosts, size_index, m), hosts.size(), number);
  if (!all.have_matrices()) return add_pairs(size["pairs"], all, size_index);
  for (const metric m : all_metrics)
    size["matrices"][std::string(name_of(m))] = square(all.matrix(size_index, m), ranks, number);
  size["matrices"]["state"] = square(all.states(size_index), ranks, [](std::uint8_t s) {
    return json(name_of(static_cast<pair_state>(s)));
  });
}

json metrics_as_json() {
  json out;
  for (const metric m : all_metrics)
    out[std::string(name_of(m))] = {{"unit", unit_of(m)}, {"definition", definition_of(m)}};
  return out;
}

json missed_rules(const std::vector<broken_rule>& missed) {
  json out = json::array();
  for (const broken_rule& b : missed)
    out.push_back({{"rule", b.rule},
                   {"bytes", b.bytes},
                   {"pairs", b.pairs},
                   {"of", b.of},
                   {"initiator", b.initiator},
                   {"peer", b.peer},
                   {"value", b.value},
                   {"wanted", b.wanted}});
  return out;
}

std::string document(const run_facts& facts, const results& all, bool with_matrices) {
  json out = facts_as_json(facts, all);
  out["metrics"] = metrics_as_json();
  out["sizes"] = json::array();
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    out["sizes"].push_back(summary_of(facts, all, s));
    if (with_matrices) add_matrices(out["sizes"].back(), facts, all, s);
  }
  return tools::json_text(out, 1) + '\n';
}

// --- reading ---

std::vector<named_text> texts_of(const json& object) {
  std::vector<named_text> out;
  for (const auto& [name, value] : object.items()) out.push_back({name, value.get<std::string>()});
  return out;
}

template <class Enum, std::size_t N>
Enum from_name(const std::string& word, const Enum (&all)[N]) {
  for (const Enum one : all)
    if (name_of(one) == word) return one;
  throw error(fmt::format("it says '{}', which is not known", word));
}

options options_from(const json& in) {
  constexpr kernel kernels[]{kernel::semi, kernel::bi, kernel::uni, kernel::unknown};
  constexpr operation ops[]{operation::send, operation::put, operation::get, operation::call,
                            operation::unknown};
  constexpr run_mode modes[]{run_mode::parallel, run_mode::serial};
  options out;
  out.layer = in.at("backend").get<std::string>();
  out.mode = from_name(in.at("mode").get<std::string>(), modes);
  out.kernel = from_name(in.at("kernel").get<std::string>(), kernels);
  out.op = from_name(in.value("op", "send"), ops);
  out.window = in.value("window", out.window);
  out.buffers = in.value("buffers", out.buffers);
  out.halves = parse_halves(in.value("bisection", "none"));
  out.all_to_all = in.value("all_to_all", out.all_to_all);
  out.kernels = {out.kernel};
  out.ops = {out.op};
  out.layers = {out.layer};
  in.at("sizes").get_to(out.sizes);
  in.at("messages").get_to(out.messages);
  in.at("warmup").get_to(out.warmup);
  in.at("repetitions").get_to(out.repetitions);
  out.most_repetitions = in.value("most_repetitions", out.repetitions);
  out.interval_percent = in.value("ci_percent", out.interval_percent);
  out.budget_ms = in.value("budget_ms", out.budget_ms);
  out.singles = in.value("singles", out.singles);
  out.check = in.value("check", out.check);
  out.drift = in.value("drift", out.drift);
  in.at("seed").get_to(out.seed);
  in.at("shuffle").get_to(out.shuffle);
  out.slowest = in.value("slowest", out.slowest);
  in.at("timeout_s").get_to(out.timeout_s);
  out.search.slow = in.value("slow", out.search.slow);
  out.search.expect = in.value("expect", out.search.expect);
  out.search.baseline = in.value("baseline", out.search.baseline);
  return out;
}

double number_from(const json& value) {
  return value.is_null() ? nan : value.get<double>();
}

spread spread_from(const json& in) {
  return {number_from(in.at("min")), number_from(in.at("median")), number_from(in.at("max"))};
}

sketch all_to_all_from(const json& in) {
  sketch out;
  in.at("samples").get_to(out.n);
  out.min = static_cast<float>(number_from(in.at("time_min")));
  out.median = static_cast<float>(number_from(in.at("time_median")));
  out.p99 = static_cast<float>(number_from(in.at("time_p99")));
  out.max = static_cast<float>(number_from(in.at("time_max")));
  return out;
}

std::vector<broken_rule> missed_from(const json& rules) {
  std::vector<broken_rule> out;
  for (const json& one : rules) {
    broken_rule& b = out.emplace_back();
    one.at("rule").get_to(b.rule);
    one.at("bytes").get_to(b.bytes);
    one.at("pairs").get_to(b.pairs);
    one.at("of").get_to(b.of);
    one.at("initiator").get_to(b.initiator);
    one.at("peer").get_to(b.peer);
    one.at("value").get_to(b.value);
    one.at("wanted").get_to(b.wanted);
  }
  return out;
}

/// The rows of a matrix of the document, which must be square.
template <class Convert>
auto read_square(const json& rows, std::size_t side, const Convert& convert) {
  std::vector<decltype(convert(rows))> out;
  if (rows.size() != side) throw error("a matrix has not a row for every rank");
  for (const json& one : rows) {
    if (one.size() != side) throw error("a row of a matrix has not a value for every rank");
    for (const json& value : one) out.push_back(convert(value));
  }
  return out;
}

pair_state state_from(const json& word) {
  constexpr pair_state states[]{pair_state::unmeasured, pair_state::measured, pair_state::lost,
                                pair_state::corrupted};
  return from_name(word.get<std::string>(), states);
}

template <class Convert>
auto read_column(const json& values, const Convert& convert) {
  std::vector<decltype(convert(values))> out;
  for (const json& value : values) out.push_back(convert(value));
  return out;
}

/// Sizes have lists of pairs in place of matrices.
value_source lists_in(const json& sizes) {
  const auto column = [&sizes](std::size_t s, std::string_view name) -> const json& {
    return sizes.at(s).at("pairs").at(std::string(name));
  };
  value_source out;
  out.states = [=](std::size_t s) { return read_column(column(s, "state"), state_from); };
  out.values = [=](std::size_t s, metric m) {
    return read_column(column(s, name_of(m)), number_from);
  };
  out.pairs = [=](std::size_t s) {
    return pairs_from(read_column(column(s, "initiator"), number_from),
                      read_column(column(s, "peer"), number_from));
  };
  return out;
}

run_record read_document(const json& in) {
  run_facts facts = facts_from_json(in);
  const std::size_t ranks = facts.hosts.size();
  const json& sizes = in.at("sizes");
  if (sizes.size() != facts.chosen.sizes.size()) throw error("a message size is missing");
  const auto of_size = [&](std::size_t s) -> const json& { return sizes.at(s).at("matrices"); };
  const bool listed = !sizes.empty() && sizes.at(0).contains("pairs");
  value_source source = listed ? lists_in(sizes) : value_source{};
  source.sample = sample_from_json(in);
  if (!listed)
    source.states = [&](std::size_t s) {
      return read_square(of_size(s).at("state"), ranks, state_from);
    };
  if (!listed)
    source.values = [&](std::size_t s, metric m) {
      const auto found = of_size(s).find(std::string(name_of(m)));
      if (found == of_size(s).end()) return std::vector<double>(ranks * ranks, nan);
      return read_square(*found, ranks, number_from);
    };
  results all = rebuild(facts, source);
  return {std::move(facts), std::move(all)};
}

}  // namespace

json all_numbers(std::span<const double> values) {
  json out = json::array();
  for (const double value : values) out.push_back(number(value));
  return out;
}

json facts_as_json(const run_facts& facts, const results& all) {
  json out{{"format", "heddle-linktest"},
           {"schema_version", json_schema_version},
           {"heddle_version", facts.version},
           {"command", facts.command},
           {"started", facts.started},
           {"ended", facts.ended},
           {"elapsed_s", facts.elapsed_s},
           {"complete", verdict_of(all) == success},
           {"interrupted", facts.interrupted},
           {"exit_status", int{status_of(facts, all)}},
           {"ranks", all.ranks()},
           {"hosts", facts.hosts},
           {"groups", facts.groups},
           {"routes", facts.routes},
           {"clock", {{"look_s", facts.clock.look_s}, {"resolution_s", facts.clock.resolution_s}}},
           {"bare_times_s", all_numbers(facts.bare)},
           {"step_bandwidths", json::array()},
           {"options", options_of(facts.chosen)},
           {"environment", as_json(facts.environment)},
           {"machines", json::object()},
           {"places", json::array()}};
  if (all.sampled()) out["sample_pairs"] = all.sample();
  for (const spread& of_size : facts.step_bandwidths)
    out["step_bandwidths"].push_back(spread_as_json(of_size));
  if (facts.all_to_all)
    out["all_to_all"] = {{"samples", facts.all_to_all->n},
                         {"time_min", number(facts.all_to_all->min)},
                         {"time_median", number(facts.all_to_all->median)},
                         {"time_p99", number(facts.all_to_all->p99)},
                         {"time_max", number(facts.all_to_all->max)}};
  for (const host_facts& machine : facts.machines)
    out["machines"][machine.host] = as_json(machine.facts);
  for (const rank_place& place : facts.places) out["places"].push_back(as_json(place));
  if (facts.slow) {
    out["diagnosis"] = as_json(*facts.slow);
    out["diagnosis"]["words"] = in_words(*facts.slow, names_of_ranks(facts.hosts));
  }
  out["not_diagnosed"] = facts.not_diagnosed;
  out["disturbed"] = facts.disturbed;
  out["missed_rules"] = missed_rules(facts.missed);
  if (!facts.layers.empty()) out["layers"] = facts.layers;
  return out;
}

json as_json(const rank_place& place) {
  return {{"cpus", place.cpus},
          {"cores", place.cores},
          {"complex", place.complex},
          {"socket", place.socket}};
}

rank_place place_from_json(const json& told) {
  return {told.at("cpus").get<std::string>(), told.at("cores").get<std::vector<int>>(),
          told.at("complex").get<int>(), told.value("socket", -1)};
}

std::optional<std::uint64_t> sample_from_json(const json& in) {
  const auto found = in.find("sample_pairs");
  return found == in.end() ? std::nullopt : std::optional(found->get<std::uint64_t>());
}

run_facts facts_from_json(const json& in) {
  if (!in.is_object() || in.value("format", "") != "heddle-linktest")
    throw error("this is not a result of heddle linktest");
  if (const int version = in.at("schema_version").get<int>(); version > json_schema_version)
    throw error(fmt::format("it has structure {}, and this heddle knows up to {}: use a newer one",
                            version, json_schema_version));
  run_facts out;
  in.at("heddle_version").get_to(out.version);
  out.command = in.value("command", "");
  in.at("started").get_to(out.started);
  in.at("ended").get_to(out.ended);
  in.at("elapsed_s").get_to(out.elapsed_s);
  out.interrupted = in.value("interrupted", false);
  in.at("hosts").get_to(out.hosts);
  out.groups = in.value("groups", out.groups);
  if (!out.groups.empty() && out.groups.size() != out.hosts.size())
    throw error("it has not a group for every rank");
  in.at("routes").get_to(out.routes);
  out.chosen = options_from(in.at("options"));
  out.chosen.ranks = static_cast<int>(out.hosts.size());
  out.environment = texts_of(in.value("environment", json::object()));
  if (in.contains("clock")) {
    out.clock.look_s = in.at("clock").value("look_s", 0.0);
    out.clock.resolution_s = in.at("clock").value("resolution_s", 0.0);
  }
  for (const json& time : in.value("bare_times_s", json::array()))
    out.bare.push_back(number_from(time));
  for (const json& of_size : in.value("step_bandwidths", json::array()))
    out.step_bandwidths.push_back(spread_from(of_size));
  if (in.contains("all_to_all")) out.all_to_all = all_to_all_from(in.at("all_to_all"));
  if (in.contains("diagnosis")) out.slow = diagnosis_from(in.at("diagnosis"));
  out.not_diagnosed = in.value("not_diagnosed", "");
  out.disturbed = in.value("disturbed", "");
  out.missed = missed_from(in.value("missed_rules", json::array()));
  out.layers = in.value("layers", "");
  const json machines = in.value("machines", json::object());
  for (const auto& [host, facts] : machines.items())
    out.machines.push_back({host, texts_of(facts)});
  const json places = in.value("places", json::array());
  for (const json& place : places) out.places.push_back(place_from_json(place));
  return out;
}

std::string to_json(const run_facts& facts, const results& all) {
  return document(facts, all, true);
}

std::string to_json_summary(const run_facts& facts, const results& all) {
  return document(facts, all, false);
}

run_record from_json(std::string_view text) {
  try {
    return read_document(json::parse(text));
  } catch (const json::exception& why) {
    throw error(fmt::format("this is not a whole result of heddle linktest: {}", why.what()));
  }
}

}  // namespace heddle::linktest
