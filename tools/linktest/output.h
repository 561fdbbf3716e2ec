// output.h - the directory for the result files: checked before the run, filled only with whole
// files, and gone again when nothing came of it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace heddle::linktest {

class output_directory {
 public:
  /// Makes the directory (its parent must exist) and proves that `bytes` can be written there.
  /// Throws error naming the path, the cause and the cure; then nothing is left behind.
  output_directory(std::string path, std::uint64_t bytes);
  /// Removes the directory if it was made here and no file was put into it.
  ~output_directory();
  output_directory(const output_directory&) = delete;
  output_directory& operator=(const output_directory&) = delete;

  /// Calls `write` with the path of a hidden temporary file in the directory, then gives that file
  /// its name. Throws what `write` throws, or error; then the temporary file is gone.
  /// Returns the path of the finished file.
  std::string put(const std::string& name, const std::function<void(const std::string&)>& write);

 private:
  void prove_room(std::uint64_t bytes) const;
  std::string path_;
  bool made_here_ = false;
  bool used_ = false;
};

/// Writes `text` as the whole content of the file at `path`. Throws error with the cause.
void write_text(const std::string& path, const std::string& text);

/// An upper estimate of what both result files of a run need.
[[nodiscard]] std::uint64_t bytes_needed(int ranks, std::size_t sizes) noexcept;

}  // namespace heddle::linktest
