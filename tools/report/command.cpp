// SPDX-License-Identifier: BSD-3-Clause
// command.cpp - `heddle report`: options, and which format is made how.
#include <fmt/format.h>
#include <heddle/status.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "exit_status.h"
#include "linktest/results/output.h"
#include "linktest/results/reading.h"
#include "linktest/results/section_list.h"
#include "linktest/results/writing.h"
#include "report/page.h"
#include "report/python.h"
#include "standard_output.h"
#include "subcommand.h"

namespace heddle::tools {
namespace {

constexpr const char* footer =
    R"(RESULTS are folders of heddle linktest, their linktest.h5 or linktest.json, or SION
files of LinkTest 1.x. Of a run with several sections each gives a file of its own,
links-uni-put.html; two of its folders can be compared. What FILE's name ends with
says what is made:
  .html           a page for a browser, in one file that works from disk: the matrix
                  to zoom and sort, distributions, hosts, worst pairs, the run; with
                  two RESULTS also what changed from the second to the first
  .pdf            some pages to print: needs Debian's python3-matplotlib
  .csv, .jsonl    a line per size and pair
  .json, .h5      as heddle linktest writes them
  .summary.json   without matrices
  .prom           figures for Prometheus' textfile collector
  .junit.xml      what was found, as test cases for CI
  .drain.txt      hosts to take out of service, one on each line

Examples:
  heddle report linktest-20260101-120000 -o links.html
  heddle report today yesterday -o change.html
  heddle report old.sion -o old.csv)";

struct wishes {
  std::vector<std::string> results;
  std::string output;
};

/// The longest of the known endings; empty: none.
std::string format_of(const std::string& file) {
  std::string found;
  std::vector<std::string> known = linktest::file_formats();
  known.insert(known.end(), {"html", "pdf"});
  for (const std::string& format : known)
    if (file.ends_with('.' + format) && format.size() > found.size()) found = format;
  return found;
}

int make(const wishes& w);

/// A file for each section, with its name before the ending.
int make_each(const wishes& w, const std::vector<std::string>& sections,
              const std::string& format) {
  const std::string stem = w.output.substr(0, w.output.size() - format.size() - 1);
  int status = success;
  for (const std::string& section : sections) {
    const int one = make({{fmt::format("{}/{}", w.results.front(), section)},
                          fmt::format("{}-{}.{}", stem, section, format)});
    status = status == success ? one : status;
  }
  return status;
}

int make(const wishes& w) {
  const std::string format = format_of(w.output);
  if (format.empty())
    throw usage_error(
        fmt::format("report: '{}' does not end with a format: .html, .pdf, .csv, .jsonl, .json, "
                    ".summary.json, .h5, .prom, .junit.xml or .drain.txt",
                    w.output));
  const std::size_t most = format == "html" ? 2 : 1;
  if (w.results.size() > most)
    throw usage_error(fmt::format("report: a .{} holds {}", format,
                                  most == 2 ? "one run, or two to compare" : "one run"));
  std::vector<report::named_run> runs;
  if (w.results.size() == 1) {
    if (const auto sections = linktest::sections_in(w.results.front()); !sections.empty())
      return make_each(w, sections, format);
  }
  for (const std::string& path : w.results) runs.push_back({path, linktest::read_results(path)});
  if (format == "pdf") return report::run_module("heddle_results", {w.results.front(), w.output});
  if (format == "html")
    linktest::write_text(w.output, report::make_page(runs));
  else
    linktest::write_as(format, w.output, runs.front().run.facts, runs.front().run.all);
  print(fmt::format("{}\n", w.output));
  return success;
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  auto chosen = std::make_shared<wishes>();
  CLI::App* command = app.add_subcommand(
      "report", "Make pages, tables and other formats from the results of heddle linktest.");
  command->footer(footer);
  command->add_option("RESULTS", chosen->results, "Where results are")
      ->required()
      ->type_name("PATH");
  command->add_option("-o,--output", chosen->output, "File to write; its ending is its format")
      ->required()
      ->type_name("FILE");
  command->callback([chosen, &exit_code] { exit_code = make(*chosen); });
}

}  // namespace heddle::tools
