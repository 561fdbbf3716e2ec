// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/rules/expectation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <heddle/info.h>
#include <heddle/status.h>

#include <algorithm>

#include "linktest/file_lines.h"
#include "linktest/layer.h"
#include "linktest/rules/rule.h"

namespace heddle::linktest {
namespace {

/// "uni-put/time<=1": its words, and what stands behind them.
struct expectation {
  std::vector<std::string> words;
  std::string rule;
};

std::vector<std::string> cut(const std::string& text, char at) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(at, from), text.size());
    out.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

expectation split(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return {{}, text};
  return {cut(text.substr(0, slash), '-'), text.substr(slash + 1)};
}

/// What a section's name is made of; of one rail also its backend.
std::vector<std::string> words_of(const options& how) {
  return {std::string(name_of(how.kernel)), std::string(name_of(how.op)), how.layer,
          layer_named(how.layer).backend, name_of(how.mode)};
}

std::vector<std::string> known_words() {
  std::vector<std::string> out = list_backends();
  for (const kernel k : {kernel::semi, kernel::bi, kernel::uni}) out.emplace_back(name_of(k));
  for (const operation op : all_operations) out.emplace_back(name_of(op));
  for (const run_mode mode : {run_mode::parallel, run_mode::serial})
    out.emplace_back(name_of(mode));
  return out;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_rail(const std::string& word) {
  const layer of = layer_named(word);
  return of.rail >= 0 && has(list_backends(), of.backend);
}

void prove(const std::string& text) {
  const expectation one = split(text);
  const std::vector<std::string> known = known_words();
  for (const std::string& word : one.words)
    if (!has(known, word) && !is_rail(word))
      throw error(
          fmt::format("'{}': no section has the word '{}'; give some of {}, with - between "
                      "them and / behind",
                      text, word, fmt::join(known, ", ")));
  (void)parse_rule(one.rule);
}

std::vector<std::string> rules_in(const std::string& path) {
  std::vector<std::string> out;
  for (const file_line& rule : lines_of_file(path)) {
    try {
      prove(rule.text);
    } catch (const error& why) {
      throw error(fmt::format("{}:{}: {}", path, rule.number, why.what()));
    }
    out.push_back(rule.text);
  }
  if (out.empty()) throw error(fmt::format("{}: there is no rule in this file", path));
  return out;
}

}  // namespace

std::vector<std::string> expectations_of(const std::string& value) {
  if (value.starts_with('@')) return rules_in(value.substr(1));
  prove(value);
  return {value};
}

std::vector<std::string> rules_for(const std::vector<std::string>& rules, const options& how) {
  std::vector<std::string> out;
  const std::vector<std::string> here = words_of(how);
  for (const std::string& text : rules) {
    const expectation one = split(text);
    if (std::all_of(one.words.begin(), one.words.end(),
                    [&here](const std::string& word) { return has(here, word); }))
      out.push_back(one.rule);
  }
  return out;
}

}  // namespace heddle::linktest
