// SPDX-License-Identifier: BSD-3-Clause
// completion.cpp - what can be typed after each command, and how each shell is told.
//
// The scripts walk along the words typed so far to a place such as "/bench/latency", and offer what
// may follow there.
#include "completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace heddle::tools {
namespace {

struct offered_option {
  std::vector<std::string> spellings;  ///< "-n", "--ranks"
  std::string help;
  bool takes_value = false;
  std::vector<std::string> values;  ///< empty: anything, or a file
};

struct offered_command {
  std::string name, help;
};

struct place {
  std::string path;  ///< "", "/bench", "/bench/latency"
  std::vector<offered_command> commands;
  std::vector<offered_option> options;
};

/// The values of an option whose type is shown as "TEXT:{auto,shm,tcp}" or "none|core"; those of
/// the first word where it takes a list of them, "none|core,...".
std::vector<std::string> values_of(std::string type) {
  constexpr std::string_view list = ",...";
  if (type.ends_with(list)) type.erase(type.size() - list.size());
  char between = '|';
  if (const auto open = type.find('{'); open != std::string::npos) {
    type = type.substr(open + 1, type.find('}') - open - 1);
    between = ',';
  } else if (type.find('|') == std::string::npos) {
    return {};
  }
  std::vector<std::string> all;
  for (std::string_view rest = type; !rest.empty();) {
    const auto end = std::min(rest.find(between), rest.size());
    std::string value(rest.substr(0, end));
    all.push_back(value.substr(0, value.find("->")));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

/// Its first line, and nothing in it that ends a shell's quoted word.
std::string short_help(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  std::erase_if(line, [](char c) { return c == '\'' || c == '\\' || c == '`' || c == '$'; });
  return line;
}

place place_of(const CLI::App& app, const std::string& path) {
  place here{path, {}, {}};
  for (const CLI::App* command : app.get_subcommands({}))
    if (!command->get_group().empty())
      here.commands.push_back({command->get_name(), short_help(command->get_description())});
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    offered_option one;
    for (const std::string& name : option->get_snames()) one.spellings.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) one.spellings.push_back("--" + name);
    one.help = short_help(option->get_description());
    one.takes_value = option->get_items_expected_max() != 0;
    if (one.takes_value) one.values = values_of(option->get_type_name());
    if (!one.spellings.empty()) here.options.push_back(std::move(one));
  }
  return here;
}

void collect(const CLI::App& app, const std::string& path, std::vector<place>& into) {
  into.push_back(place_of(app, path));
  for (const CLI::App* command : app.get_subcommands({}))
    if (!command->get_group().empty()) collect(*command, path + '/' + command->get_name(), into);
}

/// All but the beginning, as a shell's pattern.
std::string steps(const std::vector<place>& places) {
  std::vector<std::string> paths;
  for (const place& one : places)
    if (!one.path.empty()) paths.push_back(one.path);
  return fmt::format("{}", fmt::join(paths, "|"));
}

/// "/linktest--mode|/linktest-m" for a shell's case.
std::string cases(const place& at, const offered_option& option) {
  std::vector<std::string> patterns;
  for (const std::string& spelling : option.spellings)
    patterns.push_back(fmt::format("'{}{}'", at.path, spelling));
  return fmt::format("{}", fmt::join(patterns, "|"));
}

// --- bash ---

constexpr const char* bash_script =
    R"(# bash completion for {0}; load it with: source <({0} --completion bash)
_{0}() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" at='' words='' i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$at/${{COMP_WORDS[i]}}" in {1}) at="$at/${{COMP_WORDS[i]}}" ;; esac
  done
  case "$at$previous" in
{2}  esac
  case "$at" in
{3}  esac
  if [[ "$at" == /run && "$word" != -* ]]; then
    COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
}}
complete -o default -F _{0} {0}
)";

