#include "completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace heddle::tools {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string all;
  for (const std::string& word : words) {
    if (!all.empty()) all += between;
    all += word;
  }
  return all;
}

std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> all;
  for (const std::string& name : option.get_snames()) all.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) all.push_back("--" + name);
  return all;
}

// The values of an option whose type is shown as "TEXT:{auto,shm,tcp}" or "none|core".
std::vector<std::string> values(const CLI::Option& option) {
  std::string type = option.get_type_name();
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

// A case of "command/option" for each option that takes a value: its values, or file names.
std::string value_cases(const CLI::App& command, const std::string& name) {
  std::string cases;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->get_items_expected_max() == 0) continue;
    std::vector<std::string> patterns;
    for (const std::string& spelling : spellings(*option)) patterns.push_back(name + spelling);
    if (patterns.empty()) continue;
    const auto words = values(*option);
    const std::string reply =
        words.empty() ? "compgen -f --" : fmt::format("compgen -W '{}' --", joined(words, " "));
    cases += fmt::format("    {}) COMPREPLY=($({} \"$word\")); return ;;\n", joined(patterns, "|"),
                         reply);
  }
  return cases;
}

std::string word_case(const CLI::App& command, const std::string& name) {
  std::vector<std::string> words;
  for (const CLI::App* sub : command.get_subcommands({})) words.push_back(sub->get_name());
  for (const CLI::Option* option : command.get_options())
    for (const std::string& spelling : spellings(*option)) words.push_back(spelling);
  return fmt::format("    {}) words='{}' ;;\n", name, joined(words, " "));
}

constexpr const char* script =
    R"(# bash completion for {0}; load it with: source <({0} --completion bash)
_{0}() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" command='' words='' i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ " {1} " == *" ${{COMP_WORDS[i]}} "* ]]; then command="${{COMP_WORDS[i]}}"; break; fi
  done
  case "$command$previous" in
{2}  esac
  case "$command" in
{3}  esac
  if [[ "$command" == run && "$word" != -* ]]; then
    COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
}}
complete -o default -F _{0} {0}
)";

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> commands;
  std::string with_values = value_cases(app, ""), with_words = word_case(app, "''");
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group().empty()) continue;
    commands.push_back(command->get_name());
    with_values += value_cases(*command, command->get_name());
    with_words += word_case(*command, command->get_name());
  }
  return fmt::format(script, app.get_name(), joined(commands, " "), with_values, with_words);
}

}  // namespace heddle::tools
