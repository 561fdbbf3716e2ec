// SPDX-License-Identifier: BSD-3-Clause
// json_file.cpp - facts as JSON, and the document read back.
#include "linktest/results/json_file.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "json_text.h"
#include "linktest/diagnose/verdict_json.h"
#include "linktest/results/pair_list.h"
#include "linktest/results/rebuild.h"
#include "linktest/rules/judgement.h"

namespace heddle::linktest {
namespace {

using json = nlohmann::ordered_json;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

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

json missed_rules(const run_facts& facts) {
  json out = json::array();
  for (const broken_rule& b : facts.missed)
    out.push_back({{"rule", b.rule},
                   {"bytes", b.bytes},
                   {"pairs", b.pairs},
                   {"of", b.of},
                   {"initiator", b.initiator},
                   {"peer", b.peer},
                   {"value", b.value},
                   {"wanted", b.wanted},
                   {"words", in_words(b, names_of_ranks(facts.hosts))}});
  return out;
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

json number(double value) {
  return std::isnan(value) ? json(nullptr) : json(shortest(value));
}

json spread_as_json(const spread& s) {
  return {{"min", number(s.min)}, {"median", number(s.median)}, {"max", number(s.max)}};
}

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
  out["missed_rules"] = missed_rules(facts);
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

run_record from_json(std::string_view text) {
  try {
    return read_document(json::parse(text));
  } catch (const json::exception& why) {
    throw error(fmt::format("this is not a whole result of heddle linktest: {}", why.what()));
  }
}

}  // namespace heddle::linktest
