// utofu_goals.cpp - the rows over utofu: what is published of UCX on Tofu D, against uTofu itself.
#include <fmt/core.h>

#include <algorithm>

#include "bench/goals.h"

namespace heddle::bench {
namespace {

/// As published: 6 TNIs of 4 CQs, and up to two threads on each.
constexpr const char* sharing = "--backend utofu --lanes 24";
constexpr double near_enough = 0.95;
constexpr double not_much_later = 1.05;

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end != at) list.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return list;
}

std::vector<goal> of_each(const std::vector<int>& threads) {
  std::vector<goal> goals;
  for (const int t : threads)
    goals.push_back({.against = "utofu", .bound = near_enough, .threads = t});
  return goals;
}

row rate(const std::string& op, const std::string& size) {
  return {
      fmt::format("utofu-{}-rate-{}", op, size), kind::rate,
      words(fmt::format("mt-rate --op {} {} --sizes {} --threads 1,8,24,48 --compare utofu,lock",
                        op, sharing, size)),
      of_each({1, 8, 24, 48})};
}

row latency(const std::string& op) {
  return {fmt::format("utofu-{}-latency", op),
          kind::latency,
          words(fmt::format("latency --op {} --backend utofu --compare utofu,lock", op)),
          {{.against = "utofu", .bound = not_much_later}}};
}

row gups(const std::string& name, const std::string& way) {
  return {"utofu-gups-" + name, kind::rate,
          words(fmt::format("gups {} {} --threads 1,24,48 --compare utofu,lock", way, sharing)),
          of_each({1, 24, 48})};
}

/// Twice the threads on the same lanes.
row crowd(const std::string& name, const std::string& what) {
  return {"utofu-48-on-24-" + name,
          kind::rate,
          words(fmt::format("{} {} --threads 24,48 --compare utofu,lock", what, sharing)),
          {{"T=48", 1, {{"scaling", {}, 48}}}}};
}

std::vector<row> make_rows() {
  std::vector<row> rows;
  for (const std::string op : {"put", "get"}) {
    for (const std::string size : {"4", "64", "1K", "4K"}) rows.push_back(rate(op, size));
  }
  // One at a time: the inverse of what a put takes until it is known to have arrived.
  rows.push_back({"utofu-put-completion",
                  kind::rate,
                  words("rate --op put --backend utofu --window 1 --compare utofu,lock"),
                  {{.against = "utofu", .bound = near_enough}}});
  for (const std::string op : {"put", "am", "get", "fetch-add"}) rows.push_back(latency(op));
  rows.push_back(gups("get-put", ""));
  rows.push_back(gups("atomic", "--atomic --window 64"));
  rows.push_back(crowd("put", "mt-rate --op put --sizes 4"));
  rows.push_back(crowd("gups", "gups"));
  // Registered and not copied, one at a time: otherwise those in flight keep the registration.
  rows.push_back({"utofu-kept-registration",
                  kind::rate,
                  words("rate --op put --sizes 64 --window 1 --backend utofu "
                        "--compare uncached"),
                  {{.against = "uncached", .bound = 10}},
                  {"HEDDLE_UTOFU_STAGE_BYTES=32"}});
  return rows;
}

}  // namespace

const std::vector<row>& utofu_rows() {
  static const std::vector<row> rows = make_rows();
  return rows;
}

}  // namespace heddle::bench
