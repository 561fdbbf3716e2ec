// SPDX-License-Identifier: BSD-3-Clause
// output.cpp - makes, proves, fills and cleans the output directory.
#include "linktest/results/output.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <heddle/status.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

#include "linktest/results/descriptor.h"
#include "linktest/results/results.h"
#include "linktest/results/text_file.h"

namespace heddle::linktest {
namespace {

constexpr std::string_view result_name = "linktest";  // all result files' names begin so

/// Where this process's number means this process: of other hosts and containers that see the same
/// directory nobody here knows who is alive.
std::string number_space() {
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(boot, id);
  struct stat found {};
  const bool known = ::stat("/proc/self/ns/pid", &found) == 0 && !id.empty();
  return known ? fmt::format("{}-{}", id, found.st_ino) : "";
}

/// Whether a file's name is of temporary_in(), of a process that is there no more.
bool is_left_over(const std::string& name, const std::string& space) {
  const std::size_t last = name.rfind('.');
  if (!name.starts_with('.') || last == 0 || !name.substr(0, last).ends_with('.' + space))
    return false;
  pid_t writer = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, problem] = std::from_chars(name.data() + last + 1, end, writer);
  return problem == std::errc{} && stop == end && writer > 0 && ::kill(writer, 0) != 0 &&
         errno == ESRCH;
}

/// What runs left that were killed while they wrote.
void drop_left_over(const std::string& directory) {
  const std::string space = number_space();
  if (space.empty()) return;
  std::error_code none;  // what cannot be looked at stays
  for (const auto& entry : std::filesystem::directory_iterator(directory, none))
    if (is_left_over(entry.path().filename().string(), space)) ::unlink(entry.path().c_str());
}

[[noreturn]] void refuse(const std::string& path, int cause, std::string_view cure) {
  throw error(fmt::format("output directory '{}': {}; {}", path, std::strerror(cause), cure));
}

int allocate(int fd, std::uint64_t bytes) {
  int problem;
  do problem = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  while (problem == EINTR);
  return problem == EOPNOTSUPP || problem == EINVAL ? 0 : problem;
}

}  // namespace

std::string temporary_in(const std::string& directory, std::string_view name) {
  return fmt::format("{}/.{}.{}.{}", directory, name, number_space(), getpid());
}

std::string claim_directory() {
  const std::string base =
      fmt::format("linktest-{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
  std::string name = base;
  for (int again = 2; ::mkdir(name.c_str(), 0777) != 0; ++again) {
    if (errno != EEXIST) refuse(name, errno, "choose another with --output DIR");
    name = fmt::format("{}-{}", base, again);
  }
  return name;
}

output_directory::output_directory(std::string path, std::uint64_t bytes, existing what)
    : path_(std::move(path)) {
  if (::mkdir(path_.c_str(), 0777) == 0)
    made_here_ = true;
  else if (errno != EEXIST)
    refuse(path_, errno, "choose another with --output DIR");
  if (what == existing::refuse) prove_no_results();
  drop_left_over(path_);
  try {
    prove_room(bytes);
  } catch (...) {
    if (made_here_) ::rmdir(path_.c_str());
    throw;
  }
}

output_directory::~output_directory() {
  if (made_here_ && !used_) ::rmdir(path_.c_str());
}

void output_directory::prove_no_results() const {
  std::error_code told_later;  // by what proves that there is room
  if (std::filesystem::exists(path_ + "/unfinished.json", told_later))
    throw error(
        fmt::format("output directory '{}' already holds an unfinished run: go on with it by "
                    "--resume {}, give another --output DIR, or --overwrite to replace it",
                    path_, path_));
  if (const results_written there = look_for_results(path_); !there.empty())
    throw error(
        fmt::format("output directory '{}' already holds results ({}): give another --output "
                    "DIR, or --overwrite to replace them",
                    path_, there.begin()->first));
}

void output_directory::prove_room(std::uint64_t bytes) const {
  const std::string probe = temporary_in(path_, "room");
  const descriptor file(::open(probe.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
  if (file.get() < 0) refuse(path_, errno, "choose one you may write to with --output DIR");
  const int problem = allocate(file.get(), bytes);
  ::unlink(probe.c_str());
  if (problem != 0)
    refuse(path_, problem,
           fmt::format("the results need about {}, choose another place with --output DIR",
                       format_size(bytes)));
}

std::string output_directory::put(const std::string& name,
                                  const std::function<void(const std::string&)>& write) {
  const std::string temporary = temporary_in(path_, name);
  std::string final_path = path_ + '/' + name;
  try {
    write(temporary);
    if (std::rename(temporary.c_str(), final_path.c_str()) != 0)
      refuse(path_, errno, fmt::format("cannot give the file its name {}", name));
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  used_ = true;
  return final_path;
}

void output_directory::drop(const std::string& name) const noexcept {
  ::unlink((path_ + '/' + name).c_str());
}

results_written look_for_results(const std::string& folder) {
  results_written found;
  std::error_code gone;  // a folder or file that is not there has no results
  for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(result_name)) continue;
    const auto written = entry.last_write_time(gone);
    if (!gone) found.emplace(name, written);
  }
  return found;
}

void drop_results(const std::string& folder) noexcept {
  for (const auto& [name, written] : look_for_results(folder))
    ::unlink((folder + '/' + name).c_str());
  ::rmdir(folder.c_str());
}

std::string read_text(const std::string& path) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw error(fmt::format("read {}: {}", path, std::strerror(errno)));
  std::string text;
  std::array<char, 65536> piece;
  while (true) {
    const ssize_t n = ::read(file.get(), piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw error(fmt::format("read {}: {}", path, std::strerror(errno)));
    if (n == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
}

void write_text(const std::string& path, const std::string& text) {
  text_file file(path);
  file.add(text);
  file.close();
}

std::uint64_t bytes_needed(int ranks, std::uint64_t ordered_pairs, std::size_t sizes) noexcept {
  constexpr std::uint64_t metrics = std::size(all_metrics);
  constexpr std::uint64_t per_entry_hdf5 = metrics * 8 + 9, per_entry_json = metrics * 28 + 48;
  constexpr std::uint64_t per_size = 16 * 1024, beside = 128 * 1024;
  const auto n = static_cast<std::uint64_t>(ranks);
  const std::uint64_t entries = lists_pairs(ranks, ordered_pairs) ? ordered_pairs : n * n;
  return beside + n * 1024 + sizes * (per_size + entries * (per_entry_hdf5 + per_entry_json));
}

}  // namespace heddle::linktest