std::string for_bash(const std::string& program, const std::vector<place>& places) {
  std::string with_values, with_words;
  for (const place& at : places) {
    std::vector<std::string> words;
    for (const offered_command& command : at.commands) words.push_back(command.name);
    for (const offered_option& option : at.options) {
      words.insert(words.end(), option.spellings.begin(), option.spellings.end());
      if (!option.takes_value) continue;
      const std::string reply =
          option.values.empty() ? "-f" : fmt::format("-W '{}'", fmt::join(option.values, " "));
      with_values += fmt::format("    {}) COMPREPLY=($(compgen {} -- \"$word\")); return ;;\n",
                                 cases(at, option), reply);
    }
    with_words += fmt::format("    '{}') words='{}' ;;\n", at.path, fmt::join(words, " "));
  }
  return fmt::format(bash_script, program, steps(places), with_values, with_words);
}

// --- zsh ---

constexpr const char* zsh_script =
    R"(#compdef {0}
# zsh completion for {0}; load it with: source <({0} --completion zsh)
_{0}() {{
  local at='' i
  local -a found
  for ((i = 2; i < CURRENT; ++i)); do
    case "$at/${{words[i]}}" in ({1}) at="$at/${{words[i]}}" ;; esac
  done
  case "$at${{words[CURRENT-1]}}" in
{2}  esac
  case "$at" in
{3}  esac
  if [[ "$at" == /run && "${{words[CURRENT]}}" != -* ]]; then
    _command_names -e
    _files
  else
    _describe '{0}' found
    [[ "${{words[CURRENT]}}" == -* ]] || _files
  fi
}}
compdef _{0} {0}
)";

/// For _describe, in which a colon ends the word.
std::string described(const std::string& word, const std::string& help) {
  std::string text = help;
  for (std::size_t at = 0; (at = text.find(':', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '\\');
  return fmt::format("'{}:{}'", word, text);
}

std::string for_zsh(const std::string& program, const std::vector<place>& places) {
  std::string with_values, with_words;
  for (const place& at : places) {
    std::vector<std::string> words;
    for (const offered_command& command : at.commands)
      words.push_back(described(command.name, command.help));
    for (const offered_option& option : at.options) {
      for (const std::string& spelling : option.spellings)
        words.push_back(described(spelling, option.help));
      if (!option.takes_value) continue;
      const std::string reply = option.values.empty()
                                    ? "_files"
                                    : fmt::format("compadd -- {}", fmt::join(option.values, " "));
      with_values += fmt::format("    ({}) {}; return ;;\n", cases(at, option), reply);
    }
    with_words += fmt::format("    ('{}') found=({}) ;;\n", at.path, fmt::join(words, " "));
  }
  return fmt::format(zsh_script, program, steps(places), with_values, with_words);
}

// --- fish ---

constexpr const char* fish_script =
    R"(# fish completion for {0}; load it with: {0} --completion fish | source
function __{0}_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        contains -- "$at/$word" {1}; and set at "$at/$word"
    end
    test "$at" = "$argv[1]"
end
{2})";

std::string fish_option(const std::string& program, const place& at, const offered_option& option) {
  std::string line = fmt::format("complete -c {} -n \"__{}_at '{}'\"", program, program, at.path);
  for (const std::string& spelling : option.spellings)
    line += spelling.starts_with("--") ? " -l " + spelling.substr(2) : " -s " + spelling.substr(1);
  if (!option.values.empty())
    line += fmt::format(" -x -a '{}'", fmt::join(option.values, " "));
  else if (option.takes_value)
    line += " -r";
  return fmt::format("{} -d '{}'\n", line, option.help);
}

std::string for_fish(const std::string& program, const std::vector<place>& places) {
  std::string lines, paths;
  for (const place& at : places) {
    if (!at.path.empty()) paths += (paths.empty() ? "" : " ") + at.path;
    for (const offered_command& command : at.commands)
      lines += fmt::format("complete -c {0} -n \"__{0}_at '{1}'\" -f -a {2} -d '{3}'\n", program,
                           at.path, command.name, command.help);
    for (const offered_option& option : at.options) lines += fish_option(program, at, option);
  }
  return fmt::format(fish_script, program, paths, lines);
}

}  // namespace

std::string completion(const CLI::App& app, const std::string& shell) {
  std::vector<place> places;
  collect(app, "", places);
  if (shell == "zsh") return for_zsh(app.get_name(), places);
  if (shell == "fish") return for_fish(app.get_name(), places);
  return for_bash(app.get_name(), places);
}

}  // namespace heddle::tools
