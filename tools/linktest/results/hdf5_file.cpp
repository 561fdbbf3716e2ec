// SPDX-License-Identifier: BSD-3-Clause
// hdf5_file.cpp - what lies where in the HDF5 file.
#include "linktest/results/hdf5_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <heddle/status.h>

#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "json_text.h"
#include "linktest/results/hdf5_loader.h"
#include "linktest/results/json_file.h"
#include "linktest/results/pair_class.h"
#include "linktest/results/pair_list.h"
#include "linktest/results/rebuild.h"
#include "linktest/rules/judgement.h"

namespace heddle::linktest {
namespace {

constexpr const char* facts_attribute = "facts";
constexpr const char* listed_attribute = "pairs_listed";

void write_options(hdf5_node& file, const options& o) {
  file.add("backend", std::string_view(o.layer));
  file.add("mode", std::string_view(name_of(o.mode)));
  file.add("kernel", name_of(o.kernel));
  file.add("op", name_of(o.op));
  file.add("window", o.window);
  file.add("buffers", o.buffers);
  file.add("messages", o.messages);
  file.add("warmup", o.warmup);
  file.add("repetitions", o.repetitions);
  file.add("most_repetitions", o.most_repetitions);
  file.add("ci_percent", o.interval_percent);
  file.add("budget_ms", o.budget_ms);
  file.add("singles", o.singles);
  file.add("check", std::uint64_t{o.check});
  file.add("drift", o.drift);
  file.add("seed", o.seed);
  file.add("shuffle", std::uint64_t{o.shuffle});
  file.add("bisection", std::string_view(text_of(o.halves)));
  file.add("all_to_all", std::uint64_t{o.all_to_all});
  file.add("timeout_s", o.timeout_s);
}

void write_machines(hdf5_node& file, const run_facts& facts) {
  const auto environment = file.add_group("environment");
  for (const named_text& setting : facts.environment)
    environment->add(setting.name, std::string_view(setting.value));
  const auto machines = file.add_group("machines");
  for (const host_facts& host : facts.machines) {
    const auto one = machines->add_group(host.host);
    for (const named_text& fact : host.facts) one->add(fact.name, std::string_view(fact.value));
  }
  if (facts.places.empty()) return;
  std::vector<std::string> cpus;
  std::vector<int> complexes, sockets;
  for (const rank_place& place : facts.places) {
    cpus.push_back(place.cpus);
    complexes.push_back(place.complex);
    sockets.push_back(place.socket);
  }
  file.add_column("cpus", cpus);
  file.add_column("core_complex", std::span<const int>(complexes));
  file.add_column("socket", std::span<const int>(sockets));
}

template <class Value, class Pick>
auto column(const std::vector<Value>& of, const Pick& pick) {
  std::vector<std::decay_t<decltype(pick(of.front()))>> out;
  for (const Value& one : of) out.push_back(pick(one));
  return out;
}

template <class Value>
void write_column(hdf5_node& where, const char* name, const std::vector<Value>& values) {
  if constexpr (std::is_same_v<Value, std::string>)
    where.add_column(name, values);
  else
    where.add_column(name, std::span<const Value>(values));
}

std::string host_of(const run_facts& facts, int rank) {
  const auto index = static_cast<std::size_t>(rank);
  return rank >= 0 && index < facts.hosts.size() ? facts.hosts[index] : "";
}

/// A group of columns, each as long as there are verdicts.
void write_verdicts(hdf5_node& file, const run_facts& facts) {
  if (!facts.slow) return;
  const std::vector<verdict>& all = facts.slow->verdicts;
  const auto group = file.add_group("verdicts");
  const auto write = [&](const char* name, const auto& pick) {
    write_column(*group, name, column(all, pick));
  };
  write("what", [](const verdict& v) { return std::string(name_of(v.what)); });
  write("node", [](const verdict& v) { return v.node; });
  write("peer", [](const verdict& v) { return v.peer; });
  write("rail", [](const verdict& v) { return v.rail; });
  write("host", [&](const verdict& v) { return host_of(facts, v.node); });
  write("peer_host", [&](const verdict& v) { return host_of(facts, v.peer); });
  write("factor", [](const verdict& v) { return v.factor; });
  write("confidence", [](const verdict& v) { return v.confidence; });
  write("retested", [](const verdict& v) { return int{v.retested}; });
  write("evidence", [](const verdict& v) { return v.evidence; });
}

void write_missed_rules(hdf5_node& file, const std::vector<broken_rule>& missed) {
  const auto group = file.add_group("missed_rules");
  const auto write = [&](const char* name, const auto& pick) {
    write_column(*group, name, column(missed, pick));
  };
  write("rule", [](const broken_rule& b) { return b.rule; });
  write("bytes", [](const broken_rule& b) { return b.bytes; });
  write("pairs", [](const broken_rule& b) { return b.pairs; });
  write("of", [](const broken_rule& b) { return b.of; });
  write("initiator", [](const broken_rule& b) { return b.initiator; });
  write("peer", [](const broken_rule& b) { return b.peer; });
  write("value", [](const broken_rule& b) { return b.value; });
  write("wanted", [](const broken_rule& b) { return b.wanted; });
}

void write_findings(hdf5_node& file, const run_facts& facts, const results& all) {
  file.add("exit_status", static_cast<std::uint64_t>(status_of(facts, all)));
  file.add("diagnosed", std::uint64_t{facts.slow.has_value()});
  file.add("not_diagnosed", std::string_view(facts.not_diagnosed));
  file.add("disturbed", std::string_view(facts.disturbed));
  write_verdicts(file, facts);
  write_missed_rules(file, facts.missed);
}

void write_facts(hdf5_node& file, const run_facts& facts, const results& all) {
  file.add("format", std::string_view("heddle-linktest"));
  file.add("schema_version", std::uint64_t{hdf5_schema_version});
  file.add("heddle_version", std::string_view(facts.version));
  file.add("command", std::string_view(facts.command));
  file.add("started", std::string_view(facts.started));
  file.add("ended", std::string_view(facts.ended));
  file.add("elapsed_s", facts.elapsed_s);
  file.add("complete", std::uint64_t{verdict_of(all) == success});
  file.add("interrupted", std::uint64_t{facts.interrupted});
  file.add("clock_look_s", facts.clock.look_s);
  file.add("clock_resolution_s", facts.clock.resolution_s);
  file.add("ranks", static_cast<std::uint64_t>(all.ranks()));
  if (all.pairs_listed()) file.add(listed_attribute, std::uint64_t{1});
  file.add("routes", std::string_view(fmt::format("{}", fmt::join(facts.routes, ","))));
  file.add(facts_attribute, std::string_view(tools::json_text(facts_as_json(facts, all))));
  write_options(file, facts.chosen);
  write_machines(file, facts);
  write_findings(file, facts, all);
  file.add_column("hosts", facts.hosts);
  if (!facts.groups.empty()) file.add_column("groups", facts.groups);
  const auto sizes = file.add_column("sizes", std::span<const std::uint64_t>(all.sizes()));
  sizes->add("units", std::string_view("B"));
}

/// Times are kept in single precision, in which they were; bandwidths are computed from them.
bool is_single(metric m) {
  return m != metric::bandwidth;
}

std::string group_of(std::uint64_t bytes) {
  return fmt::format("size_{}", bytes);
}

/// What `of` says of each known pair, of which there are `length`, in pieces of a tile.
template <class Value, class Of>
hdf5_node::owner write_known(hdf5_node& group, std::string_view name, const results& all,
                             std::size_t size_index, std::uint64_t length, const Of& of) {
  constexpr std::size_t most = 65'536;
  std::uint64_t written = 0;
  auto data = group.add_empty_column(std::string(name), std::span<const Value>(), length);
  std::vector<Value> piece;
  const auto flush = [&] {
    if (!piece.empty()) data->write(written, std::span<const Value>(piece));
    written += piece.size();
    piece.clear();
  };
  all.for_known(size_index, [&](int r, int p, const pair_record& one) {
    piece.push_back(of(r, p, one));
    if (piece.size() == most) flush();
  });
  flush();
  return data;
}

void write_pairs(hdf5_node& size, const results& all, std::size_t size_index) {
  const auto group = size.add_group("pairs");
  std::uint64_t length = 0;
  all.for_known(size_index, [&length](int, int, const pair_record&) { ++length; });
  write_known<int>(*group, "initiator", all, size_index, length,
                   [](int r, int, const pair_record&) { return r; });
  write_known<int>(*group, "peer", all, size_index, length,
                   [](int, int p, const pair_record&) { return p; });
  write_known<std::uint8_t>(
      *group, "state", all, size_index, length,
      [](int, int, const pair_record& one) { return static_cast<std::uint8_t>(one.state); });
  for (const metric m : all_metrics) {
    const auto data = write_known<double>(
        *group, name_of(m), all, size_index, length,
        [&](int, int, const pair_record& one) { return all.value_of(size_index, one, m); });
    data->add("units", unit_of(m));
    data->add("definition", definition_of(m));
  }
}

void write_size(hdf5_node& file, const run_facts& facts, const results& all,
                std::size_t size_index) {
  const std::uint64_t bytes = all.sizes()[size_index];
  const auto group = file.add_group(group_of(bytes));
  group->add("bytes", bytes);
  if (size_index < facts.bare.size()) group->add("bare_time_s", facts.bare[size_index]);
  const auto n = static_cast<std::uint64_t>(all.ranks());
  const auto write = [&](const std::string& name, metric m, std::uint64_t side,
                         const std::vector<double>& values) {
    const auto data = group->add_square(name, std::span<const double>(values), side, is_single(m));
    data->add("units", unit_of(m));
    data->add("definition", definition_of(m));
  };
  const std::vector<std::string> hosts = each_host(facts.hosts);
  if (hosts.size() > 1 && hosts.size() <= most_ranks_of_matrices)
    for (const metric m : {metric::time_median, metric::bandwidth})
      write(fmt::format("host_{}", name_of(m)), m, hosts.size(),
            host_matrix(facts, all, hosts, size_index, m));
  if (all.pairs_listed()) return write_pairs(*group, all, size_index);
  for (const metric m : all_metrics)
    write(std::string(name_of(m)), m, n, all.matrix(size_index, m));
  auto states = all.states(size_index);
  const auto state = group->add_square("state", std::span<const std::uint8_t>(states), n, false);
  state->add("meaning", std::string_view("0 unmeasured, 1 measured, 2 lost, 3 corrupted"));
  for (auto& s : states) s = s >= static_cast<std::uint8_t>(pair_state::lost) ? 1 : 0;
  group->add_square("failed", std::span<const std::uint8_t>(states), n, false);
}

// --- reading ---

nlohmann::ordered_json read_facts(hdf5_node& file) {
  if (!file.has_attribute(facts_attribute))
    throw error("this is not a result of heddle linktest, or one of before its version 0.1");
  return nlohmann::ordered_json::parse(file.text(facts_attribute));
}

std::vector<pair_state> as_states(const std::vector<std::uint8_t>& numbers) {
  std::vector<pair_state> out;
  for (const std::uint8_t number : numbers) {
    if (number > static_cast<std::uint8_t>(pair_state::corrupted))
      throw error(fmt::format("it has a state of a pair, {}, that is not known", number));
    out.push_back(static_cast<pair_state>(number));
  }
  return out;
}

run_record read_file(hdf5_node& file) {
  const nlohmann::ordered_json told = read_facts(file);
  run_facts facts = facts_from_json(told);
  const bool listed = file.has_attribute(listed_attribute);
  const auto path = [&](std::size_t s, std::string_view name) {
    return fmt::format("{}/{}{}", group_of(facts.chosen.sizes[s]), listed ? "pairs/" : "", name);
  };
  value_source source;
  source.sample = sample_from_json(told);
  source.states = [&](std::size_t s) { return as_states(file.bytes(path(s, "state"))); };
  source.values = [&](std::size_t s, metric m) { return file.doubles(path(s, name_of(m))); };
  if (listed)
    source.pairs = [&](std::size_t s) {
      return pairs_from(file.doubles(path(s, "initiator")), file.doubles(path(s, "peer")));
    };
  results all = rebuild(facts, source);
  return {std::move(facts), std::move(all)};
}

}  // namespace

void write_hdf5(const std::string& path, const run_facts& facts, const results& all) {
  try {
    const auto file = hdf5().create(path);
    write_facts(*file, facts, all);
    for (std::size_t s = 0; s < all.sizes().size(); ++s) write_size(*file, facts, all, s);
    file->close();
  } catch (const error& why) {
    throw error(fmt::format("write {}: {}", path, why.what()));
  }
}

run_record read_hdf5(const std::string& path) {
  try {
    return read_file(*hdf5().open(path));
  } catch (const nlohmann::json::exception& why) {
    throw error(fmt::format("{}: its facts are not whole: {}", path, why.what()));
  } catch (const error& why) {
    throw error(fmt::format("{}: {}", path, why.what()));
  }
}

}  // namespace heddle::linktest
