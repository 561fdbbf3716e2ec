// SPDX-License-Identifier: BSD-3-Clause
// address_space.cpp - see address_space.h.
#include "address_space.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace tofu {

namespace {

struct area {
  std::uint64_t begin = 0, end = 0, offset = 0;
  host::file_identity file;
  bool readable = false, writable = false, shared = false;
};

/// What the kernel is asked about one area: struct procmap_query of <linux/fs.h> since Linux 6.11,
/// which is newer than the headers this is built with.
struct area_query {
  std::uint64_t size, query_flags, address;
  std::uint64_t begin, end, flags, page_size, offset, inode;
  std::uint32_t device_major, device_minor, name_size, build_id_size;
  std::uint64_t name, build_id;

  static constexpr std::uint64_t readable = 1, writable = 2, shared = 8;  // in flags
};
static_assert(sizeof(area_query) == 104);

/// This process's memory by areas.
class area_reader {
 public:
  area_reader() : maps_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}

  /// The area that `address` lies in. No value: nothing is mapped there.
  [[nodiscard]] std::optional<area> at(std::uint64_t address) {
    if (!can_ask_) return find(address);
    area_query q{};
    q.size = sizeof q;
    q.address = address;
    if (ioctl(maps_.get(), _IOWR('f', 17, area_query), &q) == 0) return said(q);
    if (errno == ENOENT) return std::nullopt;
    can_ask_ = false;  // an older kernel
    read_all();
    return find(address);
  }

 private:
  static area said(const area_query& q) noexcept {
    return {q.begin,
            q.end,
            q.offset,
            {makedev(q.device_major, q.device_minor), q.inode},
            (q.flags & area_query::readable) != 0,
            (q.flags & area_query::writable) != 0,
            (q.flags & area_query::shared) != 0};
  }
  [[nodiscard]] std::optional<area> find(std::uint64_t address) const;
  void read_all();

  host::owned_fd maps_;
  bool can_ask_ = true;
  std::vector<area> all_;  // lowest first; only when the kernel cannot be asked
};

/// "7f..-7f.. rw-s 00000000 00:01 1234 name"
bool parse_area(const char* line, area& into) {
  unsigned long begin = 0, end = 0, offset = 0, inode = 0;
  unsigned major_number = 0, minor_number = 0;
  std::array<char, 5> access{};
  if (std::sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &begin, &end, access.data(), &offset,
                  &major_number, &minor_number, &inode) != 7) {
    return false;
  }
  into = {begin,
          end,
          offset,
          {makedev(major_number, minor_number), inode},
          access[0] == 'r',
          access[1] == 'w',
          access[3] == 's'};
  return true;
}

void area_reader::read_all() {
  std::string text;
  std::array<char, 16384> piece{};
  for (ssize_t got = 0; maps_ && (got = read(maps_.get(), piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    text[end] = '\0';  // sscanf measures all that it is given
    area one;
    if (parse_area(text.c_str() + at, one)) all_.push_back(one);
    at = end + 1;
  }
}

std::optional<area> area_reader::find(std::uint64_t address) const {
  const auto after = std::upper_bound(all_.begin(), all_.end(), address,
                                      [](std::uint64_t a, const area& b) { return a < b.end; });
  if (after == all_.end() || after->begin > address) return std::nullopt;
  return *after;
}

bool continues(const area& before, const area& next) {
  return before.end == next.begin;
}
bool continues_in_file(const area& before, const area& next) {
  return continues(before, next) && next.shared && before.file == next.file &&
         before.offset + (before.end - before.begin) == next.offset;
}

/// The areas around `start`, as far as `around`, whose neighbours satisfy `same`.
template <class Same>
mapped_range run_around(area_reader& memory, const area& start, address_range around,
                        const Same& same) {
  area first = start, last = start;
  while (first.begin > around.begin) {
    const auto before = memory.at(first.begin - 1);
    if (!before || !same(*before, first)) break;
    first = *before;
  }
  while (last.end < around.end) {
    const auto next = memory.at(last.end);
    if (!next || !same(last, *next)) break;
    last = *next;
  }
  return {first.begin, last.end, false, {}, first.offset};
}

}  // namespace

std::optional<mapped_range> look_up_memory(address_range piece, address_range around,
                                           bool writable) {
  area_reader memory;
  const auto usable = [writable](const area& a) { return a.readable && (a.writable || !writable); };
  const auto start = memory.at(piece.begin);
  if (!start || !usable(*start)) return std::nullopt;
  if (start->shared && start->file.inode != 0) {
    mapped_range range =
        run_around(memory, *start, around, [&](const area& before, const area& next) {
          return continues_in_file(before, next) && usable(before) && usable(next);
        });
    range.in_file = true;
    range.file = start->file;
    if (piece.end <= range.end) return range;
  }
  const mapped_range range =
      run_around(memory, *start, around, [&](const area& before, const area& next) {
        return continues(before, next) && usable(before) && usable(next);
      });
  if (piece.end <= range.end) return range;
  return std::nullopt;
}

// --- descriptors -------------------------------------------------------------------------

int file_finder::find(const host::file_identity& file, bool writable) {
  const wanted key(file, writable);
  const auto known = known_.find(key);
  if (known != known_.end() && is_open_as(known->second, key)) return known->second;
  int fd = find_released(key);
  if (fd < 0) fd = find_anywhere(key);
  if (fd >= 0) known_[key] = fd;
  return fd;
}

void file_finder::release(const host::file_identity& file, bool writable) {
  const auto known = known_.find({file, writable});
  if (known == known_.end()) return;
  const auto [place, is_new] = released_.try_emplace(known->second, known->first);
  if (is_new || place->second == known->first) return;
  known_.erase(place->second);
  place->second = {file, writable};
}

/// Programs that open and close files get the same few numbers again, the lowest first.
int file_finder::find_released(const wanted& file) {
  constexpr int most_looked_at = 16;
  int looked_at = 0;
  for (auto it = released_.begin(); it != released_.end() && looked_at < most_looked_at;) {
    const auto [fd, before] = *it;
    if (fcntl(fd, F_GETFD) < 0 || is_open_as(fd, before)) {
      ++it, ++looked_at;
      continue;
    }
    it = released_.erase(it);
    known_.erase(before);
    if (is_open_as(fd, file)) return fd;
  }
  return -1;
}

int file_finder::find_anywhere(const wanted& file) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (!folder) return -1;
  // The folder got the first free number, and what was opened just now mostly the one before.
  const int first_free = dirfd(folder.get());
  for (int fd = first_free; fd-- > std::max(0, first_free - 8);)
    if (is_open_as(fd, file)) return fd;
  while (const dirent* const one = readdir(folder.get()))
    if (const int fd = std::atoi(one->d_name); *one->d_name != '.' && is_open_as(fd, file))
      return fd;
  return -1;
}

bool file_finder::is_open_as(int fd, const wanted& file) noexcept {
  host::file_identity found;
  std::uint64_t bytes = 0;
  if (!host::identify(fd, found, bytes) || found != file.first) return false;
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || (flags & O_PATH) != 0) return false;
  return !file.second || (flags & O_ACCMODE) == O_RDWR;
}

}  // namespace tofu
