// SPDX-License-Identifier: BSD-3-Clause
// output.h - the directory for the result files: checked before the run, filled only with whole
// files, and gone again when nothing came of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace heddle::linktest {

/// What to do about results that a directory already holds.
enum class existing : std::uint8_t { refuse, replace };

/// Makes a new directory "linktest-<date>-<time>" in the current one, with "-2", "-3" ... behind it
/// where others had the same second, and returns its name. Throws error.
[[nodiscard]] std::string claim_directory();

class output_directory {
 public:
  /// Makes the directory (its parent must exist) and proves that `bytes` can be written there,
  /// after temporary files are gone that killed processes of this host have left. Throws error
  /// naming the path, the cause and the cure, also when results are there that are not to be
  /// replaced; then nothing is left behind and nothing is changed.
  output_directory(std::string path, std::uint64_t bytes, existing what);
  /// Removes the directory if it was made here and no file was put into it.
  ~output_directory();
  output_directory(const output_directory&) = delete;
  output_directory& operator=(const output_directory&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Calls `write` with the path of a hidden temporary file in the directory, then gives that file
  /// its name. Throws what `write` throws, or error; then the temporary file is gone.
  /// Returns the path of the finished file.
  std::string put(const std::string& name, const std::function<void(const std::string&)>& write);

  /// Removes a file of an earlier run, if it is there.
  void drop(const std::string& name) const noexcept;

 private:
  void prove_no_results() const;
  void prove_room(std::uint64_t bytes) const;
  std::string path_;
  bool made_here_ = false;
  bool used_ = false;
};

/// The path of a hidden file in a folder: no other process has it, and it is removed by who next
/// claims the folder, should this process end before.
[[nodiscard]] std::string temporary_in(const std::string& directory, std::string_view name);

/// By name, when each result file in a folder was written. Two looks are equal unless somebody has
/// written results there between them. Files of a run that is under way are not looked at.
using results_written = std::map<std::string, std::filesystem::file_time_type>;
[[nodiscard]] results_written look_for_results(const std::string& folder);

/// Removes the result files in a folder, and the folder when nothing else is in it.
void drop_results(const std::string& folder) noexcept;

/// The whole content of the file at `path`. Throws error with the cause.
[[nodiscard]] std::string read_text(const std::string& path);

/// Writes `text` as the whole content of the file at `path`. Throws error with the cause.
void write_text(const std::string& path, const std::string& text);

/// An upper estimate of what both result files of a run need in which so many ordered pairs are
/// measured.
[[nodiscard]] std::uint64_t bytes_needed(int ranks, std::uint64_t ordered_pairs,
                                         std::size_t sizes) noexcept;

}  // namespace heddle::linktest
