// SPDX-License-Identifier: BSD-3-Clause
// sion_file.cpp - the layout of a SION file: META1, blocks of chunks, META2 and the mapping.
#include "linktest/results/sion_file.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>
#include <map>

#include "linktest/results/bytes.h"
#include "linktest/results/output.h"

namespace heddle::linktest {
namespace {

constexpr std::uint64_t block_bytes = 4096;  // chunks begin at multiples of it
constexpr std::size_t prefix_bytes = 1024;
constexpr std::size_t fixed_bytes = 52 + prefix_bytes;  // of META1, before what each task has
constexpr std::int64_t no_keys = std::int64_t{50} << 32;
constexpr std::string_view magic = "sion";

[[noreturn]] void refuse(std::string_view what) {
  throw error(fmt::format("not a usable SION file: {}", what));
}

void demand(bool holds, std::string_view otherwise) {
  if (!holds) refuse(otherwise);
}

std::uint64_t rounded(std::uint64_t bytes) noexcept {
  return (bytes + block_bytes - 1) / block_bytes * block_bytes;
}

// --- reading ---

struct header {
  std::uint64_t block, tasks, chunks, variable_at;
  std::int32_t version, files;
};

class parser {
 public:
  explicit parser(std::string_view bytes) : bytes_(bytes), in_(bytes, false) {}

  sion_part part() {
    read_first();
    read_second();
    collect();
    return std::move(out_);
  }

 private:
  void read_first() {
    demand(bytes_.starts_with(magic), "it does not begin with \"sion\"");
    demand(bytes_.size() >= fixed_bytes + 12, "it ends within its header");
    const auto byte = [this](std::size_t at) { return static_cast<unsigned char>(bytes_[at]); };
    demand(byte(4) == byte(7) && byte(5) == byte(6) && byte(4) <= 1 && byte(5) <= 1,
           "its byte order is neither little nor big endian");
    in_ = byte_reader(bytes_, byte(4) == 1);
    out_.big_endian = byte(5) == 1;
    in_.skip(16);  // mark, byte order, version of the library that wrote it
    head_.version = in_.number<std::int32_t>();
    demand(head_.version >= 2 && head_.version <= 5,
           fmt::format("its format version is {}, and 2 to 5 are known", head_.version));
    head_.block = positive(in_.number<std::int32_t>(), "block size");
    head_.tasks = positive(in_.number<std::int32_t>(), "number of tasks");
    head_.files = in_.number<std::int32_t>();
    out_.files = static_cast<std::int32_t>(positive(head_.files, "number of files"));
    in_.skip(4 + 8 + 8);  // the file's number, flags
    const std::string_view name = in_.take(prefix_bytes);
    out_.name = name.substr(0, name.find('\0'));
    demand(in_.left() / 16 >= head_.tasks, "it ends within the sizes of its tasks");
    for (std::uint64_t t = 0; t < head_.tasks; ++t)
      out_.ranks.push_back(in_.number<std::int64_t>());
    for (std::uint64_t t = 0; t < head_.tasks; ++t) read_chunk_size();
    head_.chunks = positive(in_.number<std::int32_t>(), "number of chunks");
    const auto at = in_.number<std::int64_t>();
    demand(at != 0, "it was never closed, so what is in it is not known");
    demand(at > 0 && static_cast<std::uint64_t>(at) <= bytes_.size(), "it ends before its index");
    head_.variable_at = static_cast<std::uint64_t>(at);
  }

  void read_chunk_size() {
    const auto size = in_.number<std::int64_t>();
    demand(size >= 0 && static_cast<std::uint64_t>(size) <= (std::uint64_t{1} << 50),
           "the size of a chunk is impossible");
    const auto bytes = static_cast<std::uint64_t>(size);
    // Before version 4 sizes were stored as they were asked for.
    sizes_.push_back(head_.version >= 4 ? bytes
                                        : (bytes + head_.block - 1) / head_.block * head_.block);
    demand(skip_ <= (std::uint64_t{1} << 60), "its chunks are larger than any file");
    skip_ += sizes_.back();
  }

  static std::uint64_t positive(std::int32_t value, std::string_view what) {
    demand(value > 0, fmt::format("its {} is {}", what, value));
    return static_cast<std::uint64_t>(value);
  }

  void read_second() {
    in_ = byte_reader(bytes_, in_.swaps());
    in_.skip(head_.variable_at);
    demand(in_.left() / 8 / head_.tasks > head_.chunks, "it ends within its index");
    in_.skip(8 * head_.tasks);  // chunks of each task: unused ones are empty below
  }

  /// Chunk c of task t begins where the chunks of the tasks before it, and c whole blocks, end.
  void collect() {
    out_.streams.resize(head_.tasks);
    const std::uint64_t header_end = fixed_bytes + 16 * head_.tasks + 12;
    const std::uint64_t begin = (header_end + head_.block - 1) / head_.block * head_.block;
    for (std::uint64_t c = 0; c < head_.chunks; ++c) {
      std::uint64_t at = begin + c * std::min(skip_, std::uint64_t{bytes_.size()} + 1);
      for (std::size_t t = 0; t < head_.tasks; at += sizes_[t++]) {
        const auto used = in_.number<std::int64_t>();
        if (used <= 0) continue;  // the format allows -1 as well
        const auto length = static_cast<std::uint64_t>(used);
        demand(length <= sizes_[t], "a chunk is fuller than it is large");
        demand(at <= bytes_.size() && length <= bytes_.size() - at, "it ends within a chunk");
        out_.streams[t] += bytes_.substr(at, length);
      }
    }
  }

