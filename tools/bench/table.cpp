// table.cpp - each row as a run of this very program, so that a failing one takes nothing along.
#include "bench/table.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "bench/child.h"
#include "bench/goals.h"
#include "bench/peer_command.h"
#include "bench/result_file.h"
#include "bench/scratch_folder.h"
#include "bench/ucx_runner.h"
#include "exit_status.h"
#include "standard_output.h"

namespace heddle::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes row_limit{5};
constexpr int unread = 128 + SIGPIPE;  ///< measured, but nobody reads our common output any more

command command_for(const row& r, const table_options& o, const fs::path& json) {
  command c{.program = fs::read_symlink("/proc/self/exe"), .arguments = {"bench"}};
  c.arguments.insert(c.arguments.end(), r.arguments.begin(), r.arguments.end());
  c.arguments.insert(c.arguments.end(), {"--rounds", std::to_string(o.rounds), "--time-ms",
                                         std::to_string(o.time_ms), "--json", json.string()});
  c.settings = r.settings;
  c.end_signal = SIGTERM;  // so that its ranks end with it
  c.show_output = true;
  return c;
}

outcome_row run_row(const row& r, const table_options& o, const fs::path& json) {
  outcome_row result{.what = r, .records = {}, .failure = {}};
  child measuring(command_for(r, o, json));
  if (!measuring.wait_until(std::chrono::steady_clock::now() + row_limit)) {
    result.failure = "it took too long and was ended";
  } else if (const int status = measuring.exit_status(); status != 0 && status != unread) {
    result.failure = fmt::format("it ended with status {}", status);
  } else {
    result.records = read_records(json);
  }
  return result;
}

void write_files(const table_options& o, const std::vector<outcome_row>& rows) {
  std::vector<record> records;
  for (const outcome_row& r : rows) {
    records.insert(records.end(), r.records.begin(), r.records.end());
  }
  if (!o.json_file.empty()) write_records(o.json_file, records);
  if (!o.markdown_file.empty()) write_file(o.markdown_file, markdown_table(rows));
}

}  // namespace

int run_table(const table_options& o) {
  const std::vector<row> rows = select_rows(o.over_utofu ? utofu_rows() : all_rows(), o.rows);
  if (o.over_utofu) {
    (void)find_peer(rival::utofu);
  } else {
    (void)find_ucx();
  }
  check_writable(o.json_file, "--json");
  check_writable(o.markdown_file, "--markdown");
  if (!o.json_file.empty() || !o.markdown_file.empty()) tools::outlive_readers();
  const scratch_folder folder;
  std::vector<outcome_row> results;
  for (const row& r : rows) {
    tools::print(fmt::format("[{}/{}] {}\n", results.size() + 1, rows.size(), r.name));
    results.push_back(run_row(r, o, fs::path(folder.path()) / (r.name + ".json")));
  }
  write_files(o, results);
  tools::print(text_table(results));
  const auto failed = [](const outcome_row& r) { return !r.failure.empty(); };
  return std::any_of(results.begin(), results.end(), failed) ? tools::incomplete : tools::success;
}

}  // namespace heddle::bench
