// SPDX-License-Identifier: BSD-3-Clause
#include "run/programs.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "bootstrap/launcher_protocol.h"
#include "exit_status.h"
#include "run/hosts.h"

namespace heddle::tools {
namespace {

constexpr int most = bootstrap::protocol::max_ranks;

/// Whether a further program begins at this word.
bool begins_part(const std::vector<std::string>& words, std::size_t i) {
  return words[i] == ":" && i + 1 < words.size() && words[i + 1] == "-n";
}

int ranks_in(const std::vector<std::string>& words, std::size_t i) {
  const auto ranks = i < words.size() ? whole_number(words[i]) : std::nullopt;
  if (!ranks || *ranks < 1 || *ranks > most)
    throw usage_error(fmt::format("': -n' wants a number of ranks from 1 to {}", most));
  return *ranks;
}

}  // namespace

std::vector<program_part> parse_programs(const std::vector<std::string>& words, int ranks) {
  std::vector<program_part> parts{{ranks}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (begins_part(words, i)) {
      parts.push_back({ranks_in(words, i + 2)});
      i += 2;
    } else {
      parts.back().words.push_back(words[i]);
    }
  }
  const auto empty = [](const program_part& part) { return part.words.empty(); };
  if (std::any_of(parts.begin(), parts.end(), empty))
    throw usage_error("there is no program before or behind ':'");
  return parts;
}

wrapper parse_wrapper(const std::string& text) {
  const std::size_t colon = text.find(':');
  wrapper made;
  if (colon != std::string::npos) made.words = CLI::detail::split_up(text.substr(colon + 1));
  if (made.words.empty())
    throw usage_error(
        fmt::format("--wrap '{}': write RANKS:COMMAND, such as 0,4-7:valgrind", text));
  for (const std::string& number : number_list(text.substr(0, colon)))
    made.ranks.push_back(std::stoi(number));
  return made;
}

rank_commands plan_commands(const std::vector<program_part>& parts,
                            const std::vector<wrapper>& wrappers) {
  rank_commands plan;
  for (const program_part& part : parts) {
    plan.of_rank.insert(plan.of_rank.end(), static_cast<std::size_t>(part.ranks),
                        static_cast<int>(plan.commands.size()));
    plan.commands.push_back(part.words);
  }
  for (const wrapper& around : wrappers)
    for (const int rank : around.ranks) {
      if (rank >= static_cast<int>(plan.of_rank.size()))
        throw usage_error(fmt::format("--wrap: there is no rank {}", rank));
      std::vector<std::string> words = around.words;
      int& index = plan.of_rank[static_cast<std::size_t>(rank)];
      const auto& program = plan.commands[static_cast<std::size_t>(index)];
      words.insert(words.end(), program.begin(), program.end());
      const auto same = std::find(plan.commands.begin(), plan.commands.end(), words);
      index = static_cast<int>(same - plan.commands.begin());
      if (same == plan.commands.end()) plan.commands.push_back(words);
    }
  return plan;
}

}  // namespace heddle::tools