  std::string_view bytes_;
  byte_reader in_;
  header head_{};
  std::vector<std::uint64_t> sizes_;
  std::uint64_t skip_ = 0;  // from one block to the next
  sion_part out_;
};

// --- writing ---

/// Which file of the set each task is in: as even as can be, neighbours together.
std::size_t file_of(std::size_t task, std::size_t tasks, std::size_t files) noexcept {
  return task * files / tasks;
}

struct slice {
  std::size_t first, last;  // tasks, without the last
};

slice slice_of(std::size_t file, std::size_t tasks, std::size_t files) noexcept {
  slice out{tasks, tasks};
  for (std::size_t t = 0; t < tasks; ++t) {
    if (file_of(t, tasks, files) != file) continue;
    out.first = std::min(out.first, t);
    out.last = t + 1;
  }
  return out;
}

std::uint64_t chunk_for(const std::string& stream) noexcept {
  return rounded(std::max<std::uint64_t>(stream.size(), 1));
}

void put_first(byte_writer& out, const std::vector<std::string>& streams, slice here,
               std::size_t files, std::size_t file, const std::string& name) {
  out.text(magic);
  for (const std::int32_t word :
       {0, 1007, 6, 5, static_cast<std::int32_t>(block_bytes),
        static_cast<std::int32_t>(here.last - here.first), static_cast<std::int32_t>(files),
        static_cast<std::int32_t>(file)})
    out.number(word);  // byte order, library, its patch, format, block, tasks, files, number
  out.number(no_keys);
  out.number(std::int64_t{0});
  out.text(name);
  out.zeros(prefix_bytes - name.size());
  for (std::size_t t = here.first; t < here.last; ++t) out.number(static_cast<std::int64_t>(t));
  std::uint64_t end = rounded(fixed_bytes + 16 * (here.last - here.first) + 12);
  for (std::size_t t = here.first; t < here.last; ++t) {
    out.number(static_cast<std::int64_t>(chunk_for(streams[t])));
    end += chunk_for(streams[t]);
  }
  out.number(std::int32_t{1});  // chunks of each task
  out.number(static_cast<std::int64_t>(end));
}

void put_second(byte_writer& out, const std::vector<std::string>& streams, slice here) {
  for (std::size_t t = here.first; t < here.last; ++t) out.number(std::int64_t{1});
  for (std::size_t t = here.first; t < here.last; ++t)
    out.number(static_cast<std::int64_t>(streams[t].size()));
}

/// Which file and which task in it each rank is; in the first file of a set of several.
void put_mapping(byte_writer& out, std::size_t tasks, std::size_t files, std::size_t file) {
  const bool whole = files > 1 && file == 0;
  out.number(whole ? static_cast<std::int32_t>(tasks) : std::int32_t{0});
  if (!whole) return;
  std::size_t first = 0;
  for (std::size_t t = 0; t < tasks; ++t) {
    const std::size_t in = file_of(t, tasks, files);
    if (t > 0 && in != file_of(t - 1, tasks, files)) first = t;
    out.number(static_cast<std::int32_t>(in));
    out.number(static_cast<std::int32_t>(t - first));
  }
}

}  // namespace

sion_part parse_sion(std::string_view bytes) {
  return parser(bytes).part();
}

std::string sion_part_name(const std::string& name, int number) {
  return number == 0 ? name : fmt::format("{}.{:06}", name, number);
}

sion_content read_sion(const std::string& path) {
  std::map<std::int64_t, std::string> tasks;
  sion_content all;
  int files = 1;
  for (int f = 0; f < files; ++f) {
    const std::string name = sion_part_name(path, f);
    try {
      sion_part part = parse_sion(read_text(name));
      if (f == 0) {
        files = part.files;
        all.name = part.name;
      }
      all.big_endian = part.big_endian;
      for (std::size_t t = 0; t < part.ranks.size(); ++t)
        demand(tasks.emplace(part.ranks[t], std::move(part.streams[t])).second,
               fmt::format("it holds task {} again", part.ranks[t]));
    } catch (const error& why) {
      throw error(fmt::format("{}: {}", name, why.what()));
    }
  }
  for (auto& [rank, stream] : tasks) {
    if (rank != static_cast<std::int64_t>(all.streams.size()))
      throw error(fmt::format("{}: not a usable SION file: task {} is missing in it", path,
                              all.streams.size()));
    all.streams.push_back(std::move(stream));
  }
  return all;
}

std::vector<std::string> to_sion(const std::vector<std::string>& streams, int files,
                                 const std::string& name) {
  const std::size_t tasks = streams.size();
  const std::size_t count = std::clamp<std::size_t>(static_cast<std::size_t>(files), 1, tasks);
  std::vector<std::string> out;
  for (std::size_t f = 0; f < count; ++f) {
    const slice here = slice_of(f, tasks, count);
    byte_writer part;
    put_first(part, streams, here, count, f, name);
    part.zeros(rounded(part.size()) - part.size());
    for (std::size_t t = here.first; t < here.last; ++t) {
      part.text(streams[t]);
      part.zeros(chunk_for(streams[t]) - streams[t].size());
    }
    put_second(part, streams, here);
    put_mapping(part, tasks, count, f);
    out.push_back(part.take());
  }
  return out;
}

}  // namespace heddle::linktest
