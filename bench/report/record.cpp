// SPDX-License-Identifier: BSD-3-Clause
// record.cpp - records as JSON.
#include "report/record.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "harness/files.h"

namespace heddle::bench {
namespace {

/// Calls `visit(name, member)` for every field, in the order of the file.
template <class Record, class F>
void each_field(Record& r, F&& visit) {
  visit("benchmark", r.benchmark);
  visit("op", r.op);
  visit("backend", r.backend);
  visit("library", r.library);
  visit("ranks", r.ranks);
  visit("threads", r.threads);
  visit("bytes", r.bytes);
  visit("metric", r.metric);
  visit("unit", r.unit);
  visit("median", r.median);
  visit("p99", r.p99);
  visit("ci95_low", r.ci95_low);
  visit("ci95_high", r.ci95_high);
  visit("runs", r.runs);
}

}  // namespace

void set_statistics(record& of, const summary& rounds) {
  of.median = rounds.median;
  of.p99 = rounds.p99;
  of.ci95_low = rounds.ci95.low;
  of.ci95_high = rounds.ci95.high;
  of.runs = static_cast<int>(rounds.count);
}

std::string to_json(const std::vector<record>& records) {
  auto array = nlohmann::ordered_json::array();
  for (const record& r : records) {
    nlohmann::ordered_json object;
    each_field(r, [&object](const char* name, const auto& value) { object[name] = value; });
    if (!r.setup.empty()) object["setup"] = r.setup;
    if (!r.rounds.empty()) object["rounds"] = r.rounds;
    array.push_back(std::move(object));
  }
  return array.dump(2) + '\n';
}

std::vector<record> records_from_json(const std::string& text) {
  try {
    std::vector<record> records;
    for (const auto& object : nlohmann::json::parse(text)) {
      record& r = records.emplace_back();
      each_field(r, [&object](const char* name, auto& value) { object.at(name).get_to(value); });
      if (object.contains("setup")) object.at("setup").get_to(r.setup);
      if (object.contains("rounds")) object.at("rounds").get_to(r.rounds);
    }
    return records;
  } catch (const nlohmann::json::exception& why) {
    throw std::runtime_error(std::string("not an array of benchmark records: ") + why.what());
  }
}

void write_records(const std::filesystem::path& file, const std::vector<record>& records) {
  write_file(file.string(), to_json(records));
}

std::vector<record> read_records(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read records from " + file.string());
  std::ostringstream text;
  text << in.rdbuf();
  return records_from_json(text.str());
}

}  // namespace heddle::bench
