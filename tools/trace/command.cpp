// SPDX-License-Identifier: BSD-3-Clause
// command.cpp - `heddle trace`: summarises the files of HEDDLE_TRACE, and makes one of several.
#include <fmt/format.h>
#include <heddle/status.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "exit_status.h"
#include "subcommand.h"
#include "trace/merged.h"
#include "trace/trace_summary.h"

namespace heddle::tools {
namespace {

constexpr const char* about = "Summarise the files that HEDDLE_TRACE writes, or merge them";

constexpr const char* details =
    R"(HEDDLE_TRACE=file makes each rank write what its operations did, in the format of
Chrome's tracing, which ui.perfetto.dev and chrome://tracing show. This command
tells how many there were of each kind and how long they took, and which sleeps
were the longest. With --merge it writes the files of several ranks as one, on one
time line.

Examples:
  HEDDLE_TRACE=/tmp/t.%r.json heddle run -n 4 -- ./program
  heddle trace /tmp/t.*.json
  heddle trace /tmp/t.*.json --merge /tmp/all.json)";

struct wishes {
  std::vector<std::string> files;
  std::string merge;
  std::size_t sleeps = 5;
  bool as_data = false;
};

void write(const nlohmann::json& trace, const std::string& path) {
  std::ofstream file(path);
  file << trace.dump() << '\n';
  file.close();
  if (!file) throw error(fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
}

int work(const wishes& w) {
  std::vector<nlohmann::json> traces;
  for (const std::string& path : w.files) traces.push_back(read_trace(path));
  const trace_summary found = summarise(traces, w.sleeps);
  if (!w.merge.empty()) write(merged(std::move(traces)), w.merge);
  if (w.as_data)
    fmt::print("{}\n", as_json(found).dump(2));
  else
    fmt::print("{}", text_of(found));
  return success;
}

}  // namespace

void add_trace(CLI::App& app, int& exit_code) {
  const auto w = std::make_shared<wishes>();
  CLI::App* trace = app.add_subcommand("trace", about);
  trace->footer(details);
  trace->add_option("files", w->files, "Files of HEDDLE_TRACE, one of each rank")->required();
  trace->add_option("--merge", w->merge, "Write them as one file")->type_name("FILE");
  trace->add_option("--sleeps", w->sleeps, "How many of the longest sleeps to show")
      ->type_name("N")
      ->capture_default_str();
  trace->add_flag("--json", w->as_data, "Print one JSON object instead of text");
  trace->callback([w, &exit_code] {
    try {
      exit_code = work(*w);
    } catch (const std::exception& e) {
      fmt::print(stderr, "heddle trace: {}\n", e.what());
      exit_code = failed;
    }
  });
}

}  // namespace heddle::tools
