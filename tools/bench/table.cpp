// SPDX-License-Identifier: BSD-3-Clause
// table.cpp - `heddle bench table`: each row of the goals as a run of this very program, so that a
// failing one takes nothing along.
#include <fmt/core.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/commands.h"
#include "contenders/command.h"
#include "contenders/rivals.h"
#include "exit_status.h"
#include "harness/files.h"
#include "harness/programs.h"
#include "report/goals.h"
#include "standard_output.h"

namespace heddle::bench {
namespace {

namespace fs = std::filesystem;

using clock = std::chrono::steady_clock;

struct table_options {
  std::vector<std::string> rows;        ///< parts of names; empty: all
  std::string section = "shm and tcp";  ///< of the goals; or utofu, verbs
  std::string goals_file;               ///< empty: the one that comes with the program
  int rounds = 5;
  std::chrono::milliseconds time{200};  ///< of one round
  std::string
      resume_folder;      ///< keeps each row's records, which are not measured again; empty: none
  std::string json_file;  ///< all records; empty: none
  std::string markdown_file;  ///< empty: none
};

constexpr std::chrono::minutes row_limit{5};
constexpr int unread = 128 + SIGPIPE;  ///< measured, but nobody reads our common output any more

command command_for(const row& r, const table_options& o, const fs::path& json) {
  command c{.program = fs::read_symlink("/proc/self/exe"), .arguments = {"bench"}};
  c.arguments.insert(c.arguments.end(), r.arguments.begin(), r.arguments.end());
  c.arguments.insert(c.arguments.end(), {"--rounds", std::to_string(o.rounds), "--time-ms",
                                         std::to_string(o.time.count()), "--json", json.string()});
  c.settings = r.settings;
  c.end_signal = SIGTERM;  // so that its ranks end with it
  c.show_output = true;
  return c;
}

outcome_row run_row(const row& r, const table_options& o, const fs::path& json) {
  child measuring(command_for(r, o, json));
  if (!measuring.wait_until(clock::now() + row_limit))
    return {r, {}, "it took too long and was ended"};
  if (const int status = measuring.exit_status(); status != 0 && status != unread)
    return {r, {}, fmt::format("it ended with status {}", status)};
  return {r, read_records(json), {}};
}

/// A row whose records an earlier run has left in the folder of --resume.
std::optional<outcome_row> measured_before(const row& r, const fs::path& json) {
  try {
    outcome_row result{r, read_records(json), {}};
    if (!result.records.empty()) return result;
  } catch (const std::runtime_error&) {  // not there, or cut off while it was written
  }
  return std::nullopt;
}

/// "about 3 min left", by what the rows so far have taken on average; nothing before the first.
std::string time_left(clock::duration taken, std::size_t measured, std::size_t left) {
  if (measured == 0) return {};
  const auto each = std::chrono::duration<double>(taken).count() / static_cast<double>(measured);
  const double seconds = each * static_cast<double>(left);
  return seconds < 90 ? fmt::format(", about {:.0f} s left", seconds)
                      : fmt::format(", about {:.0f} min left", seconds / 60);
}

/// All rows in their order, with a line of progress before each.
std::vector<outcome_row> run_rows(const std::vector<row>& rows, const table_options& o,
                                  const fs::path& folder) {
  std::vector<outcome_row> results;
  const clock::time_point begin = clock::now();
  std::size_t measured = 0;
  for (const row& r : rows) {
    const fs::path json = folder / (r.name + ".json");
    auto known = measured_before(r, json);
    const std::size_t left = rows.size() - results.size();
    tools::print(
        fmt::format("[{}/{}] {}{}\n", results.size() + 1, rows.size(), r.name,
                    known ? ": measured before" : time_left(clock::now() - begin, measured, left)));
    measured += known ? 0 : 1;
    results.push_back(known ? std::move(*known) : run_row(r, o, json));
  }
  return results;
}

/// Runs the rows and prints what was reached; a row that fails is named and the others go on.
/// Returns success, or incomplete when a row failed to run; a goal that is not met is a result, not
/// a failure. Throws usage_error, and std::runtime_error for files that can not be written.
int run_table(const table_options& o) {
  const std::vector<row> rows = select_rows(
      read_goals(o.goals_file.empty() ? companion_file("goals.txt") : fs::path(o.goals_file),
                 o.section),
      o.rows);
  const auto rivals = choices<rival>();
  const auto itself = rivals.find(o.section);  // a wire that is a rival too
  (void)find_peer(itself == rivals.end() ? rival::ucx : itself->second);
  check_writable(o.json_file, "--json");
  check_writable(o.markdown_file, "--markdown");
  if (!o.json_file.empty() || !o.markdown_file.empty()) tools::outlive_readers();
  const scratch_folder scratch;
  if (!o.resume_folder.empty()) fs::create_directories(o.resume_folder);
  const std::vector<outcome_row> results =
      run_rows(rows, o, o.resume_folder.empty() ? scratch.path() : o.resume_folder);
  std::vector<record> records;
  bool complete = true;
  for (const outcome_row& r : results) {
    records.insert(records.end(), r.records.begin(), r.records.end());
    complete = complete && r.failure.empty();
  }
  if (!o.json_file.empty()) write_records(o.json_file, records);
  if (!o.markdown_file.empty()) write_file(o.markdown_file, markdown_table(results));
  tools::print(text_table(results));
  return complete ? tools::success : tools::incomplete;
}

}  // namespace

void add_table(CLI::App& bench, int& code) {
  auto o = std::make_shared<table_options>();
  CLI::App& app = *bench.add_subcommand("table", "every row of docs/performance.md, with goals");
  app.add_option("--rows", o->rows, "only rows with one of these in their names")->delimiter(',');
  app.add_option("--goals", o->goals_file,
                 "rows and goals of your own (default: goals.txt, which comes with the program)")
      ->check(CLI::ExistingFile);
  app.add_option("--resume", o->resume_folder,
                 "folder that keeps each row's records: rows that have theirs there are not "
                 "measured again, as after Ctrl-C");
  app.add_option("--backend", o->section,
                 "the rows over another wire, which is a section of the goals")
      ->capture_default_str();
  add_rounds(app, o->rounds, o->time);
  app.add_option("--json", o->json_file, "write all records");
  app.add_option("--markdown", o->markdown_file, "write the table as Markdown");
  app.callback([o, &code] { code = run_table(*o); });
}

}  // namespace heddle::bench
