// SPDX-License-Identifier: BSD-3-Clause
// shard.cpp - records: {magic, length, checksum of length and content} and the content.
#include "linktest/results/shard.h"

#include <fmt/format.h>
#include <heddle/status.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>

#include "linktest/results/bytes.h"

namespace heddle::linktest {
namespace {

constexpr std::string_view magic{"HLV1"};
constexpr std::size_t head_bytes = 12;
constexpr std::size_t most_bytes = std::size_t{1} << 26;  // of a record's content
constexpr std::string_view before_ranks{"ranks-"}, behind_ranks{".shard"};
constexpr std::array fields{&sketch::min, &sketch::median, &sketch::p90,    &sketch::p99,
                            &sketch::max, &sketch::mad,    &sketch::ci_low, &sketch::ci_high};

std::uint32_t checksum(std::string_view bytes, std::uint32_t so_far = 0) {
  return static_cast<std::uint32_t>(
      crc32_z(so_far, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t checksum_of(std::uint32_t length, std::string_view content) {
  byte_writer counted;
  counted.number(length);
  return checksum(content, checksum(counted.take()));
}

std::string content_of(const measured_visit& visit) {
  byte_writer out;
  out.number(visit.run);
  out.number(visit.hosts);
  out.number(visit.initiator);
  out.number(visit.peer);
  out.number(visit.size_index);
  out.number(visit.repetition);
  out.number(static_cast<std::uint8_t>(visit.state));
  out.number(visit.singles.n);
  for (const auto field : fields) out.number(visit.singles.*field);
  out.number(static_cast<std::uint32_t>(visit.times.size()));
  for (const float time : visit.times) out.number(time);
  return out.take();
}

measured_visit parse(std::string_view content) {
  byte_reader in(content, false);
  measured_visit visit;
  visit.run = in.number<std::uint64_t>();
  visit.hosts = in.number<std::uint32_t>();
  visit.initiator = in.number<std::int32_t>();
  visit.peer = in.number<std::int32_t>();
  visit.size_index = in.number<std::uint32_t>();
  visit.repetition = in.number<std::uint32_t>();
  const auto state = in.number<std::uint8_t>();
  if (state > static_cast<std::uint8_t>(pair_state::corrupted)) throw error("no such state");
  visit.state = static_cast<pair_state>(state);
  visit.singles.n = in.number<std::uint32_t>();
  for (const auto field : fields) visit.singles.*field = in.number<float>();
  const auto times = in.number<std::uint32_t>();
  if (in.left() != times * sizeof(float)) throw error("the times are not all");
  for (std::uint32_t i = 0; i < times; ++i) visit.times.push_back(in.number<float>());
  return visit;
}

/// The content of the record that `bytes` begin with; nothing where no whole one is.
std::optional<std::string_view> content_at(std::string_view bytes) {
  if (bytes.size() < head_bytes || !bytes.starts_with(magic)) return std::nullopt;
  byte_reader head(bytes.substr(magic.size()), false);
  const auto length = head.number<std::uint32_t>();
  const auto wanted = head.number<std::uint32_t>();
  if (length > most_bytes || length > head.left()) return std::nullopt;
  const std::string_view content = bytes.substr(head_bytes, length);
  return checksum_of(length, content) == wanted ? std::optional(content) : std::nullopt;
}

/// The lowest and highest rank that a file's name tells.
std::optional<std::pair<int, int>> ranks_of(std::string_view name) {
  if (!name.starts_with(before_ranks) || !name.ends_with(behind_ranks)) return std::nullopt;
  name.remove_prefix(before_ranks.size());
  name.remove_suffix(behind_ranks.size());
  std::pair<int, int> out;
  const char* const end = name.data() + name.size();
  const auto low = std::from_chars(name.data(), end, out.first);
  if (low.ec != std::errc{} || low.ptr == end || *low.ptr != '-') return std::nullopt;
  const auto high = std::from_chars(low.ptr + 1, end, out.second);
  if (high.ec != std::errc{} || high.ptr != end) return std::nullopt;
  return out;
}

/// The files whose ranks please.
template <class Pleases>
std::vector<std::string> files_where(const std::string& folder, Pleases pleases) {
  std::vector<std::string> out;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    if (const auto ranks = ranks_of(entry.path().filename().string()); ranks && pleases(*ranks))
      out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::uint32_t hosts_mark(std::string_view initiator, std::string_view peer) {
  constexpr std::string_view between{"\0", 1};
  return checksum(peer, checksum(between, checksum(initiator)));
}

std::string to_record(const measured_visit& visit) {
  const std::string content = content_of(visit);
  const auto length = static_cast<std::uint32_t>(content.size());
  byte_writer out;
  out.text(magic);
  out.number(length);
  out.number(checksum_of(length, content));
  out.text(content);
  return out.take();
}

std::vector<measured_visit> visits_in(std::string_view bytes) {
  std::vector<measured_visit> out;
  while (!bytes.empty()) {
    std::size_t over = std::min(bytes.find(magic, 1), bytes.size());
    if (const auto content = content_at(bytes)) {
      try {
        out.push_back(parse(*content));
        over = head_bytes + content->size();
      } catch (const error&) {  // of another version, or made up
      }
    }
    bytes.remove_prefix(over);
  }
  return out;
}

std::string shard_name(int lowest, int highest) {
  return fmt::format("{}{}-{}{}", before_ranks, lowest, highest, behind_ranks);
}

std::vector<std::string> shards_with(const std::string& folder, int rank) {
  return files_where(
      folder, [rank](const auto& ranks) { return ranks.first <= rank && rank <= ranks.second; });
}

std::vector<std::string> shards_in(const std::string& folder) {
  return files_where(folder, [](const auto&) { return true; });
}

void forget_shards(const std::string& folder) noexcept {
  std::error_code none;
  for (const std::string& shard : shards_in(folder)) std::filesystem::remove(shard, none);
}

}  // namespace heddle::linktest
