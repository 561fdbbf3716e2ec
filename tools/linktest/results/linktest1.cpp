// SPDX-License-Identifier: BSD-3-Clause
// linktest1.cpp - the record that each rank of LinkTest 1.x leaves, number by number.
#include "linktest/results/linktest1.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <array>
#include <cmath>

#include "linktest/results/bytes.h"

namespace heddle::linktest {
namespace {

constexpr std::string_view mark = "LKTST";
constexpr std::array<std::int32_t, 3> version{1, 2, 1};
constexpr std::size_t location_bytes = 256;
constexpr std::string_view our_names = "linktest-";  // what the names of our files begin with

struct extremes {
  double least, most, mean;
};

extremes extremes_of(const results& all, std::size_t size_index) {
  extremes out{0, 0, 0};
  double sum = 0, count = 0;
  for (const double time : all.matrix(size_index, metric::time_median)) {
    if (std::isnan(time)) continue;
    out.least = count == 0 ? time : std::min(out.least, time);
    out.most = std::max(out.most, time);
    sum += time;
    ++count;
  }
  if (count > 0) out.mean = sum / count;
  return out;
}

void put_summary(byte_writer& out, const run_facts& facts, const results& all,
                 std::size_t size_index) {
  const options& o = facts.chosen;
  const auto word = [](std::uint64_t value) { return static_cast<std::int32_t>(value); };
  const std::array<std::int32_t, 10> words{word(o.messages), word(all.sizes()[size_index]),
                                           0,  // no exchange of all with all between the steps
                                           1, o.mode == run_mode::serial ? 1 : 0, o.shuffle ? 1 : 0,
                                           // LinkTest 1.x has 0 here, and its readers skip it.
                                           word(1 + static_cast<std::uint64_t>(o.kernel)),
                                           word(1 + static_cast<std::uint64_t>(o.op)), 0,
                                           version[0]};
  for (const std::int32_t w : words) out.number(w);
  const extremes times = extremes_of(all, size_index);
  for (const double value : {times.least, times.most, times.mean}) out.number(value);
  out.zeros(7 * sizeof(double));
}

/// In which step of our schedule two ranks meet, when the ranks are not shuffled.
std::int32_t step_of(int a, int b, int ranks) noexcept {
  const int last = ranks + ranks % 2 - 1;
  if (a == last) return 2 * b % last;
  if (b == last) return 2 * a % last;
  return (a + b) % last;
}

std::string stream_of(const run_facts& facts, const results& all, std::size_t size_index,
                      int rank) {
  const int n = all.ranks();
  byte_writer out;
  out.text(mark);
  for (const std::int32_t v : version) out.number(v);
  const std::string host =
      facts.hosts[static_cast<std::size_t>(rank)].substr(0, location_bytes - 1);
  out.text(host);
  out.zeros(location_bytes - host.size());
  out.zeros(4 * sizeof(std::int32_t));  // coordinates, of machines that have such
  if (rank == 0) put_summary(out, facts, all, size_index);
  for (int p = 0; p < n; ++p) {
    const double time = all.at(size_index, rank, p).time.median;
    out.number(p == rank || std::isnan(time) ? 0.0 : time);
  }
  for (int p = 0; p < n; ++p) out.number(p == rank ? 0 : step_of(rank, p, n));
  if (rank == 0) out.zeros(static_cast<std::size_t>(n) * 24);  // pairs that were tested again
  return out.take();
}

// --- reading ---

/// What every rank's stream begins with. Returns its host.
std::string read_head(byte_reader& in) {
  if (in.left() < mark.size() || in.take(mark.size()) != mark)
    throw error("its streams are not those of LinkTest 1.x, which begin with \"LKTST\"");
  const auto major = in.number<std::int32_t>(), minor = in.number<std::int32_t>();
  in.skip(sizeof(std::int32_t));
  if (major != 1)
    throw error(
        fmt::format("it was written by LinkTest {}.{}; only 1.x can be read", major, minor));
  const std::string_view location = in.take(location_bytes);
  constexpr std::int32_t with_six_coordinates = 4;
  in.skip((minor >= with_six_coordinates ? 6 : 4) * sizeof(std::int32_t));
  return std::string(location.substr(0, location.find('\0')));
}

/// From a word that put_summary() wrote.
template <class Enum>
Enum enum_from(std::int32_t word) noexcept {
  const bool known = word >= 1 && word <= 1 + static_cast<std::int32_t>(Enum::unknown);
  return known ? static_cast<Enum>(word - 1) : Enum::unknown;
}

/// LinkTest 1.x has one kernel and one op. Our files told neither in their first days.
void set_traffic(options& of, std::int32_t kernel_word, std::int32_t op_word, bool by_linktest) {
  of.layer = "unknown";
  if (by_linktest && kernel_word == 0 && op_word == 0) return;
  of.kernel = enum_from<kernel>(kernel_word);
  of.op = enum_from<operation>(op_word);
}

/// Sets the facts of rank 0's part and returns the message size.
std::uint64_t read_summary(byte_reader& in, run_facts& facts, bool by_linktest) {
  std::array<std::int32_t, 10> words{};
  for (auto& w : words) w = in.number<std::int32_t>();
  in.skip(10 * sizeof(double));
  if (words[0] < 1 || words[1] < 1)
    throw error(fmt::format("it tells of {} messages of {} bytes", words[0], words[1]));
  facts.chosen.messages = static_cast<std::uint64_t>(words[0]);
  facts.chosen.mode = words[4] != 0 ? run_mode::serial : run_mode::parallel;
  facts.chosen.shuffle = words[5] != 0;
  set_traffic(facts.chosen, words[6], words[7], by_linktest);
  return static_cast<std::uint64_t>(words[1]);
}

std::vector<row_record> read_row(byte_reader& in, std::size_t ranks, std::size_t self) {
  std::vector<row_record> out;
  if (in.left() / sizeof(double) < ranks) throw error("a stream ends within its times");
  for (std::size_t p = 0; p < ranks; ++p) {
    const auto time = static_cast<float>(in.number<double>());
    if (p == self || !(time > 0) || std::isinf(time)) continue;
    out.push_back(
        {static_cast<std::int32_t>(p), 0, {sketch_of(std::array{time}), pair_state::measured, {}}});
  }
  return out;
}

}  // namespace

std::vector<std::string> to_linktest1(const run_facts& facts, const results& all,
                                      std::size_t size_index) {
  std::vector<std::string> out;
  for (int r = 0; r < all.ranks(); ++r) out.push_back(stream_of(facts, all, size_index, r));
  return out;
}

std::string linktest1_name(std::uint64_t bytes) {
  return fmt::format("{}{}.sion", our_names, bytes);
}

run_record from_linktest1(const sion_content& file) {
  const bool by_linktest = !file.name.starts_with(our_names);
  run_facts facts;
  facts.version = by_linktest ? "LinkTest 1.x" : "heddle, as LinkTest 1.x does";
  facts.chosen.warmup = 0;
  facts.chosen.repetitions = 1;
  std::uint64_t bytes = 1;
  std::vector<std::vector<row_record>> rows;
  const std::size_t n = file.streams.size();
  for (std::size_t r = 0; r < n; ++r) {
    byte_reader in(file.streams[r], file.big_endian);
    try {
      facts.hosts.push_back(read_head(in));
      if (r == 0) bytes = read_summary(in, facts, by_linktest);
      rows.push_back(read_row(in, n, r));
    } catch (const error& why) {
      throw error(fmt::format("stream of rank {}: {}", r, why.what()));
    }
  }
  facts.chosen.ranks = static_cast<int>(n);
  facts.chosen.sizes = {bytes};
  results all(static_cast<int>(n), facts.chosen.kernel, {bytes});
  run_record out{std::move(facts), std::move(all)};
  for (std::size_t r = 0; r < n; ++r) out.all.set_row(static_cast<int>(r), rows[r]);
  return out;
}

}  // namespace heddle::linktest
