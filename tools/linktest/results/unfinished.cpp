// SPDX-License-Identifier: BSD-3-Clause
// unfinished.cpp - a small JSON file, and the options in it as a command line.
#include "linktest/results/unfinished.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "exit_status.h"
#include "json_text.h"
#include "linktest/results/output.h"
#include "linktest/results/run_facts.h"

namespace heddle::linktest {
namespace {

using json = nlohmann::ordered_json;
constexpr const char* format = "heddle-linktest-unfinished";

std::string file_in(const std::string& folder) {
  return folder + "/unfinished.json";
}

std::uint64_t number_from(const std::string& text) {
  std::uint64_t out = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, out, 16);
  if (problem != std::errc{} || stop != end) throw error("its number is none");
  return out;
}

}  // namespace

std::string to_text(const unfinished_run& run) {
  const json told{{"format", format},       {"run", fmt::format("{:016x}", run.number)},
                  {"started", run.started}, {"command", run.typed},
                  {"ranks", run.ranks},     {"arguments", run.arguments}};
  return tools::json_text(told, 1) + '\n';
}

unfinished_run unfinished_from(const std::string& text) {
  const json told = json::parse(text);
  if (told.at("format") != format) throw error("it is not of a link test");
  return {number_from(told.at("run").get<std::string>()), told.at("started").get<std::string>(),
          told.at("command").get<std::string>(), told.at("ranks").get<int>(),
          told.at("arguments").get<std::vector<std::string>>()};
}

options unfinished_run::chosen() const {
  options out;
  CLI::App app;
  declare_options(app, out);
  if (arguments.empty()) throw error("it has no options");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend() - 1));
  } catch (const CLI::ParseError& why) {
    throw error(why.what());
  }
  out.ranks = ranks;
  return out;
}

options gone_on_with(const unfinished_run& run, const options& now) {
  options then = run.chosen();
  then.resume = then.output = now.resume;
  then.typed = now.typed;
  then.color = now.color;
  then.quiet = now.quiet;
  then.progress = now.progress;
  then.width = now.width;
  return then;
}

unfinished_run begin_run(options chosen, int ranks, const std::string& command) {
  std::random_device dice;
  chosen.ranks = ranks;
  chosen.typed.clear();
  chosen.overwrite = false;
  return {std::uint64_t{dice()} << 32 | dice(), utc_now(), command, ranks, to_arguments(chosen)};
}

bool is_unfinished(const std::string& folder) {
  std::error_code none;
  return std::filesystem::exists(file_in(folder), none);
}

unfinished_run read_unfinished(const std::string& folder) {
  if (!is_unfinished(folder))
    throw tools::usage_error(fmt::format(
        "--resume {}: there is no unfinished run (unfinished.json); a run that measured all its "
        "pairs leaves none, and otherwise a folder must be seen by the host of rank 0",
        folder));
  try {
    return unfinished_from(read_text(file_in(folder)));
  } catch (const std::exception& why) {
    throw error(fmt::format("--resume {}: unfinished.json is damaged ({}): begin anew", folder,
                            why.what()));
  }
}

void write_unfinished(const std::string& folder, const unfinished_run& run) {
  const std::string path = file_in(folder), part = path + ".part";
  write_text(part, to_text(run));
  std::filesystem::rename(part, path);
}

void forget_unfinished(const std::string& folder) noexcept {
  std::error_code none;
  std::filesystem::remove(file_in(folder), none);
}

}  // namespace heddle::linktest
