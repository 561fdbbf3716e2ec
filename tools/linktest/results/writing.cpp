// SPDX-License-Identifier: BSD-3-Clause
// writing.cpp - from a format's name to its writer.
#include "linktest/results/writing.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>

#include "linktest/results/hdf5_file.h"
#include "linktest/results/hdf5_loader.h"
#include "linktest/results/json_document.h"
#include "linktest/results/linktest1.h"
#include "linktest/results/section_list.h"
#include "linktest/results/sion_file.h"
#include "linktest/results/tables.h"
#include "linktest/results/text_file.h"
#include "linktest/rules/judgement.h"
#include "linktest/rules/junit.h"

namespace heddle::linktest {
namespace {

using text_writer = void (*)(const text_sink&, const run_facts&, const results&);

/// Of a text that is short for any number of ranks.
template <std::string (*make)(const run_facts&, const results&)>
void write_at_once(const text_sink& out, const run_facts& facts, const results& all) {
  out(make(facts, all));
}

text_writer writer_of(const std::string& format) {
  if (format == "json") return write_json;
  if (format == "summary.json") return write_json_summary;
  if (format == "jsonl") return write_json_lines;
  if (format == "csv") return write_csv;
  if (format == "prom") return write_at_once<to_prometheus>;
  if (format == "junit.xml") return write_at_once<to_junit>;
  if (format == "drain.txt") return write_at_once<to_drain_list>;
  throw error(fmt::format("'{}' is not a format of results", format));
}

/// Those of an earlier run, which may have had other sizes.
void drop_sion_sets(const output_directory& from) {
  for (const auto& [name, written] : look_for_results(from.path()))
    if (name.find(".sion") != std::string::npos) from.drop(name);
}

/// The set's first file comes last: without it the others are not found.
std::string write_sion_set(output_directory& into, const run_facts& facts, const results& all,
                           std::size_t size_index) {
  const std::string name = linktest1_name(all.sizes()[size_index]);
  const auto parts = to_sion(to_linktest1(facts, all, size_index), facts.chosen.sion_files, name);
  std::string path;
  for (std::size_t left = parts.size(); left-- > 0;)
    path = into.put(sion_part_name(name, static_cast<int>(left)),
                    [&](const std::string& p) { write_text(p, parts[left]); });
  return path;
}

}  // namespace

void write_as(const std::string& format, const std::string& path, const run_facts& facts,
              const results& all) {
  if (format == "h5") return write_hdf5(path, facts, all);
  const text_writer write = writer_of(format);
  text_file file(path);
  write([&file](std::string_view piece) { file.add(piece); }, facts, all);
  file.close();
}

std::vector<std::string> write_files(output_directory& into, const run_facts& facts,
                                     const results& all) {
  std::vector<std::string> paths;
  for (const std::string& format : facts.chosen.formats)
    paths.push_back(into.put(fmt::format("linktest.{}", format),
                             [&](const std::string& path) { write_as(format, path, facts, all); }));
  drop_sion_sets(into);
  if (facts.chosen.sion_files > 0)
    for (std::size_t s = 0; s < all.sizes().size(); ++s)
      paths.push_back(write_sion_set(into, facts, all, s));
  drop_other_formats(into, facts.chosen.formats);
  into.drop(section_file);
  return paths;
}

void prove_formats(std::span<const std::string> formats) {
  if (std::find(formats.begin(), formats.end(), "h5") != formats.end()) (void)hdf5();
}

void drop_other_formats(const output_directory& from, std::span<const std::string> written) {
  for (const std::string& format : file_formats())
    if (std::find(written.begin(), written.end(), format) == written.end())
      from.drop(fmt::format("linktest.{}", format));
}

}  // namespace heddle::linktest
