// SPDX-License-Identifier: BSD-3-Clause
// junit.cpp - test cases, and text that XML 1.0 can hold.
#include "linktest/rules/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "json_text.h"
#include "linktest/rules/baseline.h"

namespace heddle::linktest {
namespace {

/// Also for between quotes. Control characters, which XML has no form for, become spaces.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : tools::utf8_text(text)) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += code < ' ' && c != '\n' && c != '\t' ? ' ' : c;
  }
  return out;
}

class suite {
 public:
  explicit suite(std::string group) : group_(std::move(group)) {}
  void passed(std::string_view name) { add(name, {}); }
  void failed(std::string_view name, std::string_view message, std::string_view text) {
    ++failures_;
    add(name, fmt::format("      <failure message=\"{}\">{}</failure>\n", escaped(message),
                          escaped(text)));
  }
  void skipped(std::string_view name, std::string_view message) {
    ++skips_;
    add(name, fmt::format("      <skipped message=\"{}\"/>\n", escaped(message)));
  }
  [[nodiscard]] std::string text(const run_facts& facts) const {
    std::string started = facts.started;  // ISO 8601, without a zone in this format
    if (started.ends_with('Z')) started.pop_back();
    const std::string counts =
        fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{:.3f}\"",
                    cases_, failures_, skips_, facts.elapsed_s);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n"
        "  <testsuite name=\"{1}\" {0} timestamp=\"{2}\" hostname=\"{3}\">\n"
        "    <properties>\n      <property name=\"command\" value=\"{4}\"/>\n"
        "      <property name=\"heddle_version\" value=\"{5}\"/>\n    </properties>\n"
        "{6}  </testsuite>\n</testsuites>\n",
        counts, escaped(group_), escaped(started),
        escaped(facts.hosts.empty() ? "" : facts.hosts.front()), escaped(facts.command),
        escaped(facts.version), body_);
  }

 private:
  void add(std::string_view name, const std::string& inside) {
    ++cases_;
    const std::string head =
        fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escaped(group_), escaped(name));
    body_ += inside.empty() ? head + "/>\n" : head + ">\n" + inside + "    </testcase>\n";
  }

  std::string group_, body_;
  int cases_ = 0, failures_ = 0, skips_ = 0;
};

void add_measuring(suite& out, const results& all) {
  const std::uint64_t wrong = all.count(pair_state::corrupted);
  if (all.missing() == 0)
    out.passed("every pair is measured");
  else
    out.failed("every pair is measured", fmt::format("{} were not", all.missing()),
               fmt::format("lost: {}; unmeasured: {}\n", all.count(pair_state::lost),
                           all.count(pair_state::unmeasured)));
  if (wrong == 0)
    out.passed("data arrives as it was sent");
  else
    out.failed("data arrives as it was sent", fmt::format("{} times it did not", wrong), "");
}

void add_diagnosis(suite& out, const run_facts& facts) {
  constexpr const char* name = "no node, rail or link is slow";
  if (!facts.slow)
    out.skipped(name, facts.not_diagnosed.empty() ? "not looked for"
                                                  : "not looked for: " + facts.not_diagnosed);
  else if (found_slow_part(*facts.slow))
    out.failed(name, fmt::format("{} found", facts.slow->verdicts.size()),
               in_words(*facts.slow, names_of_ranks(facts.hosts)));
  else
    out.passed(name);
}

template <class Is>
const broken_rule* find(const run_facts& facts, const Is& is) {
  const auto found = std::find_if(facts.missed.begin(), facts.missed.end(), is);
  return found == facts.missed.end() ? nullptr : &*found;
}

/// What makes that no rule could be checked; null: nothing.
const broken_rule* incomparable_in(const run_facts& facts) {
  return find(facts, [](const broken_rule& b) { return b.rule.starts_with(comparable_rule); });
}

void add_rule(suite& out, const run_facts& facts, const std::string& rule) {
  for (const std::uint64_t bytes : facts.chosen.sizes) {
    const std::string name = fmt::format("{} at {}", rule, format_size(bytes));
    const broken_rule* const missed =
        find(facts, [&](const broken_rule& b) { return b.rule == rule && b.bytes == bytes; });
    if (missed != nullptr)
      out.failed(name, fmt::format("{} of {} pairs miss it", missed->pairs, missed->of),
                 in_words(*missed, names_of_ranks(facts.hosts)));
    else if (const broken_rule* const none = incomparable_in(facts); none != nullptr)
      out.skipped(name, "not " + none->rule);
    else
      out.passed(name);
  }
}

void add_baseline(suite& out, const run_facts& facts) {
  if (facts.chosen.search.baseline.empty()) return;
  if (const broken_rule* const none = incomparable_in(facts); none != nullptr)
    out.failed(comparable_rule, "not " + none->rule, "");
  else
    out.passed(comparable_rule);
  add_rule(out, facts, slower_rule);
}

}  // namespace

std::string to_junit(const run_facts& facts, const results& all) {
  const options& o = facts.chosen;
  suite out(fmt::format("heddle.linktest.{}-{}-{}-{}", name_of(o.kernel), name_of(o.op), o.layer,
                        name_of(o.mode)));
  add_measuring(out, all);
  add_diagnosis(out, facts);
  std::vector<std::string> told;
  for (const std::string& rule : o.search.expect) {
    if (std::find(told.begin(), told.end(), rule) != told.end()) continue;
    told.push_back(rule);
    add_rule(out, facts, rule);
  }
  add_baseline(out, facts);
  return out.text(facts);
}

}  // namespace heddle::linktest
