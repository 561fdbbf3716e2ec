// offload_report.cpp - a table of columns, printed and recorded.
#include "bench/offload_report.h"

#include <fmt/core.h>

#include "bench/statistics.h"

namespace heddle::bench {
namespace {

/// A column of the table, and what its record says.
struct column {
  const char *title, *op, *metric, *unit, *library;
  double (*value)(const offload_round&);
};
constexpr column columns[]{
    {"inline, us", "inline", "latency", "us", "heddle",
     [](const offload_round& r) { return r.inline_get.latency * 1e6; }},
    {"call, us", "inline", "overhead", "us", "heddle",
     [](const offload_round& r) { return r.inline_get.overhead * 1e6; }},
    {"offloaded, us", "dedicated", "latency", "us", "heddle",
     [](const offload_round& r) { return r.offloaded.latency * 1e6; }},
    {"call, us", "dedicated", "overhead", "us", "heddle",
     [](const offload_round& r) { return r.offloaded.overhead * 1e6; }},
    {"call, lines", "dedicated", "overhead_lines", "times", "heddle/bare",
     [](const offload_round& r) { return r.offloaded.overhead / r.cache_line; }},
    {"added, lines", "dedicated", "added_lines", "times", "heddle/bare",
     [](const offload_round& r) {
       return (r.offloaded.latency - r.inline_get.latency) / r.cache_line;
     }},
    {"cache line, ns", "cache-line", "one-way", "ns", "bare",
     [](const offload_round& r) { return r.cache_line * 1e9; }}};

std::vector<double> values_of(const column& c, const std::vector<offload_round>& rounds) {
  std::vector<double> all;
  for (const offload_round& r : rounds) all.push_back(c.value(r));
  return all;
}

template <class Text>
std::string row(const std::string& name, Text&& text) {
  std::string line = fmt::format("{:<8}", name);
  for (const column& c : columns) line += fmt::format("{:>16}", text(c));
  return line;
}

}  // namespace

std::string offload_heading() {
  return row("round", [](const column& c) { return c.title; });
}

std::string offload_line(int round, const offload_round& r) {
  return row(std::to_string(round),
             [&r](const column& c) { return fmt::format("{:.3f}", c.value(r)); });
}

std::string offload_summary(const std::vector<offload_round>& rounds) {
  return row("median", [&rounds](const column& c) {
    return fmt::format("{:.3f}", median(values_of(c, rounds)));
  });
}

std::vector<record> offload_records(std::uint64_t bytes, const std::vector<offload_round>& rounds) {
  std::vector<record> records;
  for (const column& c : columns) {
    record& r = records.emplace_back();
    r.benchmark = "latency-overhead";
    r.op = c.op;
    r.backend = "shm";
    r.library = c.library;
    r.bytes = bytes;
    r.metric = c.metric;
    r.unit = c.unit;
    set_statistics(r, summarize(values_of(c, rounds)));
  }
  return records;
}

}  // namespace heddle::bench
