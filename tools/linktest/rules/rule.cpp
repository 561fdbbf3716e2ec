// SPDX-License-Identifier: BSD-3-Clause
// rule.cpp - reading rules and holding pairs against them.
#include "linktest/rules/rule.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <regex>
#include <stdexcept>
#include <string>

#include "linktest/results/pair_class.h"

namespace heddle::linktest {
namespace {

/// What stands in front of a rule.
std::vector<pair_class> classes_named(std::string_view word) {
  std::vector<pair_class> out;
  for (const pair_class c : all_classes) {
    const bool named = word == "host"    ? on_one_host(c)
                       : word == "other" ? !on_one_host(c)
                                         : word.empty() || word == "all" || word == word_of(c);
    if (named) out.push_back(c);
  }
  return out;
}

bool is_for(const rule& r, pair_class near) {
  return std::find(r.among.begin(), r.among.end(), near) != r.among.end();
}

bool is_rate(rule::figure figure) noexcept {
  return figure == rule::figure::bandwidth || figure == rule::figure::least_bandwidth;
}

/// That a figure is made of.
float time_of(rule::figure figure, const sketch& times) noexcept {
  if (figure == rule::figure::p99) return times.p99;
  return figure == rule::figure::least_bandwidth ? times.max : times.median;
}

/// One rule over the pairs of one size.
class checking {
 public:
  checking(const rule& what, const judged& run, const results* baseline, std::size_t size)
      : rule_(what), run_(run), baseline_(baseline), size_(size) {
    find_usual();
  }

  broken_rule run() const {
    broken_rule out;
    out.rule = rule_.text;
    out.bytes = run_.all.sizes()[size_];
    double worst = 1;
    for_each([&](int a, int b, pair_class near) {
      if (!is_for(rule_, near)) return;
      const double value = figure(run_.all, a, b), wanted = rule_.value * reference(a, b, near);
      if (std::isnan(value) || std::isnan(wanted)) return;
      ++out.of;
      const double met = rule_.at_least ? value / wanted : wanted / value;
      if (met >= 1) return;
      ++out.pairs;
      if (met >= worst) return;
      worst = met;
      out.initiator = a;
      out.peer = b;
      out.value = value;
      out.wanted = wanted;
    });
    return out;
  }

 private:
  [[nodiscard]] double figure(const results& from, int a, int b) const {
    return value_of(rule_.of, from.at(size_, a, b).time, run_.facts.chosen.kernel,
                    from.sizes()[size_]);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    run_.all.for_known(size_, [&](int a, int b, const pair_record&) {
      if (a != b) visit(a, b, class_of(run_.facts, a, b));
    });
  }
  /// The medians of the classes.
  void find_usual() {
    if (!rule_.times_reference || baseline_ != nullptr) return;
    const times_by_class times([&](const auto& look) {
      for_each([&](int a, int b, pair_class near) {
        look(near, time_of(rule_.of, run_.all.at(size_, a, b).time));
      });
    });
    for (const pair_class near : all_classes)
      usual_[static_cast<std::size_t>(near)] =
          is_rate(rule_.of)
              ? times.of(near).rates(run_.facts.chosen.kernel, run_.all.sizes()[size_]).median
              : times.of(near).times().median;
  }
  [[nodiscard]] double reference(int a, int b, pair_class near) const {
    if (!rule_.times_reference) return 1;
    return baseline_ != nullptr ? figure(*baseline_, a, b) : usual_[static_cast<std::size_t>(near)];
  }

  const rule& rule_;
  const judged& run_;
  const results* baseline_;
  std::size_t size_;
  std::array<double, std::size(all_classes)> usual_{};
};

/// With its unit: what is said of the baseline is of times.
std::string figure_text(const std::string& rule, double value) {
  for (const char* const rate : {"median", "bandwidth", "min"})
    if (rule.find(rate) != std::string::npos) return format_bandwidth(value);
  return format_seconds(value);
}

double number_in(const std::string& digits, const std::string& rule) {
  try {
    return std::stod(digits);
  } catch (const std::out_of_range&) {
    throw error(fmt::format("'{}': {} is out of a number's range", rule, digits));
  }
}

}  // namespace

rule parse_rule(const std::string& text) {
  static const std::regex form(
      R"((?:(all|core|complex|socket|host|other|group|network):)?(median|bandwidth|min|time|p99)\s*(>=|<=)\s*(?:(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*(\*\s*ref)?|(ref)))");
  std::smatch part;
  if (!std::regex_match(text, part, form))
    throw error(fmt::format(
        "'{}' is no rule; give FIGURE>=VALUE or FIGURE<=VALUE with the FIGURE median, min "
        "(bandwidths in B/s), time or p99 (in s) and the VALUE a number, 0.93*ref or ref; host: or "
        "other: before it for pairs on one host or on two, core:, complex: or socket: for one of "
        "these, with --groups group: or network: for two hosts of one group or not",
        text));
  rule out;
  out.text = text;
  const std::string name = part[2], among = part[1];
  out.of = name == "time"  ? rule::figure::time
           : name == "p99" ? rule::figure::p99
           : name == "min" ? rule::figure::least_bandwidth
                           : rule::figure::bandwidth;
  out.among = classes_named(among);
  out.at_least = part[3] == ">=";
  out.times_reference = part[5].matched || part[6].matched;
  out.value = part[4].matched ? number_in(part[4], text) : 1;
  return out;
}

double value_of(rule::figure figure, const sketch& time, kernel k, std::uint64_t bytes) noexcept {
  const double seconds = static_cast<double>(time_of(figure, time));
  return is_rate(figure) ? bytes_per_second(k, bytes, seconds) : seconds;
}

std::vector<broken_rule> check_rules(const std::vector<rule>& rules, const judged& run,
                                     const results* baseline) {
  std::vector<broken_rule> out;
  for (const rule& r : rules) {
    for (std::size_t size = 0; size < run.all.sizes().size(); ++size) {
      broken_rule found = checking(r, run, baseline, size).run();
      if (found.pairs > 0) out.push_back(std::move(found));
    }
  }
  return out;
}

std::string in_words(const broken_rule& b, const std::vector<std::string>& names) {
  if (b.of == 0) return fmt::format("Missed: {}\n", b.rule);
  const auto name = [&names](int rank) {
    const auto index = static_cast<std::size_t>(rank);  // as a file says, which may be damaged
    return index < names.size() ? names[index] : fmt::format("rank {}", rank);
  };
  return fmt::format(
      "Missed: {} at {}: {} of {} pairs; the worst is {} -> {} with {} where {} was wanted\n",
      b.rule, format_size(b.bytes), b.pairs, b.of, name(b.initiator), name(b.peer),
      figure_text(b.rule, b.value), figure_text(b.rule, b.wanted));
}

}  // namespace heddle::linktest
