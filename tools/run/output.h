// SPDX-License-Identifier: BSD-3-Clause
// output.h - brings the ranks' lines to the launcher's own output, each led by its rank, and among
// them the launcher's own messages.
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bootstrap/launcher_protocol.h"  // unique_fd
#include "run/event_loop.h"

namespace heddle::tools {

/// Bytes of output that wait on their way; then the ranks do.
inline constexpr std::size_t most_kept_output = 256 * 1024;

/// Cuts one rank's output into lines. Bytes of a line that is longer than 1 MiB are let through in
/// pieces, of which only the first is led by the prefix.
class line_cutter {
 public:
  explicit line_cutter(std::string prefix) : prefix_(std::move(prefix)) {}
  /// Whole prefixed lines that `bytes` complete, ready to be written; maybe empty.
  [[nodiscard]] std::string push(std::string_view bytes);
  /// What is left when the output ends, made a line.
  [[nodiscard]] std::string finish();

 private:
  std::string prefix_, begun_;
  bool inside_ = false;  ///< the beginning of the line, with its prefix, is out already
};

/// Where ranks' output and the launcher's messages go. Never blocks.
class sink {
 public:
  virtual ~sink() = default;
  virtual void write(std::string_view text) = 0;
  /// No more should be written for now.
  [[nodiscard]] virtual bool full() const noexcept = 0;
  /// It cannot be written any more; what is written is dropped.
  [[nodiscard]] virtual bool closed() const noexcept = 0;
};

/// Writes one line of the launcher's own, led by "heddle: ".
template <class... Args>
void say(sink& to, fmt::format_string<Args...> text, Args&&... args) {
  to.write("heddle: " + fmt::format(text, std::forward<Args>(args)...) + "\n");
}

/// One output of the launcher: never blocks it, however slowly it is read. Lines (up to 4 KiB) are
/// written whole, so that other writers of the same output come between them only.
class file_sink final : public sink {
 public:
  /// What is wrong with it is said in `complaints`, if there is one.
  file_sink(event_loop& loop, int fd, sink* complaints = nullptr);
  ~file_sink() override { loop_.forget(fd_); }
  file_sink(const file_sink&) = delete;
  file_sink& operator=(const file_sink&) = delete;

  void write(std::string_view text) override;
  [[nodiscard]] bool full() const noexcept override { return pending_.size() > most_kept_output; }
  [[nodiscard]] bool empty() const noexcept { return pending_.empty(); }
  [[nodiscard]] bool closed() const noexcept override { return problem_ != 0; }
  /// errno of the write that failed; EPIPE: nobody reads it any more; 0: none did.
  [[nodiscard]] int problem() const noexcept { return problem_; }

 private:
  void flush();

  event_loop& loop_;
  const unique_fd own_;
  const int fd_;
  sink* const complaints_;
  std::string pending_;
  bool always_ready_ = false;
  int problem_ = 0;
};

/// For whoever started the job and reads what it prints.
class taking_sink final : public sink {
 public:
  explicit taking_sink(std::function<void(std::string_view)> take) : take_(std::move(take)) {}
  void write(std::string_view text) override { take_(text); }
  [[nodiscard]] bool full() const noexcept override { return false; }
  [[nodiscard]] bool closed() const noexcept override { return false; }

 private:
  std::function<void(std::string_view)> take_;
};

/// What comes out of one rank's stdout or stderr on its way to a sink.
class rank_output {
 public:
  /// Each line is led by `prefix`. Throws error.
  rank_output(event_loop& loop, sink& to, std::string prefix);
  ~rank_output();
  rank_output(const rank_output&) = delete;
  rank_output& operator=(const rank_output&) = delete;

  [[nodiscard]] int write_end() const noexcept { return write_end_.get(); }
  /// The rank has its copy of write_end().
  void started() noexcept { write_end_.reset(); }
  /// Takes what is there and closes, although some process may still hold the other end.
  void finish();

 private:
  void read_some();
  void close();

  event_loop& loop_;
  sink& to_;
  line_cutter cutter_;
  unique_fd read_end_, write_end_;
};

}  // namespace heddle::tools
