// address_space.cpp - see address_space.h.
#include "address_space.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace tofu {

namespace {

struct area {
  std::uint64_t begin = 0, end = 0, offset = 0;
  file_identity file;
  bool readable = false, writable = false, shared = false;
};

std::string read_whole(const char* path) {
  const owned_fd fd(open(path, O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 16384> piece{};
  for (ssize_t got = 0; fd && (got = read(fd.get(), piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

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

/// All areas, lowest first.
std::vector<area> read_areas() {
  const std::string text = read_whole("/proc/self/maps");
  std::vector<area> areas;
  for (std::size_t at = 0; at < text.size();) {
    area one;
    if (parse_area(text.c_str() + at, one)) areas.push_back(one);
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return areas;
}

bool continues(const area& before, const area& next) {
  return before.end == next.begin;
}
bool continues_in_file(const area& before, const area& next) {
  return continues(before, next) && next.shared && before.file == next.file &&
         before.offset + (before.end - before.begin) == next.offset;
}

/// The longest run of areas around `at` whose neighbours satisfy `same`.
template <class Same>
mapped_range run_around(const std::vector<area>& areas, std::size_t at, const Same& same) {
  std::size_t first = at, last = at;
  while (first > 0 && same(areas[first - 1], areas[first])) --first;
  while (last + 1 < areas.size() && same(areas[last], areas[last + 1])) ++last;
  return {areas[first].begin, areas[last].end, false, {}, areas[first].offset};
}

}  // namespace

std::optional<mapped_range> look_up_memory(std::uint64_t begin, std::uint64_t end, bool writable) {
  const std::vector<area> areas = read_areas();
  std::size_t at = 0;
  while (at < areas.size() && areas[at].end <= begin) ++at;
  if (at == areas.size() || areas[at].begin > begin) return std::nullopt;
  const auto usable = [writable](const area& a) { return a.readable && (a.writable || !writable); };
  if (!usable(areas[at])) return std::nullopt;
  if (areas[at].shared && areas[at].file.inode != 0) {
    mapped_range range = run_around(areas, at, [&](const area& before, const area& next) {
      return continues_in_file(before, next) && usable(before) && usable(next);
    });
    range.in_file = true;
    range.file = areas[at].file;
    if (end <= range.end) return range;
  }
  const mapped_range range = run_around(areas, at, [&](const area& before, const area& next) {
    return continues(before, next) && usable(before) && usable(next);
  });
  if (end <= range.end) return range;
  return std::nullopt;
}

owned_fd find_file(const file_identity& file, bool writable) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (!folder) return {};
  while (const dirent* const one = readdir(folder.get())) {
    const int fd = std::atoi(one->d_name);
    file_identity found;
    std::uint64_t bytes = 0;
    if (*one->d_name == '.' || !identify(fd, found, bytes) || found != file) continue;
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_PATH) != 0) continue;
    if (writable && (flags & O_ACCMODE) != O_RDWR) continue;
    return owned_fd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  }
  return {};
}

}  // namespace tofu
