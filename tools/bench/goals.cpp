// goals.cpp - the rows of the table and what was reached.
#include "bench/goals.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "exit_status.h"

namespace heddle::bench {
namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    result.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

row make_row(std::string name, const char* arguments, std::vector<goal> goals) {
  std::vector<std::string> list = words(arguments);
  for (const goal& g : goals) {
    list.emplace_back("--compare");
    list.push_back(g.against);
  }
  const kind what = kind_names().at(list.front());
  return {std::move(name), what, std::move(list), std::move(goals)};
}

/// T threads on one lane against one thread on it.
row shared_lane(const std::string& op, const std::string& backend) {
  row r{fmt::format("shared-lane-{}-{}", backend, op),
        kind::rate,
        words(fmt::format("mt-rate --op {} --backend {} --shared-lane --threads 1,2,4,8,16", op,
                          backend)),
        {}};
  for (const int threads : {2, 4, 8, 16}) {
    r.goals.push_back({fmt::format("T={}", threads), 0.95, {{"scaling", {}, threads}}});
  }
  return r;
}

/// A rendezvous behind computing on one side.
row overlap(const std::string& backend, const std::string& side, int compute_us) {
  return {fmt::format("overlap-{}-{}-{}us", backend, side, compute_us),
          kind::rate,
          words(fmt::format("overlap --sizes 1M --backend {} --computing {} --compute-us {} "
                            "--compare openmpi,mpich",
                            backend, side, compute_us)),
          {{"hidden", 0.9, {{"overlap_ratio", side}}}}};
}

row offload() {
  return {"offload",
          kind::latency,
          words("latency-overhead --offload --backend shm"),
          {{"call, in cache lines", 1, {{"overhead_lines", "dedicated"}}},
           {"added latency, in cache lines", 5, {{"added_lines", "dedicated"}}}}};
}

void add_thread_rows(std::vector<row>& rows) {
  rows.push_back(shared_lane("am", "shm"));
  rows.push_back(shared_lane("tag", "shm"));
  rows.push_back(shared_lane("am", "tcp"));
  rows.push_back(offload());
  for (const std::string backend : {"shm", "tcp"}) {
    for (const std::string side : {"sender", "receiver"}) {
      for (const int us : {100, 1000}) rows.push_back(overlap(backend, side, us));
    }
  }
}

/// The same benchmark by four ranks on the cores of two, against two of them.
row crowded(const std::string& name, const std::string& arguments) {
  const bool latency = arguments.starts_with("latency");
  return make_row("crowded-" + name, (arguments + " --ranks 4").c_str(),
                  {{"pair", latency ? 6 : 0.4}});
}

std::vector<row> make_rows() {
  std::vector<row> rows{
      make_row("shm-put-rate", "rate --op put --backend shm", {{"ucx", 3}, {"bare", 0.4}}),
      make_row("shm-fetch-add-rate", "rate --op fetch-add --backend shm", {{"ucx", 2}}),
      make_row("shm-am-latency", "latency --op am --backend shm", {{"ucx", 0.8}, {"bare", 2}}),
      make_row("shm-tag-latency", "latency --op tag --backend shm", {{"ucx", 1}}),
      make_row("shm-tag-rate", "rate --op tag --backend shm", {{"ucx", 1.5}}),
      make_row("shm-tag-bandwidth-exposed",
               "bandwidth --op tag --backend shm --buffers exposed --sizes 1M", {{"ucx", 2}}),
      make_row("shm-tag-bandwidth-plain",
               "bandwidth --op tag --backend shm --buffers plain --sizes 1M", {{"ucx", 1}}),
      make_row("tcp-am-latency", "latency --op am --backend tcp", {{"ucx", 1}, {"bare", 1.15}}),
      make_row("tcp-tag-latency", "latency --op tag --backend tcp", {{"ucx", 1}, {"bare", 1.15}}),
      make_row("tcp-am-rate", "rate --op am --backend tcp", {{"ucx", 30}}),
      make_row("tcp-tag-rate", "rate --op tag --backend tcp", {{"ucx", 30}}),
      make_row("tcp-put-rate", "rate --op put --backend tcp --window 512", {{"ucx", 30}}),
      make_row("tcp-get-latency", "latency --op get --backend tcp --target computing",
               {{"bare", 1.3}}),
      make_row("tcp-fetch-add-latency", "latency --op fetch-add --backend tcp --target computing",
               {{"bare", 1.3}}),
      make_row("tcp-tag-bandwidth", "bandwidth --op tag --backend tcp --sizes 1M",
               {{"ucx", 1}, {"bare", 0.9}}),
      make_row("tcp-put-bandwidth", "bandwidth --op put --backend tcp --sizes 1M --ucx-test tag_bw",
               {{"ucx", 1}, {"bare", 0.9}})};
  for (const std::string backend : {"shm", "tcp"}) {
    for (const std::string op : {"put", "fetch-add", "am", "tag"}) {
      rows.push_back(crowded(fmt::format("{}-{}-rate", backend, op),
                             fmt::format("rate --op {} --backend {}", op, backend)));
    }
    for (const std::string op : {"am", "tag"}) {
      rows.push_back(crowded(fmt::format("{}-{}-latency", backend, op),
                             fmt::format("latency --op {} --backend {}", op, backend)));
    }
  }
  add_thread_rows(rows);
  return rows;
}

bool fits(const record& r, const chosen_record& wanted) {
  return (r.library == "heddle" || r.library == "heddle/bare") && r.metric == wanted.metric &&
         (wanted.op.empty() || r.op == wanted.op) &&
         (wanted.threads == 0 || r.threads == wanted.threads);
}

std::optional<double> median_of(const outcome_row& r, const chosen_record& wanted) {
  for (const record& candidate : r.records) {
    if (fits(candidate, wanted)) return candidate.median;
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

/// Heddle's median over the rival's.
std::optional<double> ratio_to(const outcome_row& r, const goal& g) {
  const record* const own = find_record(r, g, "heddle");
  const record* const rival = find_record(r, g, g.against);
  if (own == nullptr || rival == nullptr || rival->median <= 0) return std::nullopt;
  return own->median / rival->median;
}

std::string own_median(const outcome_row& r, const goal& g) {
  return g.record ? "-" : median_of(r, g, "heddle");
}

std::string verdict(const outcome_row& r, const goal& g) {
  const auto ratio = figure_of(r, g);
  if (!ratio) return "failed";
  return meets(r.what, g, *ratio) ? "pass" : "short";
}

std::string ratio_text(const outcome_row& r, const goal& g) {
  const auto ratio = figure_of(r, g);
  return ratio ? fmt::format("{:.3g}", *ratio) : "-";
}

}  // namespace

const std::vector<row>& all_rows() {
  static const std::vector<row> rows = make_rows();
  return rows;
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
  return g.record ? median_of(r, *g.record) : ratio_to(r, g);
}

bool meets(const row& r, const goal& g, double ratio) {
  return r.what == kind::latency ? ratio <= g.bound : ratio >= g.bound;
}

std::string describe(const row& r, const goal& g) {
  const char* const sense = r.what == kind::latency ? "at most" : "at least";
  if (g.record) return fmt::format("{} {} ({})", sense, g.bound, g.against);
  const std::string against = g.against == "pair" ? "2 ranks" : g.against;
  return fmt::format("{} {} x {}{}", sense, g.bound, against,
                     g.threads != 0 ? fmt::format(", T={}", g.threads) : "");
}

std::string text_table(const std::vector<outcome_row>& rows) {
  constexpr auto layout = "{:<28}{:<40}{:>10}  {:<7}{:>14}{:>14}\n";
  std::string text = fmt::format(layout, "row", "goal", "ratio", "", "heddle", "rival");
  for (const outcome_row& r : rows) {
    for (const goal& g : r.what.goals) {
      text += fmt::format(layout, r.what.name, describe(r.what, g), ratio_text(r, g), verdict(r, g),
                          own_median(r, g), median_of(r, g, g.against));
    }
    if (!r.failure.empty()) text += "  " + r.failure + '\n';
  }
  return text;
}

std::string markdown_table(const std::vector<outcome_row>& rows) {
  std::string text =
      "| row | goal | ratio | | Heddle | rival | `heddle bench` |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const outcome_row& r : rows) {
    for (const goal& g : r.what.goals) {
      text += fmt::format("| {} | {} | {} | {} | {} | {} | `{}` |\n", r.what.name,
                          describe(r.what, g), ratio_text(r, g), verdict(r, g), own_median(r, g),
                          median_of(r, g, g.against), fmt::join(r.what.arguments, " "));
    }
  }
  return text;
}

}  // namespace heddle::bench
