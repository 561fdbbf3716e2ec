// SPDX-License-Identifier: BSD-3-Clause
// hdf5_file.cpp - writes and reads the HDF5 file with the library's C interface.
#include "linktest/results/hdf5_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>
#include <heddle/status.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "linktest/results/json_file.h"
#include "linktest/results/pair_class.h"
#include "linktest/results/rebuild.h"
#include "linktest/rules/judgement.h"

namespace heddle::linktest {
namespace {

constexpr const char* facts_attribute = "facts";

/// Throws when a call of the library answered that it failed.
template <class Answer>
Answer checked(Answer answer, std::string_view what) {
  if (answer < 0) throw error(fmt::format("HDF5 could not {}", what));
  return answer;
}

/// An identifier of the library and the function that closes it.
class handle {
 public:
  using closer = herr_t (*)(hid_t);
  handle(hid_t id, closer closing, std::string_view what)
      : id_(checked(id, what)), close_(closing) {}
  handle(handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  handle& operator=(handle&&) = delete;
  ~handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const noexcept { return id_; }  // NOLINT: used as one
  /// Closes now and throws when that fails: the last bytes are written here.
  void close(std::string_view what) { checked(close_(std::exchange(id_, -1)), what); }

 private:
  hid_t id_;
  closer close_;
};

handle text_type() {
  handle type(H5Tcopy(H5T_C_S1), H5Tclose, "make a text type");
  checked(H5Tset_size(type, H5T_VARIABLE), "make a text type");
  checked(H5Tset_cset(type, H5T_CSET_UTF8), "make a text type");
  return type;
}

void write_attribute(hid_t where, const char* name, hid_t type, const void* value) {
  const handle space(H5Screate(H5S_SCALAR), H5Sclose, "make a scalar");
  const handle attribute(H5Acreate2(where, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                         fmt::format("create the attribute {}", name));
  checked(H5Awrite(attribute, type, value), fmt::format("write the attribute {}", name));
}

void add(hid_t where, const char* name, std::string_view value) {
  const std::string text(value);
  const char* pointer = text.c_str();
  write_attribute(where, name, text_type(), &pointer);
}
void add(hid_t where, const char* name, std::uint64_t value) {
  write_attribute(where, name, H5T_NATIVE_UINT64, &value);
}
void add(hid_t where, const char* name, double value) {
  write_attribute(where, name, H5T_NATIVE_DOUBLE, &value);
}

/// How a square of so many ranks is kept: in tiles that are compressed each for itself, so that a
/// few rows of a large one can be read alone.
handle tiles(hsize_t ranks) {
  constexpr hsize_t most = 256;
  constexpr unsigned usual_effort = 4;
  handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make a property list");
  const std::array<hsize_t, 2> tile{std::min(ranks, most), std::min(ranks, most)};
  checked(H5Pset_chunk(list, tile.size(), tile.data()), "choose tiles");
  checked(H5Pset_shuffle(list), "choose compression");
  checked(H5Pset_deflate(list, usual_effort), "choose compression");
  return list;
}

/// In the file as `stored`, from memory as `type`.
handle write_dataset(hid_t where, const std::string& name, hid_t stored, hid_t type,
                     const std::vector<hsize_t>& extent, const void* values) {
  const handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
                     H5Sclose, "make a data space");
  const handle kept = extent.size() == 2
                          ? tiles(extent.front())
                          : handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make a property list");
  handle data(H5Dcreate2(where, name.c_str(), stored, space, H5P_DEFAULT, kept, H5P_DEFAULT),
              H5Dclose, fmt::format("create the dataset {}", name));
  checked(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
          fmt::format("write the dataset {}", name));
  return data;
}

/// Texts by rank or name, such as the hosts.
void write_texts(hid_t where, const char* name, const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  const handle type = text_type();
  write_dataset(where, name, type, type, {pointers.size()}, pointers.data());
}

handle make_group(hid_t where, const std::string& name) {
  return {H5Gcreate2(where, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
          fmt::format("create the group {}", name)};
}

void write_options(hid_t file, const options& o) {
  add(file, "backend", std::string_view(o.backend));
  add(file, "mode", std::string_view(name_of(o.mode)));
  add(file, "kernel", name_of(o.kernel));
  add(file, "op", name_of(o.op));
  add(file, "window", o.window);
  add(file, "buffers", o.buffers);
  add(file, "messages", o.messages);
  add(file, "warmup", o.warmup);
  add(file, "repetitions", o.repetitions);
  add(file, "most_repetitions", o.most_repetitions);
  add(file, "ci_percent", o.interval_percent);
  add(file, "budget_ms", o.budget_ms);
  add(file, "singles", o.singles);
  add(file, "check", std::uint64_t{o.check});
  add(file, "drift", o.drift);
  add(file, "seed", o.seed);
  add(file, "shuffle", std::uint64_t{o.shuffle});
  add(file, "bisection", std::string_view(text_of(o.halves)));
  add(file, "all_to_all", std::uint64_t{o.all_to_all});
  add(file, "timeout_s", o.timeout_s);
}

void write_machines(hid_t file, const run_facts& facts) {
  const handle environment = make_group(file, "environment");
  for (const named_text& setting : facts.environment)
    add(environment, setting.name.c_str(), std::string_view(setting.value));
  const handle machines = make_group(file, "machines");
  for (const host_facts& host : facts.machines) {
    const handle one = make_group(machines, host.host);
    for (const named_text& fact : host.facts)
      add(one, fact.name.c_str(), std::string_view(fact.value));
  }
  if (facts.places.empty()) return;
  std::vector<std::string> cpus;
  std::vector<int> complexes;
  for (const rank_place& place : facts.places) {
    cpus.push_back(place.cpus);
    complexes.push_back(place.complex);
  }
  write_texts(file, "cpus", cpus);
  write_dataset(file, "core_complex", H5T_STD_I32LE, H5T_NATIVE_INT, {complexes.size()},
                complexes.data());
}

template <class Value, class Pick>
auto column(const std::vector<Value>& of, const Pick& pick) {
  std::vector<std::decay_t<decltype(pick(of.front()))>> out;
  for (const Value& one : of) out.push_back(pick(one));
  return out;
}

void write_column(hid_t where, const char* name, const std::vector<std::string>& values) {
  write_texts(where, name, values);
}
void write_column(hid_t where, const char* name, const std::vector<double>& values) {
  write_dataset(where, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {values.size()}, values.data());
}
void write_column(hid_t where, const char* name, const std::vector<int>& values) {
  write_dataset(where, name, H5T_STD_I32LE, H5T_NATIVE_INT, {values.size()}, values.data());
}
void write_column(hid_t where, const char* name, const std::vector<std::uint64_t>& values) {
  write_dataset(where, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, {values.size()}, values.data());
}

std::string host_of(const run_facts& facts, int rank) {
  const auto index = static_cast<std::size_t>(rank);
  return rank >= 0 && index < facts.hosts.size() ? facts.hosts[index] : "";
}

/// A group of columns, each as long as there are verdicts.
void write_verdicts(hid_t file, const run_facts& facts) {
  if (!facts.slow) return;
  const std::vector<verdict>& all = facts.slow->verdicts;
  const handle group = make_group(file, "verdicts");
  const auto write = [&](const char* name, const auto& pick) {
    write_column(group, name, column(all, pick));
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

void write_missed_rules(hid_t file, const std::vector<broken_rule>& missed) {
  const handle group = make_group(file, "missed_rules");
  const auto write = [&](const char* name, const auto& pick) {
    write_column(group, name, column(missed, pick));
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

void write_findings(hid_t file, const run_facts& facts, const results& all) {
  add(file, "exit_status", static_cast<std::uint64_t>(status_of(facts, all)));
  add(file, "diagnosed", std::uint64_t{facts.slow.has_value()});
  add(file, "not_diagnosed", std::string_view(facts.not_diagnosed));
  add(file, "disturbed", std::string_view(facts.disturbed));
  write_verdicts(file, facts);
  write_missed_rules(file, facts.missed);
}

void write_facts(hid_t file, const run_facts& facts, const results& all) {
  add(file, "format", std::string_view("heddle-linktest"));
  add(file, "schema_version", std::uint64_t{hdf5_schema_version});
  add(file, "heddle_version", std::string_view(facts.version));
  add(file, "command", std::string_view(facts.command));
  add(file, "started", std::string_view(facts.started));
  add(file, "ended", std::string_view(facts.ended));
  add(file, "elapsed_s", facts.elapsed_s);
  add(file, "complete", std::uint64_t{verdict_of(all) == success});
  add(file, "interrupted", std::uint64_t{facts.interrupted});
  add(file, "clock_look_s", facts.clock.look_s);
  add(file, "clock_resolution_s", facts.clock.resolution_s);
  add(file, "ranks", static_cast<std::uint64_t>(all.ranks()));
  add(file, "routes", std::string_view(fmt::format("{}", fmt::join(facts.routes, ","))));
  add(file, facts_attribute, std::string_view(facts_as_json(facts, all).dump()));
  write_options(file, facts.chosen);
  write_machines(file, facts);
  write_findings(file, facts, all);
  write_texts(file, "hosts", facts.hosts);
  if (!facts.groups.empty()) write_texts(file, "groups", facts.groups);
  const handle sizes = write_dataset(file, "sizes", H5T_STD_U64LE, H5T_NATIVE_UINT64,
                                     {all.sizes().size()}, all.sizes().data());
  add(sizes, "units", std::string_view("B"));
}

/// Times are kept in single precision, in which they were; bandwidths are computed from them.
hid_t stored_type(metric m) {
  return m == metric::bandwidth ? H5T_IEEE_F64LE : H5T_IEEE_F32LE;
}

std::string group_of(std::uint64_t bytes) {
  return fmt::format("size_{}", bytes);
}

void write_size(hid_t file, const run_facts& facts, const results& all, std::size_t size_index) {
  const std::uint64_t bytes = all.sizes()[size_index];
  const handle group = make_group(file, group_of(bytes));
  add(group, "bytes", bytes);
  if (size_index < facts.bare.size()) add(group, "bare_time_s", facts.bare[size_index]);
  const auto n = static_cast<hsize_t>(all.ranks());
  const auto write = [&](const std::string& name, metric m, hsize_t side,
                         const std::vector<double>& values) {
    const handle data =
        write_dataset(group, name, stored_type(m), H5T_NATIVE_DOUBLE, {side, side}, values.data());
    add(data, "units", unit_of(m));
    add(data, "definition", definition_of(m));
  };
  for (const metric m : all_metrics)
    write(std::string(name_of(m)), m, n, all.matrix(size_index, m));
  auto states = all.states(size_index);
  const handle state =
      write_dataset(group, "state", H5T_STD_U8LE, H5T_NATIVE_UINT8, {n, n}, states.data());
  add(state, "meaning", std::string_view("0 unmeasured, 1 measured, 2 lost, 3 corrupted"));
  for (auto& s : states) s = s >= static_cast<std::uint8_t>(pair_state::lost) ? 1 : 0;
  write_dataset(group, "failed", H5T_STD_U8LE, H5T_NATIVE_UINT8, {n, n}, states.data());
  const std::vector<std::string> hosts = each_host(facts.hosts);
  if (hosts.size() < 2) return;
  for (const metric m : {metric::time_median, metric::bandwidth})
    write(fmt::format("host_{}", name_of(m)), m, hosts.size(),
          host_matrix(facts, all, hosts, size_index, m));
}

// --- reading ---

run_facts read_facts(hid_t file) {
  if (H5Aexists(file, facts_attribute) <= 0)
    throw error("this is not a result of heddle linktest, or one of before its version 0.1");
  const handle attribute(H5Aopen(file, facts_attribute, H5P_DEFAULT), H5Aclose, "open the facts");
  const handle type = text_type();
  char* text = nullptr;
  checked(H5Aread(attribute, type, &text), "read the facts");
  const std::unique_ptr<char, herr_t (*)(void*)> owner(text, H5free_memory);
  try {
    return facts_from_json(nlohmann::ordered_json::parse(text == nullptr ? "" : text));
  } catch (const nlohmann::json::exception& why) {
    throw error(fmt::format("its facts are not whole: {}", why.what()));
  }
}

/// Empty when there is no such dataset.
template <class Value>
std::vector<Value> read_square(hid_t file, const std::string& name, std::size_t side, hid_t type) {
  if (H5Lexists(file, name.c_str(), H5P_DEFAULT) <= 0) return {};
  const handle data(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose,
                    fmt::format("open the dataset {}", name));
  const handle space(H5Dget_space(data), H5Sclose, "ask for an extent");
  if (H5Sget_simple_extent_npoints(space) != static_cast<hssize_t>(side * side))
    throw error(fmt::format("{} has not an entry for every two ranks", name));
  std::vector<Value> out(side * side);
  checked(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()),
          fmt::format("read the dataset {}", name));
  return out;
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

run_record read_file(hid_t file) {
  run_facts facts = read_facts(file);
  const std::size_t ranks = facts.hosts.size();
  const auto path = [&](std::size_t s, std::string_view name) {
    return fmt::format("{}/{}", group_of(facts.chosen.sizes[s]), name);
  };
  matrix_source source;
  source.states = [&](std::size_t s) {
    return as_states(read_square<std::uint8_t>(file, path(s, "state"), ranks, H5T_NATIVE_UINT8));
  };
  source.values = [&](std::size_t s, metric m) {
    return read_square<double>(file, path(s, name_of(m)), ranks, H5T_NATIVE_DOUBLE);
  };
  results all = rebuild(facts, source);
  return {std::move(facts), std::move(all)};
}

}  // namespace

void write_hdf5(const std::string& path, const run_facts& facts, const results& all) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // failures are thrown, not printed as a stack
  try {
    handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
                "create the file");
    write_facts(file, facts, all);
    for (std::size_t s = 0; s < all.sizes().size(); ++s) write_size(file, facts, all, s);
    file.close("finish the file; is the disk full?");
  } catch (const error& why) {
    throw error(fmt::format("write {}: {}", path, why.what()));
  }
}

run_record read_hdf5(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  try {
    const handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
                      "open the file: is it whole?");
    return read_file(file);
  } catch (const error& why) {
    throw error(fmt::format("{}: {}", path, why.what()));
  }
}

}  // namespace heddle::linktest
