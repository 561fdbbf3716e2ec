// SPDX-License-Identifier: BSD-3-Clause
// goals.cpp - the rows of the table and what was reached.
#include "report/goals.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "exit_status.h"

namespace heddle::bench {
namespace {

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// The parts between `mark`s, without the blanks around them.
std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, mark);) parts.push_back(trimmed(part));
  std::erase(parts, "");
  return parts;
}

goal parse_goal(const std::string& text) {
  static const std::regex form(
      R"(at (least|most) ([0-9.]+) (?:(x|above) ([^\s,]+)|([^\s,]+)(?: of ([^\s,]+))?)(?:, T=(\d+))?(?:, from (\d+) cores)?)");
  std::smatch is;
  if (!std::regex_match(text, is, form))
    throw std::runtime_error("'" + text +
                             "' is no goal; write such as 'at least 3 x ucx', or "
                             "'at most 2 scaling of put, T=NUMBER, from NUMBER cores'");
  return {.text = text,
          .at_most = is[1] == "most",
          .bound = std::stod(is[2]),
          .against = is[4],
          .above = is[3] == "above",
          .metric = is[5],
          .op = is[6],
          .threads = is[7].matched ? std::stoi(is[7]) : 0,
          .cores = is[8].matched ? static_cast<unsigned>(std::stoul(is[8])) : 0};
}

row parse_row(const std::string& line) {
  const std::vector<std::string> fields = split(line, '|');
  if (fields.size() < 3)
    throw std::runtime_error("it needs a name, arguments and goals with '|' between them");
  row r{.name = fields[0], .arguments = split(fields[1], ' '), .goals = {}};
  for (const std::string& text : split(fields[2], ';')) r.goals.push_back(parse_goal(text));
  if (fields.size() > 3) r.settings = split(fields[3], ' ');
  return r;
}

std::optional<double> own_figure(const outcome_row& r, const goal& wanted) {
  for (const record& x : r.records) {
    const bool own = x.library == "heddle" || x.library == "heddle/bare";
    if (own && x.metric == wanted.metric && (wanted.op.empty() || x.op == wanted.op) &&
        (wanted.threads == 0 || x.threads == wanted.threads))
      return x.median;
  }
  return std::nullopt;
}

/// Heddle's own record, the first with as many threads, or the rival's.
const record* find_record(const outcome_row& r, const goal& g, const std::string& against) {
  const bool pair = against == "pair";
  for (std::size_t i = pair ? 1 : 0; i < r.records.size(); ++i) {
    const record& candidate = r.records[i];
    if (candidate.op == r.records.front().op && candidate.metric == r.records.front().metric &&
        candidate.library == (pair ? "heddle" : against) &&
        (g.threads == 0 || candidate.threads == g.threads)) {
      return &candidate;
    }
  }
  return nullptr;
}

std::string median_of(const outcome_row& r, const goal& g, const std::string& who) {
  const record* const found = find_record(r, g, who);
  return found != nullptr ? fmt::format("{:.4g} {}", found->median, found->unit) : "-";
}

/// Heddle's median over the rival's, or less it.
std::optional<double> beside_rival(const outcome_row& r, const goal& g) {
  const record* const own = find_record(r, g, "heddle");
  const record* const rival = find_record(r, g, g.against);
  if (own == nullptr || rival == nullptr || rival->median <= 0) return std::nullopt;
  return g.above ? own->median - rival->median : own->median / rival->median;
}

std::string verdict_of(const goal& g, std::optional<double> figure) {
  if (!figure) return "failed";
  if (std::thread::hardware_concurrency() < g.cores) return "unjudged";
  return meets(g, *figure) ? "pass" : "short";
}

/// What a table says of a goal: the row, the goal, the ratio, the verdict, and both medians.
std::array<std::string, 6> cells_of(const outcome_row& r, const goal& g) {
  const auto ratio = figure_of(r, g);
  return {r.what.name,
          g.text,
          ratio ? fmt::format("{:.3g}", *ratio) : "-",
          verdict_of(g, ratio),
          g.against.empty() ? "-" : median_of(r, g, "heddle"),
          median_of(r, g, g.against)};
}

}  // namespace

std::vector<row> parse_goals(const std::string& text, const std::string& section) {
  std::vector<row> rows;
  std::vector<std::string> sections;
  bool wanted = false;
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    line = trimmed(line);
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      sections.push_back(trimmed(line.substr(1, line.find(']') - 1)));
      wanted = sections.back() == section;
      continue;
    }
    if (!wanted) continue;
    try {
      rows.push_back(parse_row(line));
    } catch (const std::exception& why) {
      throw std::runtime_error(fmt::format("line {}: {}", number, why.what()));
    }
  }
  if (std::ranges::find(sections, section) == sections.end())
    throw tools::usage_error(fmt::format("the goals have no section '{}'; there are: {}", section,
                                         fmt::join(sections, ", ")));
  return rows;
}

std::vector<row> read_goals(const std::filesystem::path& file, const std::string& section) {
  std::ifstream in(file);
  if (!in)
    throw std::runtime_error("cannot read goals from " + file.string() +
                             ": install heddle-bench, or name a file by --goals");
  std::ostringstream text;
  text << in.rdbuf();
  try {
    return parse_goals(text.str(), section);
  } catch (const tools::usage_error&) {
    throw;
  } catch (const std::runtime_error& why) {
    throw std::runtime_error(file.string() + ", " + why.what());
  }
}

std::vector<row> select_rows(const std::vector<row>& rows,
                             const std::vector<std::string>& patterns) {
  if (patterns.empty()) return rows;
  std::vector<std::string> unused = patterns;
  std::vector<row> selected;
  for (const row& r : rows) {
    const auto in_name = [&r](const std::string& p) { return r.name.find(p) != std::string::npos; };
    if (std::none_of(patterns.begin(), patterns.end(), in_name)) continue;
    selected.push_back(r);
    std::erase_if(unused, in_name);
  }
  if (unused.empty()) return selected;
  std::string names;
  for (const row& r : rows) names += "\n  " + r.name;
  throw tools::usage_error("no row has '" + unused.front() + "' in its name; there are:" + names);
}

std::optional<double> figure_of(const outcome_row& r, const goal& g) {
  return g.against.empty() ? own_figure(r, g) : beside_rival(r, g);
}

bool meets(const goal& g, double ratio) {
  return g.at_most ? ratio <= g.bound : ratio >= g.bound;
}

std::string text_table(const std::vector<outcome_row>& rows) {
  constexpr auto layout = "{:<28}{:<55}{:>10}  {:<9}{:>14}{:>14}\n";
  std::string text = fmt::format(layout, "row", "goal", "ratio", "", "heddle", "rival");
  for (const outcome_row& r : rows) {
    for (const goal& g : r.what.goals)
      text += std::apply([&](const auto&... cell) { return fmt::format(layout, cell...); },
                         cells_of(r, g));
    if (!r.failure.empty()) text += "  " + r.failure + '\n';
  }
  return text;
}

std::string markdown_table(const std::vector<outcome_row>& rows) {
  std::string text =
      "| row | goal | ratio | | Heddle | rival | `heddle bench` |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const outcome_row& r : rows)
    for (const goal& g : r.what.goals)
      text += fmt::format("| {} | `{}` |\n", fmt::join(cells_of(r, g), " | "),
                          fmt::join(r.what.arguments, " "));
  return text;
}

}  // namespace heddle::bench
